import type { TrackerErrorFacts } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { PAGE_SIZE } from './settings.ts';
import { isIssue } from './map.ts';
import type { WireIssue, WireIssueState } from './schema.ts';
import { ISSUE, LABEL, UPDATED_ISSUE } from './schema.ts';
import { lacksLabel, type IssueUpdate } from './transition.ts';

/** One project of the remote, and what its operations share. */
export interface Project {
  readonly http: TrackerHttp;
  readonly logger: Logger;
  /** As configured, for messages. */
  readonly name: string;
  /** `/projects/<encoded once>`. */
  readonly route: string;
  /** What stands before a route in the messages of the HTTP client: `/api/v4`. */
  readonly apiPath: string;
}

export function openProject(name: string, baseUrl: string, shared: Pick<Project, 'http' | 'logger'>): Project {
  return { ...shared, name, route: path`/projects/${name}`, apiPath: new URL(baseUrl).pathname.replace(/\/+$/, '') };
}

/** A failure that is found out here and not by the client, in the same words. */
export function trackerError({ apiPath }: Project, { path: route, ...facts }: TrackerErrorFacts): TrackerError {
  return new TrackerError({ ...facts, path: apiPath + route });
}

/** The route of one issue. What cannot be an issue number is not found, without asking the remote. */
export function issueRoute(project: Project, id: string): string {
  if (isIssueNumber(id)) return `${project.route}/issues/${id}`;
  const detail = `${JSON.stringify(id.slice(0, 64))} is not an issue number`;
  throw trackerError(project, { kind: 'tracker_not_found', method: 'GET', path: `${project.route}/issues`, detail });
}

export function isIssueNumber(id: string): boolean {
  return /^[1-9]\d*$/.test(id);
}

/** One issue; a task, an incident or a test case of that number is not found. */
export async function readIssue(project: Project, id: string, signal: AbortSignal): Promise<WireIssue> {
  const route = issueRoute(project, id);
  // GitLab API, "Issues API": one issue.
  const issue = await project.http.getJson(ISSUE, { path: route }, signal);
  if (isIssue(issue)) return issue;
  const detail = `#${id} is of the type ${JSON.stringify(issue.issue_type)}, not an issue`;
  throw trackerError(project, { kind: 'tracker_not_found', method: 'GET', path: route, detail });
}

/**
 * One update. The remote answers 200 also where the role of the token may not set labels, and leaves them as they are: where
 * the answer shows that, the issue itself is asked.
 */
export async function updateIssue(project: Project, id: string, body: IssueUpdate, signal: AbortSignal): Promise<void> {
  const place = { method: 'PUT', path: issueRoute(project, id) } as const;
  // GitLab API, "Issues API": update of an issue.
  const answer = await project.http.sendJson(place.method, UPDATED_ISSUE, { path: place.path, body }, signal);
  if (!lacksLabel(body, answer) || !lacksLabel(body, await readIssue(project, id, signal))) return;
  const detail = `the label ${JSON.stringify(body.add_labels)} was accepted but issue ${id} does not carry it`;
  throw trackerError(project, { ...place, kind: 'tracker_payload_error', detail });
}

/** What a list holds of issues, each once: one that moved between two pages may be on both. */
export function distinctIssues<T extends WireIssueState>(wires: readonly T[]): readonly T[] {
  return [...new Map(wires.filter(isIssue).map((wire) => [wire.iid, wire])).values()];
}

/** The names of all labels, those inherited from groups included. */
export async function readLabelNames({ http, route }: Project, signal: AbortSignal): Promise<readonly string[]> {
  // GitLab API, "Labels API".
  const labels = await http.getRecords(LABEL, { path: `${route}/labels`, query: { per_page: PAGE_SIZE } }, signal);
  return labels.map(({ name }) => name);
}
