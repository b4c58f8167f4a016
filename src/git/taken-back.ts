import { baseCommit, headOf, isWithin, pushedCommit, remoteCommit } from './commits.ts';
import { mustPass } from './must-pass.ts';
import type { Repository } from './repository.ts';
import { noteTheirs } from './theirs.ts';
import { checkOutAt, leftForPerson } from './unfinished.ts';
import type { Worktree } from './worktree.ts';

/*
 * Others may take away what we pushed: a person sets the branch back or writes it anew, or it is deleted once it was merged.
 * What they took away is not pushed again.
 */

/** Has a worktree that holds nothing else begin with what they left. False where it holds more, or they took nothing away. */
export async function beginAnew(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<boolean> {
  const { path, branch } = worktree;
  const pushed = await pushedCommit(repository, branch, signal);
  const remote = await remoteCommit(repository, branch, signal);
  if (pushed === null || (remote !== null && (await isWithin(repository, pushed, remote, signal)))) return false;
  const head = await headOf(repository, path, signal);
  if (!(await isWithin(repository, head, pushed, signal)) || (await hasChanges(repository, path, signal))) {
    await refuseReturn(repository, worktree, head, signal);
    return false;
  }
  const start = remote ?? (await baseCommit(repository, signal));
  await noteTheirs(repository, branch, start, signal);
  if (head !== start) await checkOutAt(repository, worktree, start, signal);
  return true;
}

/** Refuses work on top of commits that a person took off the branch: to take them out of it is not ours to do. */
export async function refuseReturn(
  repository: Repository,
  { path, branch }: Worktree,
  work: string,
  signal: AbortSignal,
): Promise<void> {
  const pushed = await pushedCommit(repository, branch, signal);
  const remote = await remoteCommit(repository, branch, signal);
  if (pushed === null || remote === null || remote === pushed) return;
  if (!(await isWithin(repository, remote, pushed, signal))) return;
  const common = await repository.local(repository.shared, ['merge-base', pushed, work], signal);
  if (common.code !== 0 || (await isWithin(repository, common.stdout.trim(), remote, signal))) return;
  const remedy = `take them out there by git rebase --onto origin/${branch} ${pushed.slice(0, 12)}, or push them yourself`;
  throw leftForPerson(`somebody took commits off ${branch} that the work in ${path} still has: ${remedy}`);
}

/** What is not committed; our own folder does not count. */
async function hasChanges(repository: Repository, path: string, signal: AbortSignal): Promise<boolean> {
  const asked = ['status', '--porcelain', '--', '.', ':(exclude).foray'];
  return (await mustPass(repository, path, asked, signal)) !== '';
}
