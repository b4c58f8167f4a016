import { readdir } from 'node:fs/promises';
import { WorkspaceError } from '../domain/model/errors.ts';
import { baseCommit, commitAt, headOf, isOurs, isWithin, offeredRef, pushedCommit, remoteCommit } from './commits.ts';
import { mergeTheirs, noteTheirs } from './commits-of-others.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { GitRefusal } from './refusal.ts';
import { removeStaleLocks } from './locks.ts';
import { refuseWorkPipes } from './pipes.ts';
import { noteLanded } from './remote.ts';
import { noteBegun } from './replaceable.ts';
import type { Repository } from './repository.ts';
import { beginAnew } from './taken-back.ts';
import { unfinishedIn } from './unfinished-operation.ts';

/** What is checked out for an issue. */
export interface Worktree {
  readonly path: string;
  readonly branch: string;
}

/** Forced twice: a checkout that was cut off leaves its worktree locked, and the branch may be checked out elsewhere. */
const ADD = ['--quiet', '--force', '--force'];

/** Makes the worktree in a directory that is still empty. A branch that the remote has is gone on with. */
export async function createWorktree(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<void> {
  const { path, branch } = worktree;
  if ((await readdir(path)).length > 0) {
    throw new WorkspaceError('repo', `${path} is not empty, so nothing is checked out in it`, { retryable: false });
  }
  await repository.refresh(signal);
  await repository.exclusively(async () => {
    await gitOrThrow(repository, repository.shared, ['worktree', 'prune'], signal);
    await noteLanded(repository, branch, signal);
    const start = await startOf(repository, branch, signal);
    await noteTheirs(repository, branch, start, signal);
    await noteBegun(repository, branch, start, signal);
    await gitOrThrow(repository, repository.shared, ['update-ref', `refs/heads/${branch}`, start], signal);
    await gitOrThrow(repository, repository.shared, ['worktree', 'add', ...ADD, path, branch], signal);
  });
}

/** Before a further run: brings in what others pushed to the branch. False where it conflicts with what is here. */
export async function updateWorktree(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<boolean> {
  await repository.refresh(signal);
  // Without it the work of the run could not be proposed.
  await baseCommit(repository, signal);
  await noteLanded(repository, worktree.branch, signal);
  await refuseWorkPipes(worktree.path);
  await removeStaleLocks(repository, worktree);
  // The run goes on with it, and what others pushed comes in before its work is pushed.
  if ((await unfinishedIn(repository, worktree.path)) !== null) return true;
  try {
    if (!(await beginAnew(repository, worktree, signal))) await mergeTheirs(repository, worktree, signal);
  } catch (error) {
    if (error instanceof GitRefusal) return false;
    throw error;
  }
  await noteBegun(repository, worktree.branch, await headOf(repository, worktree.path, signal), signal);
  return true;
}

/**
 * The branch of the remote where there is one, else the base branch; work of ours that could not be pushed goes before both
 * where it still fits. What `shared` says of the branch does not count: agents can move it, and it outlives the branch.
 */
async function startOf(repository: Repository, branch: string, signal: AbortSignal): Promise<string> {
  const base = await baseCommit(repository, signal);
  const remote = await remoteCommit(repository, branch, signal);
  const pushed = await pushedCommit(repository, branch, signal);
  const offered = await commitAt(repository, repository.control, offeredRef(branch), signal);
  if (offered === null || (await isOurs(repository, branch, offered, signal))) return remote ?? base;
  if (remote === null || remote === pushed) return offered;
  const isTakenBack = pushed !== null && !(await isWithin(repository, pushed, remote, signal));
  return !isTakenBack && (await isWithin(repository, remote, offered, signal)) ? offered : remote;
}
