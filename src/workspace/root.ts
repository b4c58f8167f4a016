import { constants } from 'node:fs';
import { access, mkdtemp, rmdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../lib/error-code.ts';
import type { ProgramUser } from '../lib/process/index.ts';
import { look } from './containment.ts';
import { errorText } from '../lib/error-text.ts';

/** What keeps directories from being made under the root, told for an operator. Reads only. */
export async function findRootProblem(root: string): Promise<string | null> {
  try {
    const place = await nearestExisting(path.resolve(root));
    if (!(await stat(place)).isDirectory()) return notDirectory(root, place);
    await access(place, constants.W_OK | constants.X_OK);
    return (await isKernels(place)) ? noneCanBeMade(root, TAKES_NONE) : null;
  } catch (error) {
    return `workspace.root ${root} is not writable: ${meaningOf(error)}`;
  }
}

/** Whether a place is of a file system that shows what the kernel has: root may write there and can make no directory all the same. */
async function isKernels(place: string): Promise<boolean> {
  // A place that does not tell is tried by the first run.
  const told = await statfs(place).catch(() => null);
  return told !== null && OF_KERNEL.has(told.type);
}

/** proc, sysfs, devpts, debugfs, tracefs, securityfs: https://github.com/torvalds/linux/blob/master/include/uapi/linux/magic.h */
const OF_KERNEL: ReadonlySet<number> = new Set([0x9fa0, 0x62656572, 0x1cd1, 0x64626720, 0x74726163, 0x73636673]);
const TAKES_NONE = 'the file system of that place takes none';

function noneCanBeMade(root: string, why: string): string {
  return `workspace.root ${root}: no directory can be made there: ${why}`;
}

function notDirectory(root: string, place: string): string {
  const what = place === path.resolve(root) ? `workspace.root ${root}` : `workspace.root ${root}: ${place}`;
  return `${what} is not a directory: name another place, or move what is there away`;
}

/** The same, found out by making a directory and removing it: some file systems refuse what the rights of a place allow. */
export async function tryRoot(root: string): Promise<string | null> {
  const problem = await findRootProblem(root);
  if (problem !== null) return problem;
  try {
    await rmdir(await mkdtemp(path.join(await nearestExisting(path.resolve(root)), '.foray-doctor-')));
    return null;
  } catch (error) {
    return noneCanBeMade(root, meaningOf(error));
  }
}

/** What a whole disk refuses, told with its place: the system names none for a write. Null for what is no fault of the disk. */
export function diskProblemOf(error: unknown, root: string): string | null {
  return DISK_CODES.has(codeOf(error) ?? '') ? `workspace.root ${root}: ${meaningOf(error)}` : null;
}

const DISK_CODES: ReadonlySet<string> = new Set(['EDQUOT', 'EIO', 'ENOSPC', 'EROFS']);

/** The words of the system mean little to most people. */
function meaningOf(error: unknown): string {
  const said = errorText(error);
  const meaning = MEANINGS[codeOf(error) ?? ''];
  return meaning === undefined ? said : `${meaning} (${said})`;
}

const MEANINGS: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EDQUOT: 'the disk quota of this user is used up',
  EIO: 'the disk cannot be read or written',
  ELOOP: 'a link in its path leads back to itself',
  ENAMETOOLONG: 'its path is too long',
  ENOENT: TAKES_NONE,
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is a file',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
};

/** Every directory above a workspace must let its user through. The root itself is opened when the first one is prepared. */
export async function findReachProblem(root: string, user: ProgramUser): Promise<string | null> {
  for (let place = await nearestExisting(path.dirname(path.resolve(root))); ; place = path.dirname(place)) {
    const { mode, uid, gid } = await stat(place);
    const mayEnter = user.uid === 0 || (mode & (uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001)) !== 0;
    if (!mayEnter) return `workspace.root ${root}: ${user.name} may not enter ${place}; choose another place, or let it in`;
    if (place === path.dirname(place)) return null;
  }
}

async function nearestExisting(place: string): Promise<string> {
  try {
    await stat(place);
    return place;
  } catch (error) {
    const parent = path.dirname(place);
    if (codeOf(error) !== 'ENOENT' || parent === place) throw error;
    // Nothing can be made in the place of such a link: each run would fail in its turn.
    if (look(place) !== null) throw new Error(`${place} is a link that leads nowhere`, { cause: error });
    return nearestExisting(parent);
  }
}
