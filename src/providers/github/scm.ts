import { TrackerError } from '../../domain/model/errors.ts';
import type { ScmConnection } from '../../domain/model/settings.ts';
import { createMask } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { CiConclusion, MergeStatus, RequestKey, ScmAdapter } from '../../ports/scm.ts';
import { readOwnLogin } from './account.ts';
import { createClient } from './client.ts';
import { createCommitChecks } from './commit-status.ts';
import { createGraphClient, createPullFacts } from './graphql.ts';
import { readLabelJournal } from './label-events.ts';
import { enqueue, merge } from './merge.ts';
import { onceEach, type PullContext } from './pull-context.ts';
import { createPullGraph } from './pull-graph.ts';
import { readBotReviewComments, readPendingReviews, readReviewDecision } from './reviews.ts';
import { isMerged, toMergeStatus, MERGEABLE_STATES } from './scm-map.ts';
import { checkMergeScope, createPullRoutes, issuePath, scmRemedies } from './scm-routes.ts';
import { KIND, readScmSettings } from './settings.ts';

/** Pull requests of any repository the token may see. Makes no request. */
export function createScm(connection: ScmConnection, deps: ProviderDeps): ScmAdapter {
  const { logger } = deps;
  const access = readScmSettings(connection);
  const http = createClient(access, deps, { remedies: scmRemedies(connection) });
  const graphql = createGraphClient(access, deps, scmRemedies(connection));
  const context: PullContext = {
    routes: createPullRoutes(http),
    readFacts: createPullFacts(graphql),
    graph: createPullGraph(graphql),
    readChecks: createCommitChecks(http, logger),
    mask: createMask([access.apiKey]),
    warnOnce: onceEach(logger),
  };
  return {
    kind: KIND,
    readReviewDecision: (request, votes, signal, own = '') => readReviewDecision(context, request, { votes, own }, signal),
    readMergeStatus: (request, signal) => readMergeStatus(context, request, signal),
    readCiStatus: (request, signal) => readCiStatus(context, request, signal),
    readPendingReviews: (request, trust, signal) => readPendingReviews(context, request, trust, signal),
    readBotReviewComments: (request, botUsernames, signal) => readBotReviewComments(context, request, botUsernames, signal),
    readLabelEvents: async (request, signal) => readLabelJournal(http, `${issuePath(request)}/events`, logger, signal),
    readOwnAccount: (signal) => readOwnLogin(http, graphql, signal),
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

async function readMergeStatus(context: PullContext, request: RequestKey, signal: AbortSignal): Promise<MergeStatus> {
  const pull = await context.routes.freshPull(request, signal);
  if (!MERGEABLE_STATES.has(pull.mergeable_state.toLowerCase())) {
    context.warnOnce('mergeable state is not known, the pull request counts as blocked', request, pull.mergeable_state);
  }
  const needsCommit = isMerged(pull) && pull.merge_commit_sha === '';
  return toMergeStatus(pull, needsCommit ? await mergeCommit(context, request, signal) : pull.merge_commit_sha);
}

// That it is merged counts also without the commit.
async function mergeCommit({ readFacts, warnOnce }: PullContext, request: RequestKey, signal: AbortSignal): Promise<string> {
  try {
    return (await readFacts(request, signal)).mergeCommitSha;
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    warnOnce('merge commit could not be read', request, error.message);
    return '';
  }
}

async function readCiStatus(
  { routes, readChecks }: PullContext,
  request: RequestKey,
  signal: AbortSignal,
): Promise<CiConclusion> {
  const { head } = await routes.pull(request, signal);
  const { checks, status } = await readChecks(request, head.sha, signal);
  return checks.length === 0 ? '' : status;
}
