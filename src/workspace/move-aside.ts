import { readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { makeDirectories } from '../lib/make-directories.ts';
import { hasDirectory } from './containment.ts';
import { removeTree } from './remove.ts';

const FOLDER = '.foray-removed';
/** With the moment behind it, it must still be a file name. */
const LONGEST_NAME = 200;
const DAY_MS = 86_400_000;

/** Moves a directory that nobody marked out of the way instead of deleting it: it may be somebody's. Says where it is. */
export async function moveAside(root: string, name: string, now: number): Promise<string> {
  const folder = path.join(root, FOLDER);
  if (!hasDirectory(folder)) await makeDirectories(folder, 0o750);
  const target = path.join(folder, `${name.slice(0, LONGEST_NAME)}.${now}`);
  await rename(path.join(root, name), target);
  return target;
}

/** Deletes what was moved aside longer ago than this. */
export async function clearOldRemovals(root: string, days: number, now: number): Promise<void> {
  const folder = path.join(root, FOLDER);
  const names = hasDirectory(folder) ? await readdir(folder) : [];
  for (const name of names) {
    const movedAt = Number(/\.(\d+)$/.exec(name)?.[1] ?? Number.NaN);
    if (now - movedAt > days * DAY_MS) await removeTree(path.join(folder, name));
  }
}
