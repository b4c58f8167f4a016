import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import path from 'node:path';
import { StoreError } from '../errors.ts';
import { schemaVersion } from './migrate.ts';
import { openSqlite } from './sqlite.ts';

export interface BackupFacts {
  readonly bytes: number;
  readonly runs: number;
}

/**
 * Copies the database as of one moment, also while a daemon writes to it. The copy is whole and checked before it gets
 * its name; a file that is there already is left alone. Failures are StoreErrors.
 */
export async function backUp(source: string, target: string): Promise<BackupFacts> {
  if (!existsSync(source)) throw missing(source);
  if (existsSync(target)) throw taken(source, target);
  const part = `${target}.${randomBytes(4).toString('hex')}.part`;
  try {
    reserve(source, part);
    await copyInto(source, part);
    const runs = await checked(part);
    flush(part);
    await link(part, target).catch((error: unknown) => {
      throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? taken(source, target) : unwritable(source, target, error);
    });
    return { bytes: statSync(target).size, runs };
  } finally {
    await rm(part, { force: true });
  }
}

/** For its owner only: it holds what the database holds. */
function reserve(source: string, part: string): void {
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (error) {
    throw unwritable(source, part, error);
  }
}

/** SQLite reads one moment of the database and takes no lock that a writer would wait for. */
async function copyInto(source: string, part: string): Promise<void> {
  const db = await openSqlite(source);
  try {
    if (schemaVersion(db) === 0) throw missing(source);
    db.run('VACUUM INTO ?', part);
  } finally {
    db.close();
  }
}

async function checked(part: string): Promise<number> {
  const copy = await openSqlite(part);
  try {
    const said = String(Object.values(copy.get('PRAGMA integrity_check') ?? {})[0]);
    if (said !== 'ok') {
      throw new StoreError({ path: part, kind: 'corrupt', what: `the copy is damaged (${said})`, remedy: 'check the disk' });
    }
    return Number(copy.get('SELECT count(*) AS runs FROM runs')?.runs);
  } finally {
    copy.close();
  }
}

function flush(file: string): void {
  const handle = openSync(file, 'r+');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function missing(source: string): StoreError {
  const what = 'there is no database yet';
  return new StoreError({ path: source, kind: 'missing', what, remedy: 'start foray with this workflow file first' });
}

function taken(source: string, target: string): StoreError {
  const what = `${target} exists already and is not overwritten`;
  return new StoreError({ path: source, kind: 'failed', what, remedy: 'name another file' });
}

function unwritable(source: string, target: string, cause: unknown): StoreError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const what = `the backup cannot be written to ${path.dirname(path.resolve(target))} (${code ?? message})`;
  return new StoreError({
    path: source,
    kind: 'unwritable',
    what,
    remedy: 'name a file in a directory that this user may write to',
    cause,
  });
}
