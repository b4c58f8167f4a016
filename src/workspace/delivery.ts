import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DeliveryError, TrackerError, WorkspaceError } from '../domain/model/errors.ts';
import { crashPoint } from '../lib/crash-point.ts';
import { baseCommit, createWorktree, GitRefusal, publish, updateWorktree } from '../git/index.ts';
import type { Published, Repository } from '../git/index.ts';
import type { RepoKey, OpenRequest, OverRequest, RequestFinder } from '../ports/scm.ts';
import type { Clock, Logger } from '../ports/runtime.ts';
import type { WorkspaceSubject } from '../ports/workspace.ts';
import type { ScmRecord } from '../domain/model/agent-event.ts';
import type { BegunRequests } from './begun-requests.ts';
import { branchOf } from './branch-name.ts';
import { DATA_FOLDER, hasDirectory } from './containment.ts';
import { removeIfThere } from './remove.ts';
import { titleOf } from './title.ts';

/** From the project's repository to a request a reviewer can open. */
export interface Delivery {
  /** Checks the issue's branch out in a directory that is still empty. */
  checkOut(workspace: string, subject: WorkspaceSubject, signal: AbortSignal): Promise<void>;
  /** Before git looks at a workspace: puts the repository right that all of them share. */
  mend(signal: AbortSignal): Promise<void>;
  /** Before a further run: takes over what others pushed. */
  update(workspace: string, subject: WorkspaceSubject, signal: AbortSignal): Promise<void>;
  /** After a good run: commits, pushes, opens the request. Null when nothing was changed, or nothing is to be pushed. */
  deliver(workspace: string, subject: WorkspaceSubject, signal: AbortSignal): Promise<ScmRecord | null>;
  /** The branch that it pushes; null when nothing is to be pushed. */
  ownBranch(subject: WorkspaceSubject): string | null;
}

export interface DeliveryDeps {
  readonly repository: Repository;
  /** False: the checkout only; pushing is left to hooks and agents. */
  readonly push: boolean;
  /** Null: a branch is pushed and no request opened. */
  readonly opener: RequestFinder | null;
  readonly begun: BegunRequests;
  /** The repository as the forge calls it. */
  readonly project: RepoKey;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Waits between the tries of a push; tests are less patient. */
  readonly retryDelaysMs?: readonly number[];
}

/** What a session made is worth some patience: the next try after these would cost another one. */
const RETRY_DELAYS_MS: readonly number[] = [2_000, 8_000, 30_000, 60_000];
/** The longest wait that a remote may ask for here. */
const LONGEST_ASKED_MS = 90_000;

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { repository, logger, begun } = deps;
  const worktreeOf = (workspace: string, { identifier }: WorkspaceSubject) => ({
    path: workspace,
    branch: branchOf(identifier),
  });
  return {
    async checkOut(workspace, subject, signal) {
      const worktree = worktreeOf(workspace, subject);
      begun.forget(worktree.branch);
      await createWorktree(repository, worktree, signal);
    },
    mend: (signal) => repository.mend(signal),
    async update(workspace, subject, signal) {
      const worktree = worktreeOf(workspace, subject);
      const isUpToDate = await updateWorktree(repository, worktree, signal);
      if (deps.push) await begun.begin(worktree.branch, signal);
      if (isUpToDate) return;
      logger.warn('the branch has diverged from what others pushed', { ...factsOf(subject), branch: worktree.branch });
    },
    async deliver(workspace, subject, signal) {
      if (!deps.push) return null;
      const worktree = worktreeOf(workspace, subject);
      const over = await retryDelivery(deps, signal, () => begun.overSince(worktree.branch, signal));
      if (over !== null) return tellOver(deps, subject, over);
      const published = await retryDelivery(deps, signal, () => publish(repository, worktree, titleOf(subject), signal));
      if (published === null) {
        begun.settle(worktree.branch);
        logger.info('nothing to push', { ...factsOf(subject), branch: worktree.branch });
        return null;
      }
      if ('end' in published) return tellOver(deps, subject, published);
      logPush(deps, subject, published);
      return propose(deps, workspace, subject, published, signal);
    },
    ownBranch: ({ identifier }) => (deps.push ? branchOf(identifier) : null),
  };
}

/** Says too when that is all: without a forge nobody is shown the branch. */
export function logPush(
  { logger, opener }: Pick<DeliveryDeps, 'logger' | 'opener'>,
  subject: WorkspaceSubject,
  { branch, sha }: Pick<Published, 'branch' | 'sha'>,
): void {
  const alone = 'none opened: no forge of the workflow file is on the host of workspace.repo';
  logger.info('branch pushed', { ...factsOf(subject), branch, sha, merge_request: opener === null ? alone : undefined });
}

/** Nothing is pushed to a branch whose request is over, and no second one opened: that is for who ended it to ask for. */
export function tellOver(
  { logger, begun }: Pick<DeliveryDeps, 'logger' | 'begun'>,
  subject: WorkspaceSubject,
  over: OverRequest,
): null {
  const { number, url, end } = over;
  begun.settle(branchOf(subject.identifier), over);
  const remedy = end === 'closed' ? 'reopen the request where the work is to go on: it stays in the workspace' : undefined;
  logger.warn(`merge request ${end} meanwhile, nothing is pushed`, { ...factsOf(subject), number, url, remedy });
  return null;
}

/** Opens the request where there is none yet: looking first makes a repeated delivery harmless. */
async function propose(
  deps: DeliveryDeps,
  workspace: string,
  subject: WorkspaceSubject,
  published: Published,
  signal: AbortSignal,
): Promise<ScmRecord | null> {
  const { opener, project, clock } = deps;
  if (opener === null) return null;
  const { branch, base, sha } = published;
  const request = await retryDelivery(deps, signal, () => findOrOpen({ ...deps, opener }, subject, { branch, base }, signal));
  const record = { branch, sha, pushedAt: new Date(clock.now()).toISOString(), prNumber: request.number, ...project };
  crashPoint('before writing scm.json');
  await writeRecord(workspace, record);
  crashPoint('after writing scm.json');
  return record;
}

type RequestDeps = Pick<DeliveryDeps, 'project' | 'logger' | 'begun' | 'repository'> & { readonly opener: RequestFinder };

/** The open request of the branch, and a new one where there is none. */
export async function findOrOpen(
  deps: RequestDeps,
  subject: WorkspaceSubject,
  published: Pick<Published, 'branch' | 'base'>,
  signal: AbortSignal,
): Promise<OpenRequest> {
  const { branch } = published;
  const found = await deps.opener.find({ ...deps.project, branch }, signal);
  crashPoint(found === null ? 'before opening the request' : 'after finding the request');
  const request = found ?? (await open(deps, subject, published, signal));
  deps.begun.settle(branch, request);
  return request;
}

async function open(
  deps: RequestDeps,
  subject: WorkspaceSubject,
  { branch, base }: Pick<Published, 'branch' | 'base'>,
  signal: AbortSignal,
): Promise<OpenRequest> {
  const { opener, project, logger } = deps;
  const wanted = { ...project, branch, base, title: titleOf(subject), body: bodyOf(subject) };
  let opened: OpenRequest;
  try {
    opened = await opener.open(wanted, signal);
  } catch (error) {
    // Refused because there is one: the list ran behind.
    const there = isTaken(error) ? await opener.find({ ...project, branch }, signal) : null;
    if (there !== null) return there;
    if (isPassing(error)) throw error;
    const now = await baseNow(deps, signal);
    if (now === base) throw error;
    return open(deps, subject, { branch, base: now }, signal);
  }
  crashPoint('after opening the request');
  logger.info('merge request opened', { ...factsOf(subject), number: opened.number, url: opened.url });
  return opened;
}

/** Somebody may have renamed or deleted the base branch since the run began. */
async function baseNow({ repository }: RequestDeps, signal: AbortSignal): Promise<string> {
  await repository.refresh(signal);
  await baseCommit(repository, signal);
  return repository.baseBranch();
}

function isTaken(error: unknown): boolean {
  return error instanceof TrackerError && (error.status === 409 || error.status === 422);
}

/** Refused because there is one, which the list does not show yet. */
function saysThereIsOne(error: TrackerError): boolean {
  return isTaken(error) && /\bexists\b/i.test(error.detail);
}

/** Tries again what may heal within moments; what a person must settle is told at once. */
async function retryDelivery<T>(deps: DeliveryDeps, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const wait of [...(deps.retryDelaysMs ?? RETRY_DELAYS_MS), null]) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (wait === null || !isPassing(error)) throw deliveryErrorOf(error);
      await delay(Math.max(wait, askedMs(error)), undefined, { signal });
    }
  }
  throw new Error('unreachable');
}

function askedMs(error: unknown): number {
  return error instanceof TrackerError ? Math.min(error.retryAfterMs ?? 0, LONGEST_ASKED_MS) : 0;
}

function isPassing(error: unknown): boolean {
  // A lock that somebody holds, a server that stumbles: another session would cost more than another try.
  if (error instanceof WorkspaceError) return error.retryable;
  // What was asked for by a garbled answer may be done: it is looked for first.
  return error instanceof TrackerError && (error.retryable || error.isGarbled || saysThereIsOne(error));
}

function deliveryErrorOf(error: unknown): unknown {
  if (error instanceof GitRefusal) return new DeliveryError('push', error.detail, { retryable: error.retryable, cause: error });
  if (error instanceof TrackerError) {
    return new DeliveryError('merge request', error.message, { retryable: isPassing(error), cause: error });
  }
  return error;
}

/** For hooks and people who look into the workspace; what counts is the record itself. */
async function writeRecord(workspace: string, record: ScmRecord): Promise<void> {
  const { branch, sha, pushedAt: pushed_at, prNumber: pr_number, owner, repo } = record;
  const text = `${JSON.stringify({ branch, sha, pushed_at, pr_number, owner, repo })}\n`;
  const folder = path.join(workspace, DATA_FOLDER);
  if (!hasDirectory(folder)) return;
  const file = path.join(folder, 'scm.json');
  await removeIfThere(file);
  // Exclusive: a link put here meanwhile is not followed.
  await writeFile(file, text, { flag: 'wx' });
}

/** No word that has a forge close the issue by itself: that is the business of `merge_completion`. */
function bodyOf({ identifier }: WorkspaceSubject): string {
  return `Opened by Foray for issue ${identifier}.`;
}

function factsOf({ issueId, identifier }: WorkspaceSubject): { issue_id: string; issue_identifier: string } {
  return { issue_id: issueId, issue_identifier: identifier };
}
