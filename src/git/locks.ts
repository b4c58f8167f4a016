import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Repository } from './repository.ts';
import { worktreeEnvironment } from './worktree-directory.ts';
import type { Worktree } from './worktree.ts';

/** Git holds these for moments; a person in the workspace may do so right now. */
const STALE_AFTER_MS = 5_000;

/** Removes what a git that died left of its locks on a worktree. The agent's own processes were ended before. */
export async function removeStaleLocks({ shared }: Repository, worktree: Worktree): Promise<void> {
  const { GIT_DIR: directory = '' } = worktreeEnvironment(shared, worktree.path);
  const own = ['index.lock', 'HEAD.lock'].map((name) => path.join(directory, name));
  for (const lock of [...own, path.join(shared, 'refs', 'heads', `${worktree.branch}.lock`)]) {
    const found = await stat(lock).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > STALE_AFTER_MS) await rm(lock, { force: true });
  }
}
