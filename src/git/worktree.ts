import { readdir } from 'node:fs/promises';
import { WorkspaceError } from '../domain/model/errors.ts';
import { mustPass, type Repository } from './repository.ts';

/** What is checked out for an issue. */
export interface Worktree {
  readonly path: string;
  readonly branch: string;
}

/** Makes the worktree in a directory that is still empty. A branch that exists, here or at the remote, is gone on with. */
export async function createWorktree(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<void> {
  const { path, branch } = worktree;
  if ((await readdir(path)).length > 0) {
    throw new WorkspaceError('repo', `${path} is not empty, so nothing is checked out in it`, { retryable: false });
  }
  await repository.refresh(signal);
  await repository.exclusively(async () => {
    await mustPass(repository, repository.shared, ['worktree', 'prune'], signal);
    const start = await startOf(repository, branch, signal);
    const how = ['--quiet', '--force', '--no-track', '-B', branch];
    await mustPass(repository, repository.shared, ['worktree', 'add', ...how, path, start], signal);
  });
}

/** Before a further run: what others pushed to the branch is taken over where nothing stands against it. */
export async function updateWorktree(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<boolean> {
  await repository.refresh(signal);
  const upstream = `refs/remotes/origin/${worktree.branch}`;
  if (!(await exists(repository, upstream, signal))) return true;
  const merged = await repository.local(worktree.path, ['merge', '--quiet', '--ff-only', upstream], signal);
  if (merged.code === 0) return true;
  const ahead = await repository.local(worktree.path, ['merge-base', '--is-ancestor', upstream, 'HEAD'], signal);
  return ahead.code === 0;
}

/** The remote branch where there is one, else commits of ours that were never pushed, else the base branch. */
async function startOf(repository: Repository, branch: string, signal: AbortSignal): Promise<string> {
  const remote = `refs/remotes/origin/${branch}`;
  const local = `refs/heads/${branch}`;
  const hasRemote = await exists(repository, remote, signal);
  const hasLocal = await exists(repository, local, signal);
  if (hasRemote && hasLocal) {
    const ahead = await repository.local(repository.shared, ['merge-base', '--is-ancestor', remote, local], signal);
    return ahead.code === 0 ? local : remote;
  }
  if (hasRemote) return remote;
  return hasLocal ? local : `refs/remotes/origin/${repository.baseBranch()}`;
}

async function exists(repository: Repository, ref: string, signal: AbortSignal): Promise<boolean> {
  const found = await repository.local(repository.shared, ['rev-parse', '--quiet', '--verify', ref], signal);
  return found.code === 0;
}
