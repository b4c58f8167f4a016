import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';
import { sameState } from '../../domain/model/issue.ts';
import { path } from '../../lib/http/index.ts';
import type { MergeOrder, MergeResult } from '../../ports/scm.ts';
import { MERGE_STRATEGIES } from '../../ports/scm.ts';
import { whenMissing } from '../shared/failures.ts';
import { ANY_JSON } from './client.ts';
import type { Place } from './forge.ts';
import { factsOf, readMergeRequest, refuseUnsendable } from './forge.ts';
import type { Project } from './project.ts';
import { trackerError } from './project.ts';
import { isMerged, mergeCommitOf } from './scm-map.ts';
import { MERGE_REQUEST } from './scm-schema.ts';
import { KIND } from './settings.ts';

/** Merges if the head still is what was judged. The remote compares, so that a push in between is never merged unseen. */
export async function merge(place: Place, order: MergeOrder, signal: AbortSignal): Promise<MergeResult> {
  const route = `${place.requestRoute}/merge`;
  refuseOrder(place, order, route);
  if (order.strategy === 'rebase') {
    const facts = { tracker_kind: KIND, ...factsOf(place) };
    place.logger.warn('rebase is a setting of the project, the merge request is merged as the project has it', facts);
  }
  // A request marked for squashing stays so whatever is sent, hence nothing is sent for the other strategies.
  const body = { sha: order.expectedSha, ...(order.strategy === 'squash' && { squash: true }) };
  const answer = await place.http.sendJson('PUT', MERGE_REQUEST, { path: route, body }, signal).catch(async (error: unknown) => {
    throw await refusalOf(place, error, signal);
  });
  if (isMerged(answer)) return { mergeCommitSha: mergeCommitOf(answer) };
  throw new ScmConflictError(`${nameOf(place)} was not merged, its state is ${JSON.stringify(answer.state ?? null)}`, false);
}

function refuseOrder(place: Place, { strategy, expectedSha }: MergeOrder, route: string): void {
  const known: readonly string[] = MERGE_STRATEGIES;
  const fault = !known.includes(strategy)
    ? `${JSON.stringify(strategy)} is not a merge strategy: ${known.join(', ')}`
    : expectedSha.trim() === ''
      ? 'the expected head commit is missing, and nothing is merged without it'
      : undefined;
  if (fault) throw trackerError(place, { kind: 'tracker_payload_error', method: 'PUT', path: route, detail: fault });
}

/** The answers of the merge route that mean something else than they do elsewhere. */
async function refusalOf(place: Place, error: unknown, signal: AbortSignal): Promise<unknown> {
  if (!(error instanceof TrackerError)) return error;
  const { status, detail } = error;
  if (status === 405 || status === 409) {
    const merged = await isMergedByNow(place, signal);
    const why = `${nameOf(place)} was not merged: ${detail}${merged ? '; somebody else merged it already' : ''}`;
    return new ScmConflictError(why, merged);
  }
  if (status === 401 || status === 403) return withBothCauses(place, error);
  return error;
}

// The refusal never says "already merged", so only another look can tell. When that fails too, nothing is claimed.
async function isMergedByNow(place: Place, signal: AbortSignal): Promise<boolean> {
  try {
    return isMerged(await readMergeRequest(place, signal));
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    const facts = { tracker_kind: KIND, ...factsOf(place), error: error.message };
    place.logger.warn('merge request could not be read again after a refused merge', facts);
    return false;
  }
}

// Branch protection answers 401 on this route, as an invalid credential does everywhere.
function withBothCauses(place: Place, error: TrackerError): TrackerError {
  const causes =
    "either branch protection keeps the token's user from merging into the target branch, or the credential is invalid, expired or without the scope api";
  return trackerError(place, {
    kind: 'tracker_auth_error',
    status: error.status,
    method: 'PUT',
    path: `${place.requestRoute}/merge`,
    detail: `${error.detail}; ${causes}`,
    cause: error,
  });
}

function nameOf({ name, number }: Place): string {
  return `merge request !${number} of ${name}`;
}

export async function deleteBranch(project: Project, branch: string, signal: AbortSignal): Promise<void> {
  refuseUnsendable(project, branch, { method: 'DELETE', what: 'a branch' });
  const route = project.route + path`/repository/branches/${branch}`;
  await whenMissing(project.http.send('DELETE', { path: route }, signal), undefined);
}

/** Takes every spelling of the label off in one update. */
export async function removeLabel(place: Place, label: string, signal: AbortSignal): Promise<void> {
  if (label.trim() === '') return;
  const request = await whenMissing(readMergeRequest(place, signal), undefined);
  const variants = (request?.labels ?? []).filter((name) => sameState(name, label));
  if (variants.length === 0) return;
  const body = { remove_labels: variants.join(',') };
  await whenMissing(place.http.sendJson('PUT', ANY_JSON, { path: place.requestRoute, body }, signal), undefined);
}
