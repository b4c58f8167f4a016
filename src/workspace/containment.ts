import { constants, realpathSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import { isWorkspaceKey } from './key.ts';

/** Our own folder in a workspace. */
export const DATA_FOLDER = '.foray';

/** The root without symlinks, also before it exists. */
export function realRoot(root: string): string {
  const absolute = path.resolve(root);
  try {
    return realpathSync(absolute);
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
export async function hasDirectory(directory: string): Promise<boolean> {
  const stats = await look(directory);
  if (stats === null) return false;
  if (stats.isSymbolicLink()) throw refused(directory, 'is a symbolic link');
  if (!stats.isDirectory()) throw refused(directory, 'is not a directory');
  return true;
}

/** What is at a path itself, without following it; null when nothing is. */
export async function look(place: string): Promise<Stats | null> {
  try {
    return await lstat(place);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A file of the data folder, at most `maxBytes` of it and whether there is more; null when there is none. */
export async function readDataFile(
  root: string,
  workspace: string,
  file: { readonly name: string; readonly maxBytes: number },
): Promise<{ readonly bytes: Buffer; readonly more: boolean } | null> {
  requireUnderRoot(root, workspace);
  const folder = path.join(workspace, DATA_FOLDER);
  if (!(await hasDirectory(workspace)) || !(await hasDirectory(folder))) return null;
  const place = path.join(folder, file.name);
  const stats = await look(place);
  if (stats === null) return null;
  if (!stats.isFile()) throw refused(place, stats.isSymbolicLink() ? 'is a symbolic link' : 'is not a regular file');
  // Without NONBLOCK, a pipe put in its place meanwhile would hold us for ever.
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await requireSame(handle, place);
    return await readUpTo(handle, file.maxBytes);
  } finally {
    await handle.close();
  }
}

/** Workspaces are handed around as paths: only one that can be ours is touched. */
export function requireUnderRoot(root: string, workspace: string): void {
  const inside = path.dirname(workspace) === realRoot(root) && isWorkspaceKey(path.basename(workspace));
  if (!inside) throw refused(workspace, 'is not a workspace under the root');
}

/** The agent may have swapped a directory for a link between our look and our open. */
async function requireSame(handle: FileHandle, place: string): Promise<void> {
  const [opened, there, real] = [await handle.stat(), await lstat(place), await realpath(place)];
  const same = opened.isFile() && opened.ino === there.ino && opened.dev === there.dev && real === place;
  if (!same) throw refused(place, 'was replaced while it was read');
}

async function readUpTo(handle: FileHandle, maxBytes: number): Promise<{ bytes: Buffer; more: boolean }> {
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

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}
