import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';
import { MERGE_STRATEGIES } from '../../domain/model/merge-request.ts';
import type { MergeOrder, MergeResult, MergeStatus, RequestKey } from '../../ports/scm.ts';
import { hasHeadMoved } from '../shared/head-moved.ts';
import { queueUnread } from '../shared/queue-unread.ts';
import { nameOf, type PullContext } from './pull-context.ts';
import type { PullQueue } from './pull-graph.ts';
import { toMergeStatus } from './scm-map.ts';
import { issuePath, pullPath } from './scm-routes.ts';

/** The answers to a merge that say no without saying why. */
const REFUSALS: readonly (number | undefined)[] = [405, 409];

export async function merge(
  context: PullContext,
  request: RequestKey,
  order: MergeOrder,
  signal: AbortSignal,
): Promise<MergeResult> {
  checkOrder(request, order);
  try {
    const { merged, sha, message } = await context.routes.merge(request, order, signal);
    if (merged) return { mergeCommitSha: sha };
    const detail = `${nameOf(request)} was not merged: ${context.mask(message) || 'no reason was given'}`;
    throw new ScmConflictError(detail, { isUnsure: true });
  } catch (error) {
    if (!(error instanceof TrackerError) || !REFUSALS.includes(error.status)) throw error;
    const now = await lookAgain(context, request, signal);
    const alreadyMerged = now?.merged === true;
    const why = alreadyMerged ? 'somebody else merged it before' : error.detail;
    throw new ScmConflictError(`${nameOf(request)} was not merged: ${why}`, {
      alreadyMerged,
      headMoved: hasHeadMoved(now, order),
      isUnsure: now === null,
    });
  }
}

/** The base branch's merge queue; null where it has none, or where the remote knows of no such thing. */
async function queueOf({ graph, warnOnce }: PullContext, request: RequestKey, signal: AbortSignal): Promise<PullQueue | null> {
  try {
    const queue = await graph.readQueue(request, signal);
    return queue.isEnabled ? queue : null;
  } catch (error) {
    // Any other failure says nothing of the queue, which the merge would go past.
    if (!(error instanceof TrackerError) || !saysThereIsNone(error))
      throw queueUnread('whether the base branch has a merge queue', error);
    warnOnce('whether there is a merge queue could not be read, the request is merged without', request, error.message);
    return null;
  }
}

/** Queues may not be seen by this token, or the release is older than they are. */
function saysThereIsNone({ kind, status, detail }: TrackerError): boolean {
  const isHidden = kind === 'tracker_not_found' || (kind === 'tracker_auth_error' && status !== 401);
  return isHidden || UNKNOWN_FIELD.test(detail);
}

const UNKNOWN_FIELD = /\bField '\w+' doesn't exist on type\b/;

export async function enqueue(
  context: PullContext,
  request: RequestKey,
  order: MergeOrder,
  signal: AbortSignal,
): Promise<boolean> {
  checkOrder(request, order);
  issuePath(request);
  const queue = await queueOf(context, request, signal);
  if (queue === null) return false;
  try {
    if (!queue.isQueued) await context.graph.enqueue(queue.pullId, order.expectedSha, signal);
    return true;
  } catch (error) {
    if (!(error instanceof TrackerError) || error.kind !== 'tracker_api_error' || error.isLimit) throw error;
    const headMoved = hasHeadMoved(await lookAgain(context, request, signal), order);
    throw new ScmConflictError(`${nameOf(request)} was not put into the merge queue: ${error.detail}`, { headMoved });
  }
}

function checkOrder(request: RequestKey, { strategy, expectedSha }: MergeOrder): void {
  const known: readonly string[] = MERGE_STRATEGIES;
  const detail = !known.includes(strategy)
    ? `the strategy ${JSON.stringify(strategy)} is none of ${known.join(', ')}`
    : expectedSha.trim() === '' && 'the head that is expected is missing: it would merge whatever was pushed last';
  if (detail)
    throw new TrackerError({ kind: 'tracker_payload_error', method: 'PUT', path: `${pullPath(request)}/merge`, detail });
}

// A look that fails proves nothing: null.
async function lookAgain(
  { routes, warnOnce }: PullContext,
  request: RequestKey,
  signal: AbortSignal,
): Promise<MergeStatus | null> {
  try {
    return toMergeStatus(await routes.freshPull(request, signal), '');
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    warnOnce('refused merge could not be looked at again', request, error.message);
    return null;
  }
}
