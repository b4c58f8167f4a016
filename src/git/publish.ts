import path from 'node:path';
import { crashPoint } from '../lib/crash-point.ts';
import type { OverRequest } from '../ports/scm.ts';
import { authorOf, baseCommit, headOf, isOurs, isWithin, remoteCommit } from './commits.ts';
import { mergeDropped, mergeTheirs } from './commits-of-others.ts';
import { refuseEmbedded } from './embedded.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { removeStaleLocks } from './locks.ts';
import { refuseWorkPipes } from './pipes.ts';
import type { Repository } from './repository.ts';
import { GitRefusal } from './refusal.ts';
import { refuseReturn } from './taken-back.ts';
import { attachHead, leftForPerson, refuseUnfinished, unfinishedIn } from './unfinished-operation.ts';
import type { Worktree } from './worktree.ts';

/** What became of the work of a run. */
export interface Published {
  readonly branch: string;
  readonly base: string;
  readonly sha: string;
}

/**
 * Commits what the agent left uncommitted and pushes the branch. Null when there is nothing that the base branch does
 * not have; the merge request where it is over and nothing was pushed for that. The push runs in the control repository on a commit named by its id: what the agent set up in its own
 * repository takes no part.
 */
export async function publish(
  repository: Repository,
  worktree: Worktree,
  message: string,
  signal: AbortSignal,
): Promise<Published | OverRequest | null> {
  crashPoint('before committing the work');
  await repository.mend(signal);
  await refuseWorkPipes(worktree.path);
  await removeStaleLocks(repository, worktree);
  await commitRest(repository, worktree.path, message, signal);
  await attachHead(repository, worktree, signal);
  await refuseEmbedded(repository, worktree, signal);
  crashPoint('after committing the work');
  try {
    return await pushHead(repository, worktree, signal);
  } catch (error) {
    if (!(error instanceof GitRefusal) || error.refusal !== 'diverged') throw error;
    // Another session would meet the same: what others pushed meanwhile is brought in, and the push tried once more.
    await repository.refresh(signal);
    await refuseReturn(repository, worktree, await headOf(repository, worktree.path, signal), signal);
    await mergeTheirs(repository, worktree, signal);
    return pushHead(repository, worktree, signal);
  }
}

async function pushHead(
  repository: Repository,
  worktree: Worktree,
  signal: AbortSignal,
): Promise<Published | OverRequest | null> {
  const range = `${await baseCommit(repository, signal)}..HEAD`;
  const ahead = await gitOrThrow(repository, worktree.path, ['rev-list', '--count', range], signal);
  if (Number(ahead.trim()) === 0) return null;
  await refuseReturn(repository, worktree, await headOf(repository, worktree.path, signal), signal);
  await mergeDropped(repository, worktree, signal);
  const sha = await headOf(repository, worktree.path, signal);
  await refuseStepBack(repository, worktree, sha, signal);
  const over = await repository.exclusively(async () => {
    crashPoint('before pushing the branch');
    const request = await repository.push(worktree.branch, sha, signal);
    if (request !== null) return request;
    crashPoint('after pushing the branch');
    await gitOrThrow(repository, repository.shared, ['update-ref', `refs/remotes/origin/${worktree.branch}`, sha], signal);
    return null;
  });
  return over ?? { branch: worktree.branch, base: repository.baseBranch(), sha };
}

/** What was pushed is replaced after a rebase; to take it away is for a person. */
async function refuseStepBack(
  repository: Repository,
  { path: place, branch }: Worktree,
  sha: string,
  signal: AbortSignal,
): Promise<void> {
  const remote = await remoteCommit(repository, branch, signal);
  if (remote === null || remote === sha || !(await isWithin(repository, sha, remote, signal))) return;
  if (!(await isOurs(repository, branch, remote, signal))) return;
  throw leftForPerson(
    `what is in ${place} is an earlier state of ${branch} than the one at the remote: bring it up to date there`,
  );
}

async function commitRest(repository: Repository, cwd: string, message: string, signal: AbortSignal): Promise<void> {
  const unfinished = await unfinishedIn(repository, cwd);
  const excludes = await ownExcludes(repository, cwd, signal);
  const status = await gitOrThrow(repository, cwd, [...excludes, 'status', '--porcelain', '--ignore-submodules=none'], signal);
  refuseUnfinished(cwd, unfinished, status);
  if (status.trim() === '' && unfinished === null) return;
  await addAll(repository, cwd, excludes, signal);
  // The agent may have added it against our will, and what was cleared before the run is not its deletion.
  await gitOrThrow(repository, cwd, ['reset', '--quiet', '--', '.foray'], signal);
  const staged = await repository.local(
    cwd,
    ['diff', '--cached', '--quiet', '--no-ext-diff', '--ignore-submodules=none'],
    signal,
  );
  if (staged.code === 0 && unfinished === null) return;
  const author = await authorOf(repository, cwd, signal);
  await gitOrThrow(repository, cwd, [...author, 'commit', '--quiet', '--no-verify', '-m', message], signal);
}

async function addAll(repository: Repository, cwd: string, excludes: readonly string[], signal: AbortSignal): Promise<void> {
  // Sparse: the agent may have narrowed what is checked out, and put files outside of it.
  await gitOrThrow(repository, cwd, [...excludes, 'add', '--all', '--sparse'], signal).catch((error: unknown) => {
    const folder = /'(.+)' does not have a commit checked out/.exec(String(error))?.[1];
    if (folder === undefined) throw error;
    const what = `${path.join(cwd, folder)} is a repository of its own without a commit`;
    throw leftForPerson(`${what}: remove its .git, or the folder, or commit in it`);
  });
}

/** A list of files to leave out is the user's of the service or nobody's: that of an agent would hide the work of all others. */
async function ownExcludes(repository: Repository, cwd: string, signal: AbortSignal): Promise<readonly string[]> {
  const asked = ['config', '--null', '--show-scope', '--get-all', 'core.excludesFile'];
  const { stdout } = await repository.local(cwd, asked, signal);
  const found = [...stdout.matchAll(/([^\0]*)\0([^\0]*)\0/g)];
  if (!found.some(([, scope]) => scope === 'local' || scope === 'worktree')) return [];
  const own = found.findLast(([, scope]) => scope === 'global' || scope === 'system')?.[2] ?? '~/.config/git/ignore';
  return ['-c', `core.excludesFile=${own}`];
}
