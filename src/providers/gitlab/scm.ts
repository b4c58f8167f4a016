import type { ScmConnection } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { LabelEvent, MergeStatus, RequestKey, ScmAdapter } from '../../ports/scm.ts';
import { createBotLookup } from './reviews.ts';
import { KIND, readScmSettings, PAGE_SIZE } from './settings.ts';
import type { GitlabForge, RequestContext } from './scm-routes.ts';
import { factsOf, openForge, openRepo, openRequest, readMergeRequest } from './scm-routes.ts';
import { readHeadPipeline } from './head-pipeline.ts';
import { checkMergeScope } from './merge.ts';
import { trackerError } from './routes.ts';
import { readBotReviewComments, readPendingReviews, readReviewDecision } from './reviews.ts';
import { mergeabilityOf, toLabelEvents, toMergeStatus } from './scm-map.ts';
import { createTrust } from './members.ts';
import { ACCOUNT, LABEL_EVENT } from './scm-schema.ts';
import { isOnTrain, readProject } from './merge-train.ts';
import { branchHead, deleteBranch, enqueue, merge, removeLabel } from './merge.ts';

/** Merge requests. The configured project is not used: every call names its own. */
export function createScm(connection: ScmConnection, deps: ProviderDeps): ScmAdapter {
  const forge = openForge(readScmSettings(connection), deps);
  const bots = createBotLookup(forge.http);
  const trusted = createTrust(deps.clock);
  // Async, so that what is refused before any request rejects like everything else.
  const at = async (request: RequestKey): Promise<RequestContext> => openRequest(forge, request);
  return {
    kind: KIND,
    readReviewDecision: async (request, votes, signal, own = '') =>
      readReviewDecision(await at(request), { isTrusted: trusted(votes), own }, signal),
    readMergeStatus: async (request, signal) => readMergeStatus(forge, await at(request), signal),
    readCiStatus: async (request, signal) => readHeadPipeline(forge, await at(request), signal),
    readPendingReviews: async (request, trust, signal) =>
      readPendingReviews(await at(request), { bots, isTrusted: trusted(trust), warnOnce: forge.warnOnce }, signal),
    readBotReviewComments: async (request, botUsernames, signal) =>
      readBotReviewComments(await at(request), bots, botUsernames, signal),
    readLabelEvents: async (request, signal) => readLabelEvents(await at(request), signal),
    // GitLab API, "Users API": the current user.
    readOwnAccount: async (signal) => (await forge.http.getJson(ACCOUNT, { path: '/user' }, signal)).username,
    readBranchHead: async (repo, branch, signal) => branchHead(openRepo(forge, repo), branch, signal),
    readDefaultBranch: async (repo, signal) => (await readProject(openRepo(forge, repo), signal)).default_branch ?? '',
    isQueued: async (request, signal) => isOnTrain(await at(request), signal),
    enqueue: async (request, order, signal) => enqueue(await at(request), order, signal),
    merge: async (request, order, signal) => merge(await at(request), order, signal),
    deleteBranch: async (repo, branch, signal) => deleteBranch(openRepo(forge, repo), branch, signal),
    removeLabel: async (request, label, signal) => removeLabel(await at(request), label, signal),
    checkMergeScope: (_, signal) => checkMergeScope(forge, connection.name, signal),
  };
}

async function readMergeStatus(forge: GitlabForge, context: RequestContext, signal: AbortSignal): Promise<MergeStatus> {
  const wire = await readMergeRequest(context, signal);
  const status = wire.detailed_merge_status ?? '';
  if (!mergeabilityOf(status).recognized) {
    forge.warnOnce('merge status is unrecognized, taken for blocked', { ...factsOf(context), detailed_merge_status: status });
  }
  return toMergeStatus(wire);
}

async function readLabelEvents(context: RequestContext, signal: AbortSignal): Promise<readonly LabelEvent[]> {
  const path = `${context.requestRoute}/resource_label_events`;
  // GitLab API, "Resource label events API": merge requests.
  const events = toLabelEvents(await context.http.getRecords(LABEL_EVENT, { path, query: { per_page: PAGE_SIZE } }, signal));
  if (!('unreadable' in events)) return events;
  const { id, created_at } = events.unreadable;
  const detail = `the time of label event ${id} is not RFC 3339: ${JSON.stringify((created_at ?? '').slice(0, 64))}`;
  throw trackerError(context, { kind: 'tracker_payload_error', method: 'GET', path, detail });
}
