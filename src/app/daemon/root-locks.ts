import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeDirectories } from '../../lib/make-directories.ts';
import { clearPlace } from '../../lib/remove-place.ts';
import { readShortFile, replaceShortFile } from '../../lib/short-file.ts';
import { StoreError } from '../../store/errors.ts';
import { takeLock, type Lock } from '../../store/sqlite/lock.ts';

/** Beside the workspaces: the lock itself, and who has it. */
const LOCK_NAME = '.foray-root';

export interface RootHolder {
  readonly workflowPath: string;
  /** Where the records are. */
  readonly database: string;
  /**
   * Names the records, by whatever address they are reached, where several daemons may have them: then only one of them
   * leads, and they may share their roots. Null where they are one daemon's.
   */
  readonly sharedRecords: string | null;
  /** What names the root for the operator. */
  readonly rootKey: 'workspace.root' | '--root';
}

/**
 * The workspace roots that are this daemon's. Two daemons with databases of their own know nothing of each other's
 * sessions, so they must not share a root. Where a root cannot be written, the preflight says so.
 */
export function createRootLocks(holder: RootHolder): { take(root: string): Promise<void>; release(): void } {
  const held = new Map<string, Lock>();
  return {
    async take(root) {
      if (held.has(root) || !(await canWrite(root))) return;
      const lock = await takeOwn(root);
      if (lock === null && holder.sharedRecords !== null && holderOf(root).records === holder.sharedRecords) return;
      if (lock === null) throw new Error(inUse(root, holder.rootKey));
      held.set(root, lock);
      noteHolder(root, holder);
    },
    release() {
      for (const lock of held.values()) lock.release();
      held.clear();
    },
  };
}

/** Null when another process has it. What an agent wrote into its file says nothing, unless somebody holds that: then it is taken. */
async function takeOwn(root: string): Promise<Lock | null> {
  const file = path.join(root, LOCK_NAME);
  // It has no such files beside it; what looks like them would be read.
  for (const kind of ['wal', 'shm', 'journal']) clearPlace(`${file}.lock-${kind}`);
  try {
    return await takeLock(file);
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'corrupt') throw error;
    clearPlace(`${file}.lock`);
    return takeLock(file);
  }
}

async function canWrite(root: string): Promise<boolean> {
  try {
    await makeDirectories(root, 0o750);
    const lock = path.join(root, `${LOCK_NAME}.lock`);
    // Agents can write there: a pipe would hold the start up, and a link or a folder leave us without the lock.
    if (lstatSync(lock, { throwIfNoEntry: false })?.isFile() === false) clearPlace(lock);
    clearPlace(path.join(root, LOCK_NAME));
    closeSync(openSync(lock, APPENDING, 0o600));
    return true;
  } catch {
    return false;
  }
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
const APPENDING = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK;

/** The lock is what counts: on a full disk the note is missing, and each run says why it cannot begin. */
function noteHolder(root: string, holder: RootHolder): void {
  try {
    replaceShortFile(path.join(root, `${LOCK_NAME}.json`), `${JSON.stringify(recordOf(holder))}\n`, 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

function recordOf({ workflowPath, database, sharedRecords }: RootHolder) {
  return { pid: process.pid, host: os.hostname(), workflow: workflowPath, database, records: sharedRecords };
}

function inUse(root: string, key: string): string {
  const remedy = `stop that one first, or give this one a ${key} of its own`;
  return `${key} ${root} is in use by another foray${whoHas(root)}: ${remedy}`;
}

function whoHas(root: string): string {
  const { pid, host, workflow, database } = holderOf(root);
  if (pid === undefined) return '';
  return ` (pid ${String(pid)} on ${String(host)}, workflow ${String(workflow)}, database ${String(database)})`;
}

function holderOf(root: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(readShortFile(path.join(root, `${LOCK_NAME}.json`)) ?? '') as Record<string, unknown>;
  } catch {
    return {};
  }
}
