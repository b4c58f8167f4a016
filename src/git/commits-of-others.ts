import {
  authorOf,
  baseCommit,
  commitAt,
  headOf,
  identify,
  isWithin,
  linesOf,
  offeredRef,
  pushedCommit,
  remoteCommit,
  updateRefs,
} from './commits.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { GitRefusal } from './refusal.ts';
import { isReplaceable } from './replaceable.ts';
import type { Repository } from './repository.ts';
import type { Worktree } from './worktree.ts';

/*
 * Commits of others on the branch of an issue. Once they were merged and pushed they are part of what we pushed ourselves.
 * So each is kept in mind by a reference in `control`: what replaces the branch after a rebase must still hold them.
 */

function noteRef(branch: string, commit = ''): string {
  return `refs/foray/theirs/${branch}/${commit}`;
}

/** Of more than these the newest: where one is merged in again, it brings along what it is made on. */
const MOST_NOTED = 1_000;

/**
 * Merges what others pushed to the branch, as far as the last refresh knows. What is there by ourselves alone stays out, and
 * what was rebased since: it is what the next push replaces. A conflict is a GitRefusal, and leaves the worktree as it was.
 */
export async function mergeTheirs(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<void> {
  const { path, branch } = worktree;
  const theirs = await remoteCommit(repository, branch, signal);
  const head = await headOf(repository, path, signal);
  if (theirs === null || (await isWithin(repository, theirs, head, signal))) return;
  if (await isReplaceable(repository, branch, { tip: theirs, by: head }, signal)) return;
  await noteTheirs(repository, branch, theirs, signal);
  await merge(repository, worktree, theirs, signal);
}

/** Merges once more what others pushed and the agent took out of the branch since; not what they took away themselves. */
export async function mergeDropped(repository: Repository, worktree: Worktree, signal: AbortSignal): Promise<void> {
  const { path, branch } = worktree;
  const head = await headOf(repository, path, signal);
  const remote = await remoteCommit(repository, branch, signal);
  const missing = new Set((await missingIn(repository, branch, head, signal)).values());
  if (missing.size === 0 || remote === null) return;
  const base = await baseCommit(repository, signal);
  for (const [commit, identity] of await identify(repository, [remote, '--not', head, base], signal)) {
    if (!missing.has(identity)) continue;
    // One that was merged before may have brought it along.
    if (await isWithin(repository, commit, await headOf(repository, path, signal), signal)) continue;
    await merge(repository, worktree, commit, signal);
  }
}

/** Keeps in mind which commits of a tip are of others, and forgets those that they took away themselves. */
export async function noteTheirs(repository: Repository, branch: string, tip: string, signal: AbortSignal): Promise<void> {
  const base = await baseCommit(repository, signal);
  const offered = await commitAt(repository, repository.control, offeredRef(branch), signal);
  const ours = [await pushedCommit(repository, branch, signal), offered].filter((commit) => commit !== null);
  const known = new Set(ours.length > 0 ? (await identify(repository, [...ours, '--not', base], signal)).values() : []);
  const found = await identify(repository, [tip, '--not', base, ...ours], signal);
  const others = [...found].filter(([, identity]) => !known.has(identity)).map(([commit]) => commit);
  const added = others.slice(0, MOST_NOTED);
  const gone = await missingIn(repository, branch, tip, signal);
  const lines = [
    ...[...gone.keys()].map((commit) => `delete ${noteRef(branch, commit)}`),
    ...added.map((commit) => `update ${noteRef(branch, commit)} ${commit}`),
  ];
  await updateRefs(repository, lines, signal);
}

/** The commits of others that were noted, by what stays of each. */
export async function notedTheirs(
  repository: Repository,
  branch: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const asked = ['for-each-ref', '--format=%(objectname)', noteRef(branch)];
  const noted = linesOf(await gitOrThrow(repository, repository.control, asked, signal));
  return noted.length === 0 ? new Map() : identify(repository, ['--no-walk', ...noted], signal);
}

/** Those of the noted commits that neither a tip nor the base branch has. One that was rebased is not lacking. */
async function missingIn(
  repository: Repository,
  branch: string,
  tip: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const missing = new Map<string, string>();
  const noted = await notedTheirs(repository, branch, signal);
  if (noted.size === 0) return missing;
  const base = await baseCommit(repository, signal);
  const here = new Set((await identify(repository, [tip, '--not', base], signal)).values());
  for (const [commit, identity] of noted) {
    if (here.has(identity) || (await isWithin(repository, commit, tip, signal))) continue;
    if (await isWithin(repository, commit, base, signal)) continue;
    const merged = await identify(repository, [base, '--not', commit], signal);
    if (![...merged.values()].includes(identity)) missing.set(commit, identity);
  }
  return missing;
}

/** Said in full: the repository may set other ways for a branch. */
const MERGE = ['--quiet', '--no-edit', '--ff', '--commit', '--no-squash'];

async function merge(repository: Repository, { path, branch }: Worktree, commit: string, signal: AbortSignal): Promise<void> {
  const how = [...(await authorOf(repository, path, signal)), 'merge', ...MERGE, commit];
  const merged = await repository.local(path, how, signal);
  if (merged.code === 0) return;
  await repository.local(path, ['merge', '--abort'], signal);
  const what = `merge conflict with what others pushed to ${branch}: ${commit}`;
  throw new GitRefusal('merge', `${merged.stdout}\n${merged.stderr}\nerror: ${what}`);
}
