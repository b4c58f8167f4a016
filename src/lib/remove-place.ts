import { randomUUID } from 'node:crypto';
import { lstatSync, renameSync, rmSync, type Dirent } from 'node:fs';
import { lstat, opendir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';

/*
 * Deletes what stands where agents can write too. They may have put a folder there with more in it than can be deleted
 * while the whole service waits, by either of Node's own ways. Links are deleted, never followed.
 */

/** Whatever is there, file by file. */
export async function removePlace(place: string): Promise<void> {
  const stats = await lstat(place).catch(() => null);
  if (stats?.isDirectory()) await removeFolder(place);
  else if (stats !== null) await rm(place, { force: true });
}

/** The place is free at once: a folder is moved beside it and deleted after that. What cannot be deleted stays there. */
export function clearPlace(place: string): void {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) return rmSync(place, { force: true });
  // What stands beside it has no name with a plus, and one made of its own name could be too long.
  const beside = path.join(path.dirname(place), `+gone-${randomUUID()}`);
  renameSync(place, beside);
  void removeFolder(beside).catch(() => {});
}

async function removeFolder(folder: string): Promise<void> {
  const entries: Dirent[] = [];
  // Read to its end first: one that is deep would hold too many open.
  for await (const entry of await opendir(folder, { bufferSize: 256 })) entries.push(entry);
  for (const entry of entries) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) await removeFolder(place);
    else await rm(place, { force: true });
  }
  await rmdir(folder);
}
