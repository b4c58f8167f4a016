import { baseCommit, begunRef, commitAt, identify, isOurs, isWithin, pushedCommit, remoteCommit, updateRefs } from './commits.ts';
import type { Repository } from './repository.ts';

/** Keeps in mind where the branch of the remote is, once a commit that work begins with holds all of it. */
export async function noteBegun(repository: Repository, branch: string, start: string, signal: AbortSignal): Promise<void> {
  const remote = await remoteCommit(repository, branch, signal);
  if (remote === null || !(await isWithin(repository, remote, start, signal))) return;
  await updateRefs(repository, [`update ${begunRef(branch)} ${remote}`], signal);
}

/** What is at the remote, and what is to be there instead. */
interface Replacement {
  readonly tip: string;
  readonly by: string;
  /** Where the branch was when the work began; as noted here unless given. */
  readonly begun?: string | null;
}

/**
 * Whether nothing of others is lost with it: all was pushed by us, or the work began with it and still holds what is of
 * others. What is not what the work began with may be another state of the same commits.
 */
export async function isReplaceable(
  repository: Repository,
  branch: string,
  { tip, by, begun }: Replacement,
  signal: AbortSignal,
): Promise<boolean> {
  if (await isOurs(repository, branch, tip, signal)) return true;
  const noted = begun === undefined ? await commitAt(repository, repository.control, begunRef(branch), signal) : begun;
  if (tip !== noted) return false;
  const pushed = await pushedCommit(repository, branch, signal);
  const kept = [by, await baseCommit(repository, signal)];
  const ours = pushed === null ? [] : [pushed];
  const theirs = await identify(repository, [tip, '--not', ...kept, ...ours], signal);
  const there = new Set((await identify(repository, [...kept, '--not', tip], signal)).values());
  return [...theirs.values()].every((identity) => there.has(identity));
}
