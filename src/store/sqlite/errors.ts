import { accessSync, constants, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError, type StoreErrorFacts } from '../errors.ts';
import { UnreadableRow } from '../records/work.ts';
import { errorText } from '../../lib/error-text.ts';

type Explanation = Pick<StoreErrorFacts, 'kind' | 'what' | 'remedy'>;

const UNWRITABLE_REMEDY = 'make the file and its directory writable for this user, or change db_path';

/** By SQLite's primary result code (https://sqlite.org/rescode.html). */
const EXPLANATIONS: Readonly<Record<number, Explanation>> = {
  3: { kind: 'unwritable', what: 'may not be opened', remedy: UNWRITABLE_REMEDY },
  5: { kind: 'failed', what: 'is kept busy by another program', remedy: 'close the program that has it open and try again' },
  8: { kind: 'unwritable', what: 'cannot be written', remedy: UNWRITABLE_REMEDY },
  10: { kind: 'failed', what: 'could not be read or written', remedy: 'check the disk and the file system' },
  11: { kind: 'corrupt', what: 'is corrupt', remedy: 'restore it from a backup, or move it away to start with an empty one' },
  13: { kind: 'failed', what: 'has no room left', remedy: 'free space on its disk' },
  14: { kind: 'unwritable', what: 'cannot be opened', remedy: UNWRITABLE_REMEDY },
  26: { kind: 'corrupt', what: 'is not a database', remedy: 'move the file away or change db_path' },
};

/** By the code of the system, for the files beside it. The folder is what a person can look at. */
const SYSTEM_CODES: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR']);

const UNEXPLAINED: Explanation = {
  kind: 'failed',
  what: 'failed',
  remedy: 'see the message; nothing of this unit of work was stored',
};

/** Turns what the SQLite driver threw into words for an operator. */
export function storeErrorOf(path: string, error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof UnreadableRow) return unreadable(path, error);
  const explanation = EXPLANATIONS[primaryCodeOf(error)] ?? placeFault(path, error) ?? UNEXPLAINED;
  const detail = errorText(error);
  return new StoreError({ ...explanation, path, what: `${explanation.what} (${detail})`, cause: error });
}

function placeFault(path: string, error: unknown): Explanation | null {
  if (!(error instanceof Error && 'code' in error && SYSTEM_CODES.has(error.code))) return null;
  return { kind: 'unwritable', what: `its directory ${dirname(path)} takes no file of ours`, remedy: UNWRITABLE_REMEDY };
}

function unreadable(path: string, error: UnreadableRow): StoreError {
  const remedy = 'restore the file from a backup, or correct or delete that row with the sqlite3 program';
  return new StoreError({ path, kind: 'unreadable-row', what: error.message, remedy, cause: error.cause });
}

/** Whether SQLite gave up because another connection holds the lock. */
export function isBusy(error: unknown): boolean {
  return primaryCodeOf(error instanceof StoreError ? error.cause : error) === 5;
}

// The low byte is the primary code, the rest refines it.
function primaryCodeOf(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : -1;
}

/** Says what is wrong with the place itself, which SQLite only calls "unable to open". */
export function checkPlace(path: string): void {
  const folder = dirname(path);
  const [parent, file] = [look(folder), look(path)];
  const refuse = (what: string, remedy: string) => new StoreError({ path, kind: 'unwritable', what, remedy });
  if (!parent) throw refuse(`its directory ${folder} does not exist`, 'create it or change db_path');
  if (!parent.isDirectory()) throw refuse(`${folder} is not a directory`, 'change db_path');
  refuseDirectory(path);
  if (!isWritable(folder)) throw refuse(`its directory ${folder} is not writable`, UNWRITABLE_REMEDY);
  if (file && !isWritable(path)) throw refuse('is not writable', UNWRITABLE_REMEDY);
}

/** For who only reads: the rest of the place is the matter of who writes. */
export function refuseDirectory(path: string): void {
  if (look(path)?.isDirectory() !== true) return;
  throw new StoreError({ path, kind: 'unwritable', what: 'is a directory', remedy: 'give db_path the name of a file' });
}

function look(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
