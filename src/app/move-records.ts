import { existsSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { StoreError } from '../store/errors.ts';
import { takeLock } from '../store/sqlite/lock.ts';
import { prepare } from '../store/sqlite/prepare.ts';
import { openSqlite } from '../store/sqlite/sqlite.ts';
import type { ImportedTable } from '../store/postgres/index.ts';
import { aboutMe } from './leading.ts';

export interface MovedRecords {
  /** Where they are now, without a password. */
  readonly to: string;
  readonly tables: readonly ImportedTable[];
}

/**
 * Moves the records of a file to an empty PostgreSQL database. No daemon may have the file meanwhile, nor the database. The
 * file stays as it is.
 */
export async function moveRecords(dbPath: string, url: string, workflowPath: string): Promise<MovedRecords> {
  if (!existsSync(dbPath)) throw missing(dbPath);
  const lock = await takeLock(dbPath);
  if (lock === null) throw inUse(dbPath, 'stop it first: what it writes meanwhile would be lost');
  try {
    const source = await openSqlite(dbPath);
    try {
      prepare(source, { now: Date.now });
      return await copyTo(url, source, workflowPath);
    } finally {
      source.close();
    }
  } finally {
    lock.release();
  }
}

async function copyTo(url: string, source: Awaited<ReturnType<typeof openSqlite>>, workflowPath: string): Promise<MovedRecords> {
  const { importAll, migratePostgres, openPostgres, tryToLead } = await import('../store/postgres/index.ts');
  const db = await openPostgres(url);
  try {
    await migratePostgres(db, Date.now());
    const leadership = await tryToLead(db, aboutMe(`migration-${randomBytes(5).toString('hex')}`, workflowPath, ''));
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
