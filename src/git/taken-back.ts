import { baseCommit, headOf, identify, isWithin, pushedCommit, remoteCommit } from './commits.ts';
import { notedTheirs, noteTheirs } from './commits-of-others.ts';
import { gitOrThrow } from './git-or-throw.ts';
import type { Repository } from './repository.ts';
import { checkOutAt, leftForPerson } from './unfinished-operation.ts';
import type { Worktree } from './worktree.ts';

/*
 * Others may take away what we pushed: a person sets the branch back or writes it anew, or it is deleted once it was merged.
 * What they took away is not pushed again.
 */

/** Has a worktree that holds nothing else begin with what they left. False where they took nothing away; work on top is refused. */
export async function beginAnew(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<boolean> {
  const { path, branch } = worktree;
  const head = await headOf(repository, path, signal);
  const pushed = await pushedCommit(repository, branch, signal);
  const remote = await remoteCommit(repository, branch, signal);
  const isKept = pushed === null || (remote !== null && (await isWithin(repository, pushed, remote, signal)));
  if (isKept && (await takenFrom(repository, branch, head, signal)) === null) return false;
  if ((await hasOwn(repository, branch, head, signal)) || (await hasChanges(repository, path, signal))) {
    await refuseReturn(repository, worktree, head, signal);
    return false;
  }
  const start = remote ?? (await baseCommit(repository, signal));
  await noteTheirs(repository, branch, start, signal);
  if (head !== start) await checkOutAt(repository, worktree, start, signal);
  return true;
}

/** Refuses work on top of commits that were taken off the branch: to take them out of it is not ours to do. */
export async function refuseReturn(
  repository: Repository,
  { path, branch }: Worktree,
  work: string,
  signal: AbortSignal,
): Promise<void> {
  const taken = await takenFrom(repository, branch, work, signal);
  if (taken === null) return;
  const pushed = await pushedCommit(repository, branch, signal);
  const isAllOurs = pushed !== null && (await isWithin(repository, taken, pushed, signal));
  const last = isAllOurs && (await isWithin(repository, pushed, work, signal)) ? pushed : taken;
  const remedy = `take them out there by git rebase --onto origin/${branch} ${last.slice(0, 12)}, or push them yourself`;
  throw leftForPerson(`somebody took commits off ${branch} that the work in ${path} still has: ${remedy}`);
}

/** The newest commit of the work that we or others had pushed, and that the branch has no more. One that was rebased is still there. */
async function takenFrom(repository: Repository, branch: string, work: string, signal: AbortSignal): Promise<string | null> {
  const remote = await remoteCommit(repository, branch, signal);
  if (remote === null) return null;
  const left = [remote, await baseCommit(repository, signal)];
  const pushed = await pushedCommit(repository, branch, signal);
  const ours = pushed === null ? new Map<string, string>() : await identify(repository, [pushed, '--not', ...left], signal);
  const once = new Set([...ours.values(), ...(await notedTheirs(repository, branch, signal)).values()]);
  if (once.size === 0) return null;
  const here = await identify(repository, [work, '--not', ...left], signal);
  const there = new Set((await identify(repository, [...left, '--not', work], signal)).values());
  return [...here].find(([, identity]) => once.has(identity) && !there.has(identity))?.[0] ?? null;
}

/** Whether there is a commit that neither we nor others pushed. */
async function hasOwn(repository: Repository, branch: string, head: string, signal: AbortSignal): Promise<boolean> {
  const pushed = await pushedCommit(repository, branch, signal);
  const known = [...(await notedTheirs(repository, branch, signal)).keys(), ...(pushed === null ? [] : [pushed])];
  const own = await gitOrThrow(repository, repository.shared, ['rev-list', '--max-count=1', head, '--not', ...known], signal);
  return own !== '';
}

/** What is not committed; our own folder does not count. */
async function hasChanges(repository: Repository, path: string, signal: AbortSignal): Promise<boolean> {
  const asked = ['status', '--porcelain', '--', '.', ':(exclude).foray'];
  return (await gitOrThrow(repository, path, asked, signal)) !== '';
}
