import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isBusy } from './errors.ts';
import { openSqlite } from './sqlite.ts';
import type { Sqlite } from './sqlite.ts';

export interface Lock {
  release(): void;
}

/**
 * How long to wait for the lock: a command that looks at it holds it for milliseconds, and the kernel needs a moment
 * to free that of a killed process.
 */
const WAIT_MS = 1000;

/** An unreferenced connection is closed by the garbage collector, which would silently let go of the lock. */
const HELD = new Set<Sqlite>();

/**
 * One daemon per database: an exclusive transaction on a file of its own, kept open. It is an fcntl lock, so the kernel
 * frees it however the process ends. Null when another process has it.
 */
export async function takeLock(path: string): Promise<Lock | null> {
  const connection = await openSqlite(lockPathOf(path), { busyMs: WAIT_MS });
  // The journal in memory: a lock leaves no file behind but its own, which stays empty.
  if (!unlessBusy(() => connection.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE;'))) {
    connection.close();
    return null;
  }
  HELD.add(connection);
  return {
    release() {
      HELD.delete(connection);
      connection.close();
    },
  };
}

/** Whether a process has the lock. Creates and changes nothing. */
export async function isLockTaken(path: string): Promise<boolean> {
  const lockPath = lockPathOf(path);
  if (!existsSync(lockPath)) return false;
  const connection = await openSqlite(lockPath, { readOnly: true, busyMs: 0 });
  const free = unlessBusy(() => connection.exec('SELECT count(*) FROM sqlite_schema'));
  connection.close();
  return !free;
}

// By the real path, so that two links to one database meet at one lock.
function lockPathOf(path: string): string {
  const real = existsSync(path) ? realpathSync(path) : join(realpathSync(dirname(path)), basename(path));
  return `${real}.lock`;
}

/** Runs the work unless another connection holds the lock for too long; says which. */
function unlessBusy(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (isBusy(error)) return false;
    throw error;
  }
}
