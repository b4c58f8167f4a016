import { WorkspaceError } from '../domain/model/errors.ts';
import { crashPoint } from '../lib/crash-point.ts';
import { GitRefusal } from './refusal.ts';
import { mustPass } from './must-pass.ts';
import type { Repository } from './repository.ts';

/** A commit and the branch it is to be on. */
export interface Offer {
  readonly branch: string;
  readonly sha: string;
}

/** How the remote is reached. Refusals of the remote are GitRefusals. */
export interface Remote {
  /** Brings `control` up to date. */
  fetch(repository: Repository, signal: AbortSignal): Promise<void>;
  defaultBranch(repository: Repository, signal: AbortSignal): Promise<string>;
  push(repository: Repository, offer: Offer, signal: AbortSignal): Promise<void>;
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
  async push(repository, offer, signal) {
    const { control, shared } = repository;
    const offered = offeredRef(offer.branch);
    await mustPass(repository, shared, ['update-ref', offered, offer.sha], signal);
    await mustPass(repository, control, ['fetch', '--quiet', '--no-tags', shared, `+${offered}:${offered}`], signal);
    await pushFromControl(repository, offer, signal);
  },
};

/** What is to be pushed to a branch. */
export function offeredRef(branch: string): string {
  return `refs/foray/offered/${branch}`;
}

/** What was pushed by us to a branch the last time. */
export function pushedRef(branch: string): string {
  return `refs/foray/pushed/${branch}`;
}

/** The commit that was; null for none. */
export async function pushedCommit(repository: Repository, branch: string, signal: AbortSignal): Promise<string | null> {
  const found = await repository.local(repository.control, ['rev-parse', '--quiet', '--verify', pushedRef(branch)], signal);
  return found.code === 0 ? found.stdout.trim() : null;
}

/** Without force; after a rebase only what we pushed ourselves is replaced, never the commits of somebody else. */
export async function pushFromControl(repository: Repository, { branch, sha }: Offer, signal: AbortSignal): Promise<void> {
  const { control, url } = repository;
  const ours = pushedRef(branch);
  const run = (args: readonly string[]): Promise<string> =>
    repository.remote('push', ['push', '--quiet', ...args, url, `${sha}:refs/heads/${branch}`], signal);
  try {
    await run([]);
  } catch (error) {
    if (!(error instanceof GitRefusal) || error.refusal !== 'diverged') throw error;
    const pushed = await repository.local(control, ['rev-parse', '--quiet', '--verify', ours], signal);
    if (pushed.code !== 0) throw error;
    await run([`--force-with-lease=refs/heads/${branch}:${pushed.stdout.trim()}`]);
  }
  crashPoint('before noting the push');
  await mustPass(repository, control, ['update-ref', ours, sha], signal);
}
