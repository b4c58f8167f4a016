import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Sqlite } from './sqlite.ts';
import { checkPlace, StoreError } from './errors.ts';
import { isAlive, readInstance } from './instance.ts';
import { isLockTaken, takeLock } from './lock.ts';
import { schemaVersion } from './migrate.ts';
import { addUnparkRequest, forgetUnparkRequests } from './operator-requests.ts';
import { PARKED } from './parked.ts';
import { prepare, writeDurably } from './prepare.ts';
import { SPENT } from './spent.ts';
import { openSqlite } from './sqlite.ts';
import { forgiven, isEscalated } from '../../domain/model/watch.ts';
import { WATCHES } from './watches.ts';

export type UnparkOutcome = 'requested' | 'released' | 'not-parked';

/**
 * Releases a parked issue for an operator. A daemon that is at work is asked to do it; without one it is done here,
 * under the daemon's lock, so that none can start halfway.
 */
export async function requestUnpark(path: string, identifier: string): Promise<UnparkOutcome> {
  if (!existsSync(path)) throw missing(path);
  checkPlace(path);
  const lock = (await isLockTaken(path)) ? null : await takeLock(path);
  try {
    const db = await openSqlite(path);
    try {
      const alone = lock !== null && !hasLivingDaemon(db);
      return alone ? releaseHere(db, identifier) : askDaemon(db, identifier);
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

function releaseHere(db: Sqlite, identifier: string): UnparkOutcome {
  prepare(db, { now: Date.now });
  return db.transaction(() => {
    const waiting = findWaiting(db, identifier);
    for (const { issueId } of waiting) {
      forgetUnparkRequests(db, issueId);
      PARKED.remove(db, issueId);
      SPENT.remove(db, issueId);
      for (const watch of WATCHES.load(db)) if (watch.issue.id === issueId) WATCHES.put(db, forgiven(watch, Date.now()));
    }
    return waiting.length > 0 ? 'released' : 'not-parked';
  });
}

function askDaemon(db: Sqlite, identifier: string): UnparkOutcome {
  schemaVersion(db);
  writeDurably(db);
  return db.transaction(() => {
    const [waiting] = findWaiting(db, identifier);
    if (!waiting) return 'not-parked';
    addUnparkRequest(db, waiting.identifier);
    return 'requested';
  });
}

/** Issues that wait for a person under this name: as the operator spelled it, or else ignoring case. */
function findWaiting(db: Sqlite, identifier: string): { issueId: string; identifier: string }[] {
  const records = [...PARKED.load(db), ...WATCHES.load(db).filter(isEscalated)];
  const all = records.map(({ issue }) => ({ issueId: issue.id, identifier: issue.identifier }));
  const exact = all.filter((waiting) => waiting.identifier === identifier);
  if (exact.length > 0) return exact;
  const alike = all.find((waiting) => waiting.identifier.toLowerCase() === identifier.toLowerCase());
  return all.filter((waiting) => waiting.identifier === alike?.identifier);
}

function missing(path: string): StoreError {
  const remedy = 'check the path of the workflow file and its db_path; nothing is parked before the first start';
  return new StoreError({ path, kind: 'missing', what: 'does not exist', remedy });
}
