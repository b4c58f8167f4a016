import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';
import type { MergeOrder, MergeResult, MergeStatus, RequestKey } from '../../ports/scm.ts';
import { MERGE_STRATEGIES } from '../../domain/model/merge-request.ts';
import { hasHeadMoved } from '../shared/head-moved.ts';
import type { Method, TrackerHttp } from '../shared/http.ts';
import { pullPath } from './client.ts';
import type { PullContext } from './scm-routes.ts';
import { readMergeStatus } from './scm-routes.ts';

/** The answers with which the remote refuses a merge: not in a state to be merged, and a head that moved on. */
const REFUSED: readonly number[] = [405, 409];

/** The remote tells nothing of the commit it makes. */
const DONE: MergeResult = { mergeCommitSha: '' };

/**
 * Merges a request whose head is as expected. After a refusal the request is read again: somebody may have merged it
 * meanwhile, and a 409 whose head is the expected one after all was a race with something else and is tried once more.
 */
export async function merge(
  context: PullContext,
  request: RequestKey,
  order: MergeOrder,
  signal: AbortSignal,
): Promise<MergeResult> {
  const route = `${pullPath(request)}/merge`;
  checkOrder(order, route);
  const post = () => tryMerge(context.http, route, order, signal);
  const readAgain = () => readable(readMergeStatus(context, request, signal));

  const refusal = await post();
  if (refusal === null) return DONE;
  const now = await readAgain();
  if (refusal.status !== 409 || !isAsExpected(now, order)) throw conflictOf(request, order, refusal, now);
  const second = await post();
  if (second === null) return DONE;
  throw conflictOf(request, order, second, await readAgain());
}

/** A refusal for want of a scope, in words that name it: the remote has no other way to tell what a token may do. */
export function namingScope(error: unknown, method: Method, route: string): unknown {
  if (!(error instanceof TrackerError) || error.status !== 403 || !/scope/i.test(error.detail)) return error;
  const said = error.detail.replace(/^status 403:? ?/, '');
  const detail = `status 403: the token needs the scope write:repository to merge and to delete branches (the remote says: ${said})`;
  return new TrackerError({ kind: 'tracker_auth_error', method, path: route, detail, status: 403, cause: error });
}

function checkOrder({ strategy, expectedSha }: MergeOrder, route: string): void {
  const place = { kind: 'tracker_payload_error', method: 'POST', path: route } as const;
  if (!MERGE_STRATEGIES.includes(strategy)) {
    const detail = `not sent: ${JSON.stringify(strategy)} is no merge strategy, use one of ${MERGE_STRATEGIES.join(', ')}`;
    throw new TrackerError({ ...place, detail });
  }
  if (typeof expectedSha !== 'string' || expectedSha.trim() === '') {
    throw new TrackerError({ ...place, detail: 'not sent: a merge needs the SHA of the head that is expected' });
  }
}

interface Refusal {
  readonly status: number;
  readonly detail: string;
}

/** Null once merged. */
async function tryMerge(
  http: TrackerHttp,
  route: string,
  { strategy, expectedSha }: MergeOrder,
  signal: AbortSignal,
): Promise<Refusal | null> {
  try {
    // Gitea API, "Merge a pull request".
    const { status } = await http.send('POST', { path: route, body: { Do: strategy, head_commit_id: expectedSha } }, signal);
    // 201 is a merge put off until its checks succeed, which nobody asked for.
    return status === 200 ? null : { status, detail: `status ${status}: accepted, but not merged` };
  } catch (error) {
    if (error instanceof TrackerError && REFUSED.includes(error.status ?? 0)) {
      return { status: error.status ?? 0, detail: error.detail };
    }
    throw namingScope(error, 'POST', route);
  }
}

// A request that cannot be read again leaves the refusal as it is.
async function readable(status: Promise<MergeStatus>): Promise<MergeStatus | null> {
  try {
    return await status;
  } catch (error) {
    if (error instanceof TrackerError) return null;
    throw error;
  }
}

function isAsExpected(now: MergeStatus | null, { expectedSha }: MergeOrder): boolean {
  return now !== null && !now.merged && !now.closed && now.headSha.toLowerCase() === expectedSha.toLowerCase();
}

/** What the remote says while it still checks whether a request can be merged, such as right after a refusal. */
const BUSY = /please try again later/i;

function conflictOf(request: RequestKey, order: MergeOrder, refusal: Refusal, now: MergeStatus | null): ScmConflictError {
  const place = `${request.owner}/${request.repo}#${request.number}`;
  const detail = `merge of ${place} refused: ${refusal.detail}; ${situationOf(now, order)}`;
  const isBusy = refusal.status === 405 && BUSY.test(refusal.detail) && isAsExpected(now, order);
  // A success of another kind is an order that was taken.
  const isUnsure = now === null || refusal.status < 300;
  const headMoved = hasHeadMoved(now, order);
  return new ScmConflictError(detail, { alreadyMerged: now?.merged === true, isBusy, headMoved, isUnsure });
}

function situationOf(now: MergeStatus | null, order: MergeOrder): string {
  if (now === null) return 'it could not be read again';
  if (now.merged) return 'it is merged already';
  if (now.closed) return 'it is closed';
  if (!isAsExpected(now, order)) return `its head is ${now.headSha || 'not told'}, expected was ${order.expectedSha}`;
  return now.draft ? 'it is a draft' : 'it is open and its head is the expected one';
}
