import { readdirSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { WorkspaceError } from '../domain/model/errors.ts';
import { readShortFile, replaceShortFile } from '../lib/short-file.ts';

/** Removes what would lead git from a repository to another one, whose settings and references an agent wrote. */
export function removeDetours(repository: string): void {
  for (const name of ['commondir', '.git']) rmSync(path.join(repository, name), { recursive: true, force: true });
}

/** Tells git that a repository is the one it stands in: its settings count also where a detour comes back meanwhile. */
export function repositoryEnvironment(repository: string): Readonly<Record<string, string>> {
  removeDetours(repository);
  return { GIT_DIR: repository, GIT_COMMON_DIR: repository };
}

/**
 * Tells git where the repository of a worktree is. Git would ask the file `.git` in it, which the agent can write: it could
 * lead to settings of the agent's own, which name programs to run and directories to commit, outside of whatever fence the
 * agent itself is in.
 */
export function worktreeEnvironment(shared: string, worktree: string): Readonly<Record<string, string>> {
  const folder = path.join(shared, 'worktrees');
  const place = path.join(realpathSync(worktree), '.git');
  // Git calls them after their directories, unless that name was taken.
  const names = [path.basename(worktree), ...namesIn(folder)];
  const found = names.map((name) => path.join(folder, name)).find((directory) => placeOf(directory) === place);
  if (found === undefined) {
    const detail = `${worktree} is no worktree of the repository any more; remove it by hand after a look at it`;
    throw new WorkspaceError('repo', detail, { retryable: false });
  }
  replaceShortFile(path.join(found, 'commondir'), '../..\n');
  return { GIT_DIR: found, GIT_COMMON_DIR: shared, GIT_WORK_TREE: worktree };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The file `.git` of the worktree that belongs to it. */
function placeOf(directory: string): string | null {
  try {
    const text = readShortFile(path.join(directory, 'gitdir'));
    return text && path.resolve(directory, text.trim());
  } catch {
    return null;
  }
}
