import { createHash } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { processStartTime } from '../lib/process-identity.ts';

/**
 * A folder that only we can enter. One that somebody else made in our name is left alone, and so is that of another daemon of
 * the same scope which lives: on a shared database it may lead while we wake up from a sleep.
 */
export async function privateDirectory(scope: string): Promise<string> {
  const hash = createHash('sha256').update(scope).digest('hex').slice(0, 12);
  const prefix = `foray-tools-${hash}-`;
  const wanted = path.join(os.tmpdir(), `${prefix}${process.pid}`);
  // Nobody waits for it: a folder for temporary files may have thousands of entries.
  void removeLeft(prefix).catch(() => {});
  try {
    await removeOwn(wanted);
    await mkdir(wanted, { mode: 0o700 });
    return wanted;
  } catch {
    return mkdtemp(path.join(os.tmpdir(), 'foray-tools-'));
  }
}

/** What daemons that are gone left. */
async function removeLeft(prefix: string): Promise<void> {
  const names = (await readdir(os.tmpdir())).filter((name) => name.startsWith(prefix));
  const left = names.filter((name) => processStartTime(Number(name.slice(prefix.length))) === null);
  for (const name of left) await removeOwn(path.join(os.tmpdir(), name));
}

/** In a folder of somebody else our deletion could be led elsewhere while it goes on. */
async function removeOwn(directory: string): Promise<void> {
  const found = await lstat(directory).catch(() => null);
  if (found?.isDirectory() && found.uid === process.getuid?.()) await rm(directory, { recursive: true, force: true });
}
