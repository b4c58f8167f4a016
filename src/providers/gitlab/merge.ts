import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';
import { sameState } from '../../domain/model/issue.ts';
import { path } from '../../lib/http/index.ts';
import type { MergeOrder, MergeResult, MergeStatus, ScopeCheck } from '../../ports/scm.ts';
import { MERGE_STRATEGIES } from '../../domain/model/merge-request.ts';
import { whenMissing } from '../shared/failures.ts';
import { hasHeadMoved } from '../shared/head-moved.ts';
import { ANY_JSON } from './client.ts';
import { enterTrain, hasTrains, isOnTrain } from './merge-train.ts';
import type { Project } from './routes.ts';
import { trackerError } from './routes.ts';
import { TOKEN_SELF } from './schema.ts';
import { isMerged, mergeCommitOf, toMergeStatus } from './scm-map.ts';
import type { GitlabForge, RequestContext } from './scm-routes.ts';
import { factsOf, readMergeRequest, refuseUnsendable } from './scm-routes.ts';
import { BRANCH, MERGE_REQUEST } from './scm-schema.ts';
import { KIND } from './settings.ts';

/** Merges if the head still is what was judged. The remote compares, so that a push in between is never merged unseen. */
export async function merge(context: RequestContext, order: MergeOrder, signal: AbortSignal): Promise<MergeResult> {
  const route = `${context.requestRoute}/merge`;
  refuseOrder(context, order, route);
  if (order.strategy === 'rebase') {
    const facts = { tracker_kind: KIND, ...factsOf(context) };
    context.logger.warn('rebase is a setting of the project, the merge request is merged as the project has it', facts);
  }
  // A request marked for squashing stays so whatever is sent, hence nothing is sent for the other strategies.
  const body = { sha: order.expectedSha, ...(order.strategy === 'squash' && { squash: true }) };
  // GitLab API, "Merge requests API": merging one.
  const answer = await context.http
    .sendJson('PUT', MERGE_REQUEST, { path: route, body }, signal)
    .catch(async (error: unknown) => {
      throw await refusalOf(context, order, error, signal);
    });
  if (isMerged(answer)) return { mergeCommitSha: mergeCommitOf(answer) };
  // Such as `locked`, while the remote merges.
  const detail = `${nameOf(context)} was not merged, its state is ${JSON.stringify(answer.state ?? null)}`;
  throw new ScmConflictError(detail, { isUnsure: true });
}

/** Enters the merge train where the project has them; false where it has none. */
export async function enqueue(context: RequestContext, order: MergeOrder, signal: AbortSignal): Promise<boolean> {
  refuseOrder(context, order, context.requestRoute);
  if (!(await hasTrains(context, signal))) return false;
  const body = { sha: order.expectedSha, ...(order.strategy === 'squash' && { squash: true }) };
  await enterTrain(context, body, signal).catch(async (error: unknown) => {
    if (!(await hasEntered(context, error, signal))) throw await refusalOf(context, order, error, signal);
  });
  return true;
}

/**
 * It may be on the train all the same: by this try, whose answer was lost, or by one before. Where that cannot be read, it is
 * not. What was pushed meanwhile (409) is on no train.
 */
async function hasEntered(context: RequestContext, error: unknown, signal: AbortSignal): Promise<boolean> {
  if (!(error instanceof TrackerError) || error.isLimit || error.kind === 'tracker_auth_error' || error.status === 409)
    return false;
  try {
    return await isOnTrain(context, signal);
  } catch (unread) {
    if (!(unread instanceof TrackerError)) throw unread;
    return false;
  }
}

function refuseOrder(context: RequestContext, { strategy, expectedSha }: MergeOrder, route: string): void {
  const known: readonly string[] = MERGE_STRATEGIES;
  const fault = !known.includes(strategy)
    ? `${JSON.stringify(strategy)} is not a merge strategy: ${known.join(', ')}`
    : expectedSha.trim() === ''
      ? 'the expected head commit is missing, and nothing is merged without it'
      : undefined;
  if (fault) throw trackerError(context, { kind: 'tracker_payload_error', method: 'PUT', path: route, detail: fault });
}

/** The answers of the merge route that mean something else than they do elsewhere. */
async function refusalOf(context: RequestContext, order: MergeOrder, error: unknown, signal: AbortSignal): Promise<unknown> {
  if (!(error instanceof TrackerError)) return error;
  const { status, detail } = error;
  if (status === 405 || status === 409) {
    const now = await lookAgain(context, signal);
    const alreadyMerged = now?.merged === true;
    const why = `${nameOf(context)} was not merged: ${detail}${alreadyMerged ? '; somebody else merged it already' : ''}`;
    return new ScmConflictError(why, { alreadyMerged, headMoved: hasHeadMoved(now, order), isUnsure: now === null });
  }
  if (status === 401 || status === 403) return withBothCauses(context, error);
  return error;
}

// The refusal never says "already merged", so only another look can tell. When that fails too, nothing is claimed: null.
async function lookAgain(context: RequestContext, signal: AbortSignal): Promise<MergeStatus | null> {
  try {
    return toMergeStatus(await readMergeRequest(context, signal));
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    const facts = { tracker_kind: KIND, ...factsOf(context), error: error.message };
    context.logger.warn('merge request could not be read again after a refused merge', facts);
    return null;
  }
}

// Branch protection answers 401 on this route, as an invalid credential does everywhere.
function withBothCauses(context: RequestContext, error: TrackerError): TrackerError {
  const causes =
    "either branch protection keeps the token's user from merging into the target branch, or the credential is invalid, expired or without the scope api";
  return trackerError(context, {
    kind: 'tracker_auth_error',
    status: error.status,
    method: 'PUT',
    path: `${context.requestRoute}/merge`,
    detail: `${error.detail}; ${causes}`,
    cause: error,
  });
}

function nameOf({ name, number }: RequestContext): string {
  return `merge request !${number} of ${name}`;
}

/** Null where there is no such branch. */
export async function branchHead(project: Project, branch: string, signal: AbortSignal): Promise<string | null> {
  refuseUnsendable(project, branch, { method: 'GET', what: 'a branch' });
  const route = project.route + path`/repository/branches/${branch}`;
  // GitLab API, "Branches API": a single branch.
  const found = await whenMissing(project.http.getJson(BRANCH, { path: route }, signal), null);
  return found?.commit.id ?? null;
}

export async function deleteBranch(project: Project, branch: string, signal: AbortSignal): Promise<void> {
  refuseUnsendable(project, branch, { method: 'DELETE', what: 'a branch' });
  const route = project.route + path`/repository/branches/${branch}`;
  // GitLab API, "Branches API": deleting a branch.
  await whenMissing(project.http.send('DELETE', { path: route }, signal), undefined);
}

/** Takes every spelling of the label off in one update. */
export async function removeLabel(context: RequestContext, label: string, signal: AbortSignal): Promise<void> {
  if (label.trim() === '') return;
  const request = await whenMissing(readMergeRequest(context, signal), undefined);
  const variants = (request?.labels ?? []).filter((name) => sameState(name, label));
  if (variants.length === 0) return;
  const body = { remove_labels: variants.join(',') };
  // GitLab API, "Merge requests API": update of a merge request.
  await whenMissing(context.http.sendJson('PUT', ANY_JSON, { path: context.requestRoute, body }, signal), undefined);
}

/** Whether the token may merge. Older servers lack the route and some tokens its scopes, so only a plain "no" counts against it. */
export async function checkMergeScope({ http, logger }: GitlabForge, block: string, signal: AbortSignal): Promise<ScopeCheck> {
  try {
    // GitLab API, "Personal access tokens API": the token itself.
    const { scopes } = await http.getJson(TOKEN_SELF, { path: '/personal_access_tokens/self' }, signal);
    return judgeScopes(scopes ?? [], block);
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    logger.debug('token scopes could not be read', { tracker_kind: KIND, error: error.message });
    return { mayMerge: 'unknown', detail: `the scopes of the token could not be read: ${error.detail}` };
  }
}

/** `block` is where the key stands in the workflow file. */
export function judgeScopes(scopes: readonly string[], block: string): ScopeCheck {
  if (scopes.includes('api')) return { mayMerge: 'yes', detail: 'the token has the scope api' };
  if (scopes.length === 0) return { mayMerge: 'unknown', detail: 'the token names no scopes' };
  if (scopes.length === 1 && scopes[0] === 'granular') {
    return { mayMerge: 'unknown', detail: 'the token has granular permissions, which cannot be read' };
  }
  const detail = `the token has no scope api (only ${scopes.join(', ')}), so it cannot merge: give ${block}.api_key one that has`;
  return { mayMerge: 'no', detail };
}
