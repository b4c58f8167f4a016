import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes a directory and those above it. Node's own way never ends, and answers nothing meanwhile, where a file system says
 * that a place is missing in which it lets nothing be made, as /proc does.
 */
export async function makeDirectories(directory: string, mode: number): Promise<void> {
  if (await made(directory, mode)) return;
  const parent = path.dirname(directory);
  if (parent !== directory) await makeDirectories(parent, mode);
  await mkdir(directory, { mode }).catch((error: unknown) => settled(directory, error));
}

/** The same before anything can be waited for. */
export function makeDirectoriesNow(directory: string, mode: number): void {
  try {
    makeDirectoryNow(directory, mode);
  } catch (error) {
    const parent = path.dirname(directory);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === directory) throw error;
    makeDirectoriesNow(parent, mode);
    makeDirectoryNow(directory, mode);
  }
}

/** Somebody else may have made it meanwhile. */
function makeDirectoryNow(directory: string, mode: number): void {
  try {
    mkdirSync(directory, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(directory).isDirectory()) throw error;
  }
}

/** False where the directory above it is missing. */
async function made(directory: string, mode: number): Promise<boolean> {
  try {
    await mkdir(directory, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    await settled(directory, error);
  }
  return true;
}

/** One that is there already is as good. */
async function settled(directory: string, error: unknown): Promise<void> {
  const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(directory)).isDirectory();
  if (!isThere) throw error;
}
