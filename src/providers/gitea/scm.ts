import type { ScmConnection } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { CiConclusion, RequestKey, ScmAdapter } from '../../ports/scm.ts';
import { aggregate } from '../shared/ci-aggregate.ts';
import { branchHead, deleteBranch } from './branches.ts';
import { createClient, createCounts, pageReader, payloadError, pullPath } from './client.ts';
import { createStatusReader, toCheckRun } from './commit-status.ts';
import { readLabelEvents } from './label-events.ts';
import { merge } from './merge.ts';
import { readBotReviewComments, readPendingReviews, readReviewDecision } from './reviews.ts';
import type { PullContext } from './scm-routes.ts';
import { checkMergeScope, readMergeStatus, readPull, removeLabel } from './scm-routes.ts';
import { ACCOUNT, DEFAULT_BRANCH } from './scm-schema.ts';
import { KIND, readScmSettings } from './settings.ts';

/** Pull requests of one instance; their repositories come with each call. */
export function createScm(connection: ScmConnection, deps: ProviderDeps): ScmAdapter {
  const http = createClient(readScmSettings(connection), deps);
  const reader = pageReader(http, deps);
  const context: PullContext = { http, reader, statuses: createStatusReader(reader), inline: createCounts() };
  return {
    kind: KIND,
    readReviewDecision: (request, votes, signal, own = '') => readReviewDecision(context, request, { votes, own }, signal),
    readMergeStatus: (request, signal) => readMergeStatus(context, request, signal),
    readCiStatus: (request, signal) => readCiStatus(context, request, signal),
    readPendingReviews: (request, trust, signal) => readPendingReviews(context, request, trust, signal),
    readBotReviewComments: (request, botUsernames, signal) => readBotReviewComments(context, request, botUsernames, signal),
    readLabelEvents: (request, signal) => readLabelEvents(context, request, signal),
    // Gitea API, "Get the authenticated user".
    readOwnAccount: async (signal) => (await http.getJson(ACCOUNT, { path: '/user' }, signal)).login,
    // Gitea API, "Get a repository".
    readDefaultBranch: async ({ owner, repo }, signal) =>
      (await http.getJson(DEFAULT_BRANCH, { path: path`/repos/${owner}/${repo}` }, signal)).default_branch ?? '',
    readBranchHead: (repo, branch, signal) => branchHead(http, repo, branch, signal),
    // The remote has no merge queue.
    isQueued: () => Promise.resolve(false),
    enqueue: () => Promise.resolve(false),
    merge: (request, order, signal) => merge(context, request, order, signal),
    deleteBranch: (repo, branch, signal) => deleteBranch(http, repo, branch, signal),
    removeLabel: (request, label, signal) => removeLabel(reader, request, label, signal),
    checkMergeScope: (repo, signal) => checkMergeScope(http, repo, signal),
  };
}

/** The merge gate: no statuses at all is no obstacle. */
async function readCiStatus(context: PullContext, request: RequestKey, signal: AbortSignal): Promise<CiConclusion> {
  const { head } = await readPull(context, request, signal);
  if (!head?.sha) throw payloadError('GET', pullPath(request), 'the pull request names no head commit');
  const runs = (await context.statuses.read(request, head.sha, signal)).map(toCheckRun);
  return runs.length === 0 ? '' : aggregate(runs).status;
}
