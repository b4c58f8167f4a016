import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import { StoreError } from '../errors.ts';
import { answerAlone, nothingRuns, SeveralTrackers, type CommandRequest } from '../records/answer-alone.ts';
import { waitForAnswer, type OperatorReply } from '../records/await-answer.ts';
import { addRequest, findAnswer, withdrawRequest } from '../records/operator-requests.ts';
import { checkPlace } from './errors.ts';
import { isAlive, readInstance } from './instance.ts';
import { isLockTaken, takeLock } from './lock.ts';
import { SCHEMA_VERSION, schemaVersion } from './migrate.ts';
import { prepare, writeDurably } from './prepare.ts';
import type { Sqlite } from './sqlite.ts';
import { openSqlite } from './sqlite.ts';

/** The database, and the tracker as the workflow file configures it; null when the file does not say. */
export interface AskedPlace {
  readonly path: string;
  readonly tracker: string | null;
}

const LOOK_EVERY_MS = 50;

/**
 * Asks for something through the database, so that it also works with a daemon that serves no HTTP. A daemon at work is
 * asked to do it; without one it is done here, under the daemon's lock, so that none can start halfway.
 */
export async function askThroughDatabase(
  { path, tracker }: AskedPlace,
  request: OperatorRequest,
  by: string,
): Promise<OperatorReply> {
  // To pause before the first start is the careful way to begin.
  if (!existsSync(path) && request.kind !== 'pause') throw missing(path);
  checkPlace(path);
  for (;;) {
    const reply = await askOnce({ path, tracker }, request, by);
    // Whoever was asked has ended meanwhile: it is done here, or another one is asked.
    if (reply !== null) return reply;
  }
}

async function askOnce({ path, tracker }: AskedPlace, request: OperatorRequest, by: string): Promise<OperatorReply | null> {
  const lock = (await isLockTaken(path)) ? null : await takeLock(path);
  try {
    const db = await openSqlite(path);
    try {
      if (lock !== null && !hasLivingDaemon(db)) return { answer: answerHere(db, tracker, request, by), byDaemon: false };
      const isThere = async (): Promise<boolean> => (lock === null && (await isLockTaken(path))) || hasLivingDaemon(db);
      const answer = await askDaemon(db, { configured: tracker, request, by }, isThere);
      return answer && { answer, byDaemon: true };
    } finally {
      db.close();
    }
  } finally {
    lock?.release();
  }
}

// The lock is free and yet a daemon lives when its lock file was deleted.
function hasLivingDaemon(db: Sqlite): boolean {
  const instance = schemaVersion(db) === 0 ? null : readInstance(db);
  return instance !== null && isAlive(instance, hostname());
}

/** Decided here, on the records alone. */
function answerHere(db: Sqlite, configured: string | null, request: OperatorRequest, by: string): OperatorAnswer {
  if (request.kind === 'stop') return nothingRuns(request.identifier);
  prepare(db, { now: Date.now });
  try {
    return db.transaction(() => db.perform(answerAlone({ configured, request, by, now: Date.now() })));
  } catch (error) {
    if (!(error instanceof SeveralTrackers)) throw error;
    throw new StoreError({ path: db.path, kind: 'failed', what: error.message, remedy: error.remedy });
  }
}

async function askDaemon(
  db: Sqlite,
  { configured, request, by }: CommandRequest,
  isThere: () => Promise<boolean>,
): Promise<OperatorAnswer | null> {
  if (schemaVersion(db) !== SCHEMA_VERSION) throw otherVersion(db.path);
  writeDurably(db);
  const id = db.perform(addRequest(request, by, configured));
  return waitForAnswer({
    find: () => db.perform(findAnswer(id)),
    withdraw: () => db.perform(withdrawRequest(id)),
    isThere,
    lookEveryMs: LOOK_EVERY_MS,
  });
}

function missing(path: string): StoreError {
  const remedy = 'check the path of the workflow file and its db_path; there is nothing to act on before the first start';
  return new StoreError({ path, kind: 'missing', what: 'does not exist', remedy });
}

function otherVersion(path: string): StoreError {
  const remedy = 'restart the service with this version, or use the command of the version that runs';
  return new StoreError({ path, kind: 'newer', what: 'is in use by a service of an older version', remedy });
}
