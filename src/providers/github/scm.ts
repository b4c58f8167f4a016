import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';
import type { ScmConnection, Trust } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';
import type {
  CiConclusion,
  MergeOrder,
  MergeResult,
  MergeStatus,
  RequestKey,
  ReviewComment,
  ReviewDecision,
  ScmAdapter,
} from '../../ports/scm.ts';
import { MERGE_STRATEGIES } from '../../domain/model/merge-request.ts';
import { createClient } from './client.ts';
import { createCommitChecks, type ReadCommitChecks } from './commit-status.ts';
import { createGraphClient, createPullFacts, readViewer, type ReadPullFacts } from './graphql.ts';
import { createPullGraph, type PullGraph, type PullQueue } from './pull-graph.ts';
import { readLabelJournal } from './label-events.ts';
import { isMerged, toMergeStatus, MERGEABLE_STATES } from './scm-map.ts';
import { createPullRoutes, issuePath, type PullRoutes, pullPath } from './scm-routes.ts';
import { botComments, DECISIONS, foldDecision, isTrustedReviewer, objections, reviewComments, type Counting } from './scm-map.ts';
import type { WireReviewComment } from './scm-schema.ts';
import { scmRemedies } from './scm-routes.ts';
import { checkMergeScope } from './scm-routes.ts';
import { KIND, readScmSettings } from './settings.ts';
import type { TrackerHttp } from '../shared/http.ts';

/** Pull requests of any repository the token may see. Makes no request. */
export function createScm(connection: ScmConnection, deps: ProviderDeps): ScmAdapter {
  const { logger } = deps;
  const access = readScmSettings(connection);
  const http = createClient(access, deps, { remedies: scmRemedies(connection) });
  const graphql = createGraphClient(access, deps, scmRemedies(connection));
  const context: Context = {
    routes: createPullRoutes(http),
    readFacts: createPullFacts(graphql),
    graph: createPullGraph(graphql),
    readChecks: createCommitChecks(http, logger),
    warnOnce: onceEach(logger),
  };
  return {
    kind: KIND,
    readReviewDecision: (request, votes, signal, own = '') => reviewDecision(context, request, { votes, own }, signal),
    readMergeStatus: (request, signal) => mergeStatus(context, request, signal),
    readCiStatus: (request, signal) => ciStatus(context, request, signal),
    readPendingReviews: (request, trust, signal) => pendingReviews(context, request, trust, signal),
    readBotReviewComments: (request, botUsernames, signal) => botReviewComments(context, request, botUsernames, signal),
    readLabelEvents: async (request, signal) => readLabelJournal(http, `${issuePath(request)}/events`, logger, signal),
    readOwnAccount: (signal) => ownAccount(context, graphql, signal),
    readDefaultBranch: context.routes.defaultBranch,
    readBranchHead: context.routes.branchHead,
    isQueued: async (request, signal) => (await context.graph.readQueue(request, signal)).isQueued,
    enqueue: (request, order, signal) => enqueue(context, request, order, signal),
    merge: (request, order, signal) => merge(context, request, order, signal),
    deleteBranch: context.routes.deleteBranch,
    removeLabel: context.routes.removeLabel,
    checkMergeScope: (_repo, signal) => checkMergeScope(http, signal),
  };
}

/** The answers to a token that may not ask the REST side for its own account, such as that of an app's installation. */
const NOT_FOR_IT: readonly (number | undefined)[] = [403, 404];

async function ownAccount({ routes }: Context, graphql: TrackerHttp, signal: AbortSignal): Promise<string> {
  try {
    return await routes.ownAccount(signal);
  } catch (error) {
    if (!(error instanceof TrackerError) || !NOT_FOR_IT.includes(error.status)) throw error;
    return readViewer(graphql, signal).catch(() => Promise.reject(error));
  }
}

/** What the operations share. */
interface Context {
  readonly routes: PullRoutes;
  readonly readFacts: ReadPullFacts;
  readonly graph: PullGraph;
  readonly readChecks: ReadCommitChecks;
  readonly warnOnce: (message: string, request: RequestKey, fact: string) => void;
}

async function reviewDecision(
  context: Context,
  request: RequestKey,
  counting: Counting,
  signal: AbortSignal,
): Promise<ReviewDecision> {
  const { routes, warnOnce } = context;
  // Checked before the first request, which names no path.
  issuePath(request);
  const told = await toldDecision(context, request, signal);
  if (!DECISIONS.has(told)) warnOnce('review decision is not known, a review is waited for', request, told);
  // No vote can make more of it than the remote does.
  if (told === 'REVIEW_REQUIRED') return told;
  const reviews = await routes.reviews(request, signal);
  return foldDecision(told, await routes.pull(request, signal), reviews, counting);
}

/** Where the remote has no GraphQL side, the reviews decide, and its own rules by what it calls mergeable. */
async function toldDecision({ readFacts, warnOnce }: Context, request: RequestKey, signal: AbortSignal): Promise<string> {
  try {
    return (await readFacts(request, signal)).reviewDecision.toUpperCase();
  } catch (error) {
    if (!(error instanceof TrackerError) || error.status !== 404) throw error;
    warnOnce('the review decision of the remote could not be read, the reviews decide', request, error.message);
    return '';
  }
}

async function mergeStatus(context: Context, request: RequestKey, signal: AbortSignal): Promise<MergeStatus> {
  const pull = await context.routes.freshPull(request, signal);
  if (!MERGEABLE_STATES.has(pull.mergeable_state.toLowerCase())) {
    context.warnOnce('mergeable state is not known, the pull request counts as blocked', request, pull.mergeable_state);
  }
  const needsCommit = isMerged(pull) && pull.merge_commit_sha === '';
  return toMergeStatus(pull, needsCommit ? await mergeCommit(context, request, signal) : pull.merge_commit_sha);
}

// That it is merged counts also without the commit.
async function mergeCommit({ readFacts, warnOnce }: Context, request: RequestKey, signal: AbortSignal): Promise<string> {
  try {
    return (await readFacts(request, signal)).mergeCommitSha;
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    warnOnce('merge commit could not be read', request, error.message);
    return '';
  }
}

async function ciStatus({ routes, readChecks }: Context, request: RequestKey, signal: AbortSignal): Promise<CiConclusion> {
  const { head } = await routes.pull(request, signal);
  const { checks, status } = await readChecks(request, head.sha, signal);
  return checks.length === 0 ? '' : status;
}

async function pendingReviews(
  context: Context,
  request: RequestKey,
  trust: Trust,
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const reviews = objections(
    (await context.routes.reviews(request, signal)).filter((review) => isTrustedReviewer(review, trust)),
  );
  if (reviews.length === 0) return [];
  return reviewComments(
    reviews,
    (await openComments(context, request, signal)).filter((comment) => isTrustedReviewer(comment, trust)),
  );
}

/** The comments on lines whose conversation nobody has settled. Where that cannot be read, all of them. */
async function openComments(context: Context, request: RequestKey, signal: AbortSignal): Promise<readonly WireReviewComment[]> {
  const comments = await context.routes.comments(request, signal);
  if (comments.length === 0) return [];
  try {
    const resolved = await context.graph.readResolved(request, signal);
    return comments.filter(({ id }) => !resolved.has(id));
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    context.warnOnce('which conversations are resolved could not be read, all comments count', request, error.message);
    return comments;
  }
}

async function botReviewComments(
  context: Context,
  request: RequestKey,
  botUsernames: readonly string[],
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const reviews = await context.routes.reviews(request, signal);
  return botComments(reviews, await openComments(context, request, signal), botUsernames);
}

/** The answers to a merge that say no without saying why. */
const REFUSALS: readonly (number | undefined)[] = [405, 409];

async function merge(context: Context, request: RequestKey, order: MergeOrder, signal: AbortSignal): Promise<MergeResult> {
  checkOrder(request, order);
  try {
    const { merged, sha, message } = await context.routes.merge(request, order, signal);
    if (merged) return { mergeCommitSha: sha };
    const detail = `${nameOf(request)} was not merged: ${message || 'no reason was given'}`;
    throw new ScmConflictError(detail, false, { isUnsure: true });
  } catch (error) {
    if (!(error instanceof TrackerError) || !REFUSALS.includes(error.status)) throw error;
    const merged = await isMergedNow(context, request, signal);
    const why = merged === true ? 'somebody else merged it before' : error.detail;
    throw new ScmConflictError(`${nameOf(request)} was not merged: ${why}`, merged === true, { isUnsure: merged === null });
  }
}

/** The base branch's merge queue; null where it has none, or where the remote knows of no such thing. */
async function queueOf({ graph, warnOnce }: Context, request: RequestKey, signal: AbortSignal): Promise<PullQueue | null> {
  try {
    const queue = await graph.readQueue(request, signal);
    return queue.isEnabled ? queue : null;
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    warnOnce('whether there is a merge queue could not be read, the request is merged without', request, error.message);
    return null;
  }
}

async function enqueue(context: Context, request: RequestKey, order: MergeOrder, signal: AbortSignal): Promise<boolean> {
  checkOrder(request, order);
  issuePath(request);
  const queue = await queueOf(context, request, signal);
  if (queue === null) return false;
  try {
    if (!queue.isQueued) await context.graph.enqueue(queue.pullId, order.expectedSha, signal);
    return true;
  } catch (error) {
    if (!(error instanceof TrackerError) || error.kind !== 'tracker_api_error') throw error;
    throw new ScmConflictError(`${nameOf(request)} was not put into the merge queue: ${error.detail}`, false);
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
async function isMergedNow({ routes, warnOnce }: Context, request: RequestKey, signal: AbortSignal): Promise<boolean | null> {
  try {
    return isMerged(await routes.freshPull(request, signal));
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    warnOnce('refused merge could not be looked at again', request, error.message);
    return null;
  }
}

function nameOf({ owner, repo, number }: RequestKey): string {
  return `${owner}/${repo}#${number}`;
}

/** A poll repeats, its warnings do not. */
function onceEach(logger: Logger): Context['warnOnce'] {
  const reported = new Set<string>();
  return (message, request, fact) => {
    const place = nameOf(request);
    const key = `${message} ${place} ${fact}`;
    if (reported.has(key)) return;
    if (reported.size >= 1000) reported.clear();
    reported.add(key);
    logger.warn(message, { tracker_kind: KIND, pull_request: place, value: fact });
  };
}
