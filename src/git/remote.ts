import { WorkspaceError } from '../domain/model/errors.ts';
import { crashPoint } from '../lib/crash-point.ts';
import type { OverRequest } from '../ports/scm.ts';
import { commitAt, isOurs, isWithin, offeredRef, pushedRef, remoteCommit, updateRefs } from './commits.ts';
import { gitOrThrow } from './git-or-throw.ts';
import { GitRefusal } from './refusal.ts';
import { isReplaceable } from './replaceable.ts';
import type { Repository } from './repository.ts';

/** A commit and the branch it is to be on. */
export interface Offer {
  readonly branch: string;
  readonly sha: string;
}

/** Made by somebody who last saw the branch at this commit, or saw none; absent where it was seen after the last refresh. */
interface SeenOffer extends Offer {
  readonly seen?: string | null;
}

/** How the remote is reached. Refusals of the remote are GitRefusals. */
export interface Remote {
  /** Brings `control` up to date. */
  fetch(repository: Repository, signal: AbortSignal): Promise<void>;
  defaultBranch(repository: Repository, signal: AbortSignal): Promise<string>;
  /** The request of the branch where it is over and nothing was pushed for that, else null. */
  push(repository: Repository, offer: Offer, signal: AbortSignal): Promise<OverRequest | null>;
}

/** Over the network, with the credential. */
export const networkRemote: Remote = {
  async fetch(repository, signal) {
    const refs = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
    await repository.remote('fetch', ['fetch', '--quiet', '--prune', '--no-tags', repository.url, ...refs], signal);
  },
  async defaultBranch(repository, signal) {
    const told = await repository.remote('fetch', ['ls-remote', '--symref', repository.url, 'HEAD'], signal);
    const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(told)?.[1];
    if (branch !== undefined) return branch;
    throw new WorkspaceError('repo', `${repository.url} names no default branch: push a first commit to it`, {
      retryable: false,
    });
  },
  async push(repository, offered, signal) {
    await offer(repository, offered, signal);
    await pushFromControl(repository, offered, signal);
    // Over the network there is no request to be seen.
    return null;
  },
};

/** Takes a commit of `shared` over into `control`. */
export async function offer(repository: Repository, { branch, sha }: Offer, signal: AbortSignal): Promise<void> {
  const { control, shared } = repository;
  const ref = offeredRef(branch);
  await gitOrThrow(repository, shared, ['update-ref', ref, sha], signal);
  await gitOrThrow(repository, control, ['fetch', '--quiet', '--no-tags', shared, `+${ref}:${ref}`], signal);
}

/**
 * Only where the branch is still where the last refresh saw it; after a rebase only what we pushed ourselves is replaced,
 * and commits of somebody else only where they were rebased along.
 */
export async function pushFromControl(
  repository: Repository,
  { branch, sha, seen }: SeenOffer,
  signal: AbortSignal,
): Promise<void> {
  const { control, url } = repository;
  const known = await remoteCommit(repository, branch, signal);
  const isForward = known === null || (await isWithin(repository, known, sha, signal, control));
  const isUnseen = seen !== undefined && seen !== known;
  const replaced = { tip: known ?? '', by: sha, ...(seen === undefined ? {} : { begun: seen }) };
  if (isUnseen || (!isForward && !(await isReplaceable(repository, branch, replaced, signal))))
    throw new GitRefusal('push', ` ! [rejected] ${branch} (fetch first)\nerror: ${branch} has commits of somebody else`);
  const lease = `--force-with-lease=refs/heads/${branch}:${known ?? ''}`;
  await repository.remote('push', ['push', '--quiet', lease, url, `${sha}:refs/heads/${branch}`], signal);
  crashPoint('before noting the push');
  await notePush(repository, { branch, sha }, signal);
}

/** Keeps in mind what was pushed, and that the remote has it. */
export async function notePush(repository: Repository, { branch, sha }: Offer, signal: AbortSignal): Promise<void> {
  const refs = [pushedRef(branch), `refs/heads/${branch}`];
  await updateRefs(
    repository,
    refs.map((ref) => `update ${ref} ${sha}`),
    signal,
  );
}

/** Notes a push that was not noted, as a crash leaves it: the branch of the remote is at what was to be pushed. */
export async function noteLanded(repository: Repository, branch: string, signal: AbortSignal): Promise<void> {
  const remote = await remoteCommit(repository, branch, signal);
  const offered = await commitAt(repository, repository.control, offeredRef(branch), signal);
  if (remote === null || remote !== offered || (await isOurs(repository, branch, remote, signal))) return;
  await notePush(repository, { branch, sha: remote }, signal);
}
