import { existsSync } from 'node:fs';
import path from 'node:path';
import { DeliveryError } from '../domain/model/errors.ts';
import { commitAt, isWithin } from './commits.ts';
import { gitOrThrow } from './git-or-throw.ts';
import type { Repository } from './repository.ts';
import { worktreeEnvironment } from './worktree-directory.ts';
import type { Worktree } from './worktree.ts';

/** What git keeps in the directory of a worktree while it waits for somebody to go on. In this order: a rebase may hold the others. */
const UNDER_WAY = [
  ['rebase-merge', 'rebase'],
  [path.join('rebase-apply', 'applying'), 'git am'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['MERGE_HEAD', 'merge'],
] as const;

export type Unfinished = (typeof UNDER_WAY)[number][1];

/** What the agent began and did not end in a worktree; null for nothing. */
export async function unfinishedIn({ shared }: Repository, worktree: string): Promise<Unfinished | null> {
  const { GIT_DIR: directory = '' } = await worktreeEnvironment(shared, worktree);
  return UNDER_WAY.find(([name]) => existsSync(path.join(directory, name)))?.[1] ?? null;
}

/** The states of a file that both sides of a merge changed, as `git status --porcelain` tells them. */
const UNMERGED = /^(?:DD|AU|UD|UA|DU|AA|UU) /m;

/** Commits of an unfinished work would be published half done. A merge that only lacks its commit is finished. */
export function refuseUnfinished(worktree: string, unfinished: Unfinished | null, status: string): void {
  const isUnmerged = UNMERGED.test(status);
  if (!isUnmerged && (unfinished === null || unfinished === 'merge')) return;
  throw unfinished === null
    ? leftForPerson(`the agent left conflicts unresolved in ${worktree}: resolve and commit them there`)
    : leftForPerson(`the agent left a ${unfinished} unfinished in ${worktree}: finish or abort it there`);
}

/** Where the work is on no branch or another one: goes back to the worktree's own branch, with all that either of the two has. */
export async function attachHead(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<void> {
  const { path: place, branch } = worktree;
  const attached = await repository.local(place, ['symbolic-ref', '--quiet', 'HEAD'], signal);
  const on = attached.code === 0 ? attached.stdout.trim() : null;
  const own = `refs/heads/${branch}`;
  if (on === own) return;
  const head = await commitAt(repository, place, 'HEAD', signal);
  const tip = await commitAt(repository, repository.shared, own, signal);
  if (head === null) return;
  if (tip === null || (await isWithin(repository, tip, head, signal))) return checkOutAt(repository, worktree, head, signal);
  if (await isWithin(repository, head, tip, signal)) return checkOutAt(repository, worktree, tip, signal);
  const what = on === null ? 'the detached head' : `the branch ${on.replace('refs/heads/', '')} that is checked out`;
  throw leftForPerson(`${what} in ${place} and its branch ${branch} have different commits: bring both together there`);
}

/** Has the branch begin at a commit, and the files be those of it. */
export async function checkOutAt(
  repository: Repository,
  { path: place, branch }: Worktree,
  commit: string,
  signal: AbortSignal,
): Promise<void> {
  const how = ['--quiet', '--force', '--ignore-other-worktrees', '--no-track', '-B', branch];
  await gitOrThrow(repository, place, ['checkout', ...how, commit, '--'], signal);
}

/** Another session would meet the same: the issue is parked. */
export function leftForPerson(what: string): DeliveryError {
  return new DeliveryError('work', `${what}, then unpark the issue`, { retryable: false });
}
