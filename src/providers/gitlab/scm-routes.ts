import type { LogAttributes } from '../../ports/runtime.ts';
import type { RepoKey, RequestKey } from '../../ports/scm.ts';
import type { TrackerHttpDeps } from '../shared/http.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { createIsNew } from '../shared/warn-once.ts';
import { createClient } from './client.ts';
import type { Project } from './routes.ts';
import { openProject, trackerError } from './routes.ts';
import type { WireMergeRequest } from './scm-schema.ts';
import { MERGE_REQUEST } from './scm-schema.ts';
import { KIND } from './settings.ts';

/** The remote as the merge-request and CI roles see it: its projects are named with every call. */
export interface GitlabForge extends Pick<Project, 'http' | 'logger'> {
  readonly baseUrl: string;
  /** Says the same thing only once: the reads are repeated with every look, their warnings are not. */
  warnOnce(message: string, facts: LogAttributes): void;
}

/** One merge request of one project. */
export interface RequestContext extends Project {
  readonly number: number;
  /** `/projects/<encoded once>/merge_requests/<number>`. */
  readonly requestRoute: string;
}

export function openForge(access: ApiAccess, deps: TrackerHttpDeps): GitlabForge {
  const { logger } = deps;
  const isNew = createIsNew();
  return {
    http: createClient(access, deps),
    logger,
    baseUrl: access.baseUrl,
    warnOnce: (message, facts) => {
      if (isNew(JSON.stringify([message, facts]))) logger.warn(message, { tracker_kind: KIND, ...facts });
    },
  };
}

/** Both halves together are the namespace path, wherever the groups between them were put. */
export function openRepo(forge: GitlabForge, { owner, repo }: RepoKey): Project {
  const name = `${owner}/${repo}`;
  if (owner.trim() !== '' && repo.trim() !== '' && isSendable(name)) return openProject(name, forge.baseUrl, forge);
  const nowhere = openProject('', forge.baseUrl, forge);
  const detail = `${JSON.stringify(name)} names no repository: owner and repo are both needed`;
  throw trackerError(nowhere, { kind: 'tracker_payload_error', method: 'GET', path: nowhere.route, detail });
}

export function openRequest(forge: GitlabForge, request: RequestKey): RequestContext {
  const project = openRepo(forge, request);
  const { number } = request;
  const route = `${project.route}/merge_requests`;
  if (Number.isSafeInteger(number) && number > 0) return { ...project, number, requestRoute: `${route}/${number}` };
  const detail = `${String(number)} is not the number of a merge request`;
  throw trackerError(project, { kind: 'tracker_payload_error', method: 'GET', path: route, detail });
}

/** Refuses what cannot stand in a route before any request: half of a surrogate pair has no percent-encoded form. */
export function refuseUnsendable(project: Project, value: string, { method, what }: { method: string; what: string }): void {
  if (isSendable(value)) return;
  const detail = `${JSON.stringify(value.slice(0, 64))} is not ${what}`;
  throw trackerError(project, { kind: 'tracker_payload_error', method, path: project.route, detail });
}

function isSendable(value: string): boolean {
  return value.trim() !== '' && !/\p{Cs}/u.test(value);
}

export function readMergeRequest({ http, requestRoute }: RequestContext, signal: AbortSignal): Promise<WireMergeRequest> {
  // GitLab API, "Merge requests API": one merge request.
  return http.getJson(MERGE_REQUEST, { path: requestRoute }, signal);
}

/** What log records about a merge request carry. */
export function factsOf({ name, number }: RequestContext): LogAttributes {
  return { project: name, merge_request: number };
}
