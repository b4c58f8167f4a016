import type { ScmConnection } from '../../domain/model/settings.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { LabelEvent, MergeStatus, RequestKey, ScmAdapter } from '../../ports/scm.ts';
import { createBotLookup } from './bots.ts';
import { PAGE_SIZE } from './client.ts';
import type { Forge, Place } from './forge.ts';
import { factsOf, openForge, openRepo, openRequest, readMergeRequest } from './forge.ts';
import { readHeadPipeline } from './head-pipeline.ts';
import { checkMergeScope } from './merge-scope.ts';
import { trackerError } from './project.ts';
import { readBotComments, readPendingReviews, readReviewDecision } from './reviews.ts';
import { mergeabilityOf, toLabelEvents, toMergeStatus } from './scm-map.ts';
import { LABEL_EVENT } from './scm-schema.ts';
import { deleteBranch, merge, removeLabel } from './scm-writes.ts';
import { KIND, readScmSettings } from './settings.ts';

/** Merge requests. The configured project is not used: every call names its own. */
export function createScm(connection: ScmConnection, deps: ProviderDeps): ScmAdapter {
  const forge = openForge(readScmSettings(connection), deps);
  const bots = createBotLookup(forge.http);
  // Async, so that what is refused before any request rejects like everything else.
  const at = async (request: RequestKey): Promise<Place> => openRequest(forge, request);
  return {
    kind: KIND,
    readReviewDecision: async (request, signal) => readReviewDecision(await at(request), signal),
    readMergeStatus: async (request, signal) => readMergeStatus(forge, await at(request), signal),
    readCiStatus: async (request, signal) => readHeadPipeline(forge, await at(request), signal),
    readPendingReviews: async (request, signal) => readPendingReviews(await at(request), bots, signal),
    readBotReviewComments: async (request, botUsernames, signal) =>
      readBotComments(await at(request), bots, botUsernames, signal),
    readLabelEvents: async (request, signal) => readLabelEvents(await at(request), signal),
    merge: async (request, order, signal) => merge(await at(request), order, signal),
    deleteBranch: async (repo, branch, signal) => deleteBranch(openRepo(forge, repo), branch, signal),
    removeLabel: async (request, label, signal) => removeLabel(await at(request), label, signal),
    checkMergeScope: (_, signal) => checkMergeScope(forge, signal),
  };
}

async function readMergeStatus(forge: Forge, place: Place, signal: AbortSignal): Promise<MergeStatus> {
  const wire = await readMergeRequest(place, signal);
  const status = wire.detailed_merge_status ?? '';
  if (!mergeabilityOf(status).recognized) {
    forge.warnOnce('merge status is unrecognized, taken for blocked', { ...factsOf(place), detailed_merge_status: status });
  }
  return toMergeStatus(wire);
}

async function readLabelEvents(place: Place, signal: AbortSignal): Promise<readonly LabelEvent[]> {
  const path = `${place.requestRoute}/resource_label_events`;
  const events = toLabelEvents(await place.http.getRecords(LABEL_EVENT, { path, query: { per_page: PAGE_SIZE } }, signal));
  if (!('unreadable' in events)) return events;
  const { id, created_at } = events.unreadable;
  const detail = `the time of label event ${id} is not RFC 3339: ${JSON.stringify((created_at ?? '').slice(0, 64))}`;
  throw trackerError(place, { kind: 'tracker_payload_error', method: 'GET', path, detail });
}
