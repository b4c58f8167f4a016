import { existsSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MOVE_WAITS_MS } from '../../domain/model/lease-times.ts';
import { StoreError } from '../../store/errors.ts';
import { takeLock } from '../../store/sqlite/lock.ts';
import { prepare } from '../../store/sqlite/prepare.ts';
import { createProcessRecords } from '../../store/sqlite/processes.ts';
import { openSqlite, type Sqlite } from '../../store/sqlite/sqlite.ts';
import { runningRunsIn } from '../../store/sqlite/sqlite-store.ts';
import type { ImportedTable } from '../../store/postgres/index.ts';
import type { Logger } from '../../ports/runtime.ts';
import { instanceFacts } from '../leader/leading.ts';
import { endLeftovers, type Leftovers } from '../processes/leftovers.ts';

export interface MovedRecords {
  /** Where they are now, without a password. */
  readonly to: string;
  readonly tables: readonly ImportedTable[];
}

interface MoveDeps {
  readonly workflowPath: string;
  readonly logger: Logger;
}

/**
 * Moves the records of a file to an empty PostgreSQL database. No daemon may have the file meanwhile, nor the database. The
 * file stays as it is. What a daemon that was killed left running is ended first: the records of it are not moved, and the
 * next daemon would work on the same issues beside it.
 */
export async function moveRecords(dbPath: string, url: string, { workflowPath, logger }: MoveDeps): Promise<MovedRecords> {
  if (!existsSync(dbPath)) throw missing(dbPath);
  const lock = await takeLock(dbPath);
  if (lock === null) throw inUse(dbPath, 'stop it first: what it writes meanwhile would be lost');
  try {
    const source = await openSqlite(dbPath);
    try {
      prepare(source, { now: Date.now });
      await endLeftovers({ ...leftIn(source), dbPath }, logger);
      return await copyTo(url, source, workflowPath);
    } finally {
      source.close();
    }
  } finally {
    lock.release();
  }
}

/** What the last daemon wrote down of its processes; it stays in the file. */
function leftIn(source: Sqlite): Pick<Leftovers, 'processes' | 'runIds'> {
  const processes = { ...createProcessRecords(source, ''), clear: () => {} };
  return { processes, runIds: runningRunsIn(source) };
}

async function copyTo(url: string, source: Sqlite, workflowPath: string): Promise<MovedRecords> {
  const { importAll, migratePostgres, openPostgres, tryToLead } = await import('../../store/postgres/index.ts');
  const db = await openPostgres(url);
  try {
    await migratePostgres(db, Date.now());
    const me = instanceFacts(`migration-${randomBytes(5).toString('hex')}`, workflowPath, '');
    const leadership = await firstOf(() => tryToLead(db, me), MOVE_WAITS_MS);
    if (leadership === null) throw inUse(db.address, 'stop it first, or give another database');
    try {
      return { to: db.address, tables: await db.write(importAll(source, leadership.epoch, db.address)) };
    } finally {
      await leadership.leave();
    }
  } finally {
    await db.close();
  }
}

const AGAIN_MS = 500;

/** Tries until it succeeds or the time is over. */
async function firstOf<T>(attempt: () => Promise<T | null>, withinMs: number): Promise<T | null> {
  for (const deadline = performance.now() + withinMs; ;) {
    const found = await attempt();
    if (found !== null || performance.now() > deadline) return found;
    await delay(AGAIN_MS);
  }
}

function missing(path: string): StoreError {
  return new StoreError({
    path,
    kind: 'missing',
    what: 'does not exist',
    remedy: 'there is nothing to move: set store.url and start',
  });
}

function inUse(path: string, remedy: string): StoreError {
  return new StoreError({ path, kind: 'locked', what: 'is in use by a running foray', remedy });
}
