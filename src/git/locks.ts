import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { entriesOf } from './links.ts';
import type { Repository } from './repository.ts';
import { worktreeEnvironment } from './worktree-directory.ts';
import type { Worktree } from './worktree.ts';

/** Git holds these for moments; a person in the workspace may do so right now. */
const STALE_AFTER_MS = 5_000;

/** Removes what a git that died left of its locks on a worktree. The agent's own processes were ended before. */
export async function removeStaleLocks({ shared }: Repository, worktree: Worktree): Promise<void> {
  const { GIT_DIR: directory = '' } = await worktreeEnvironment(shared, worktree.path);
  await removeStale(['index.lock', 'HEAD.lock'].map((name) => path.join(directory, name)));
}

/** The same for what a whole repository has in common, where a lock would hold up every issue. */
export async function removeSharedLocks(repository: string): Promise<void> {
  const own = ['config.lock', 'HEAD.lock', 'packed-refs.lock'].map((name) => path.join(repository, name));
  await removeStale([...own, ...(await locksBelow(path.join(repository, 'refs')))]);
}

/** No reference has a name that ends like this. Folders that a link leads to are left alone. */
async function locksBelow(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(folder)) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) found.push(...(await locksBelow(place)));
    else if (entry.name.endsWith('.lock')) found.push(place);
  }
  return found;
}

async function removeStale(locks: readonly string[]): Promise<void> {
  for (const lock of locks) {
    const found = await stat(lock).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > STALE_AFTER_MS) await rm(lock, { force: true });
  }
}
