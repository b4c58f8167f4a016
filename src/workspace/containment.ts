import { constants, lstatSync, realpathSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import { codeOf } from '../lib/error-code.ts';
import { isWorkspaceKey } from './key.ts';

/** Our own folder in a workspace. */
export const DATA_FOLDER = '.foray';

/** The root without symlinks, also before it exists. */
export function realRoot(root: string): string {
  const absolute = path.resolve(root);
  try {
    return realpathSync.native(absolute);
  } catch (error) {
    const parent = path.dirname(absolute);
    if (codeOf(error) !== 'ENOENT' || parent === absolute) throw error;
    return path.join(realRoot(parent), path.basename(absolute));
  }
}

/**
 * Whether a directory is there. What stands in its place is refused: a symlink would lead our reads, writes and
 * deletions to wherever the agent that made it likes.
 */
export function hasDirectory(directory: string): boolean {
  const stats = look(directory);
  if (stats === null) return false;
  if (stats.isSymbolicLink()) throw refused(directory, 'is a symbolic link');
  if (!stats.isDirectory()) throw refused(directory, 'is not a directory');
  return true;
}

/**
 * What is at a path itself, without following it; null when nothing is. Each session looks at some twenty places, most of
 * them empty: asked at once that is a tenth of what it costs through the pool of threads.
 */
export function look(place: string): Stats | null {
  return lstatSync(place, { throwIfNoEntry: false }) ?? null;
}

interface ReadBytes {
  readonly bytes: Buffer;
  readonly more: boolean;
}

/** A file of the data folder, at most `maxBytes` of it and whether there is more; null when there is none. */
export async function readDataFile(
  root: string,
  workspace: string,
  file: { readonly name: string; readonly maxBytes: number },
): Promise<ReadBytes | null> {
  requireUnderRoot(root, workspace);
  const folder = path.join(workspace, DATA_FOLDER);
  if (!hasDirectory(workspace) || !hasDirectory(folder)) return null;
  const place = path.join(folder, file.name);
  const stats = look(place);
  if (stats === null) return null;
  if (!stats.isFile()) throw refused(place, stats.isSymbolicLink() ? 'is a symbolic link' : 'is not a regular file');
  try {
    return await readInside([workspace, DATA_FOLDER, file.name], file.maxBytes);
  } catch (error) {
    // It was there a moment ago, and no link.
    throw SWAPPED.has(codeOf(error)) ? refused(place, 'was replaced while it was read') : error;
  }
}

/** Workspaces are handed around as paths: only one that can be ours is touched. */
export function requireUnderRoot(root: string, workspace: string): void {
  const inside = path.dirname(workspace) === realRoot(root) && isWorkspaceKey(path.basename(workspace));
  if (!inside) throw refused(workspace, 'is not a workspace under the root');
}

const SWAPPED: ReadonlySet<string | undefined> = new Set(['ELOOP', 'ENOTDIR', 'ENOENT', 'EISDIR', 'ENXIO', 'EAGAIN']);

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Without NONBLOCK, a pipe put in its place meanwhile would hold us for ever. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens name after name, each inside of the directory that was opened before: a link that the agent swaps in between our
 * look and our read leads nowhere.
 */
async function readInside([first, ...rest]: readonly [string, ...string[]], maxBytes: number): Promise<ReadBytes> {
  const [next, ...others] = rest;
  const handle = await open(first, next === undefined ? FILE : DIRECTORY);
  try {
    if (next === undefined) return await readUpTo(handle, maxBytes);
    return await readInside([insideOf(handle, first, next), ...others], maxBytes);
  } finally {
    await handle.close();
  }
}

/** Only Linux lets us name what is inside of an open directory; elsewhere the path must do. */
function insideOf(directory: FileHandle, its: string, name: string): string {
  return path.join(process.platform === 'linux' ? `/proc/self/fd/${directory.fd}` : its, name);
}

async function readUpTo(handle: FileHandle, maxBytes: number): Promise<ReadBytes> {
  const buffer = Buffer.alloc(maxBytes + 1);
  let size = 0;
  while (size < buffer.length) {
    const { bytesRead } = await handle.read(buffer, size, buffer.length - size, size);
    if (bytesRead === 0) break;
    size += bytesRead;
  }
  return { bytes: buffer.subarray(0, Math.min(size, maxBytes)), more: size > maxBytes };
}

export function refused(place: string, why: string): WorkspaceError {
  return new WorkspaceError('refused', `${place} ${why}; remove it by hand after a look at it`, { retryable: false });
}
