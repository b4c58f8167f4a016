import { mkdtemp, rm, statfs } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const made: string[] = [];

/** A folder of its own for one figure. */
export async function newFolder(root = os.tmpdir()): Promise<string> {
  const folder = await mkdtemp(path.join(root, 'foray-bench-'));
  made.push(folder);
  return folder;
}

/** At the end of all: a file system may make files more slowly for minutes after many were removed, and no row shall pay for another. */
export async function removeFolders(): Promise<void> {
  for (const folder of made.splice(0)) await rm(folder, { recursive: true, force: true });
}

/** Where nothing waits for a disk, if there is room for it: for figures that do not depend on one. */
export async function roomInMemory(): Promise<string> {
  const { bavail, bsize } = await statfs('/dev/shm').catch(() => ({ bavail: 0, bsize: 0 }));
  return bavail * bsize >= ROOM_BYTES ? '/dev/shm' : os.tmpdir();
}

/** More than any of them takes. */
const ROOM_BYTES = 1024 ** 3;
