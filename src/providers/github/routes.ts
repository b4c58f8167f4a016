import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp, TrackerRequest } from '../shared/http.ts';
import { KIND, PAGE_SIZE } from './settings.ts';
import type { LabelEvent } from '../../ports/scm.ts';
import { readLabelJournal } from './label-events.ts';
import { COMMENT, ISSUE, REPOSITORY_FACTS, SEARCH_PAGE } from './schema.ts';
import type { WireComment, WireIssue, WireRepository } from './schema.ts';

/** The remote's routes for one repository, as they are on the wire. `id` is an issue number. */
export interface Routes {
  /** All open issues, pull requests among them. */
  listOpen(signal: AbortSignal): Promise<readonly WireIssue[]>;
  /** Issues of the repository that the further qualifiers narrow. Costs of the small search quota. */
  search(qualifiers: string, signal: AbortSignal): Promise<readonly WireIssue[]>;
  /** The first page of one of the two, unread: whether it may be had at all. */
  probe(qualifiers: string | null, signal: AbortSignal): Promise<void>;
  issue(id: string, signal: AbortSignal): Promise<WireIssue>;
  /** Empty where the remote has no such list. */
  blockedBy(id: string, signal: AbortSignal): Promise<readonly WireIssue[]>;
  parent(id: string, signal: AbortSignal): Promise<WireIssue | null>;
  comments(id: string, signal: AbortSignal): Promise<readonly WireComment[]>;
  addComment(id: string, body: string, signal: AbortSignal): Promise<void>;
  addLabel(id: string, label: string, signal: AbortSignal): Promise<void>;
  /** A label that is not there is no fault. */
  removeLabel(id: string, label: string, signal: AbortSignal): Promise<void>;
  update(id: string, change: NativeChange, signal: AbortSignal): Promise<void>;
  /** What happened to the labels of an issue, oldest first. */
  labelEvents(id: string, signal: AbortSignal): Promise<readonly LabelEvent[]>;
  repository(signal: AbortSignal): Promise<WireRepository>;
}

export type NativeChange = { readonly state: 'closed'; readonly state_reason: 'completed' } | { readonly state: 'open' };

/** The remote gives no more than this many results of one search. */
const SEARCH_RESULTS = 1000;

export function createRoutes(http: TrackerHttp, { owner, repo }: RepoKey, logger: Logger): Routes {
  const issues = path`/repos/${owner}/${repo}/issues`;
  const of = (id: string): string => issuePath(owner, repo, id);
  // REST API, "List repository issues".
  const open = { path: issues, query: { state: 'open', sort: 'created', direction: 'asc', per_page: PAGE_SIZE } };
  // REST API, "Search issues and pull requests".
  const found = (qualifiers: string): TrackerRequest => ({
    path: '/search/issues',
    query: { q: `repo:${owner}/${repo} type:issue ${qualifiers}`, sort: 'created', order: 'asc', per_page: PAGE_SIZE },
  });

  return {
    listOpen: (signal) => http.getRecords(ISSUE, open, signal),
    search: (qualifiers, signal) => search(http, found(qualifiers), logger, signal),
    probe: (qualifiers, signal) => http.probe(z.unknown(), qualifiers === null ? open : found(qualifiers), signal),
    // REST API, "Get an issue".
    issue: async (id, signal) => http.getJson(ISSUE, { path: of(id) }, signal),
    // REST API, "List dependencies an issue is blocked by".
    blockedBy: async (id, signal) =>
      whenMissing(http.getRecords(ISSUE, { path: `${of(id)}/dependencies/blocked_by`, query: PAGED }, signal), []),
    // REST API, "Get parent issue".
    parent: async (id, signal) => whenMissing(http.getJson(ISSUE, { path: `${of(id)}/parent` }, signal), null),
    // REST API, "List issue comments".
    comments: async (id, signal) => http.getRecords(COMMENT, { path: `${of(id)}/comments`, query: PAGED }, signal),
    ...writesTo(http, of),
    // REST API, "List issue events".
    labelEvents: async (id, signal) => readLabelJournal(http, `${of(id)}/events`, logger, signal),
    // REST API, "Get a repository".
    repository: (signal) => http.getJson(REPOSITORY_FACTS, { path: path`/repos/${owner}/${repo}` }, signal),
  };
}

type Writes = Pick<Routes, 'addComment' | 'addLabel' | 'removeLabel' | 'update'>;

/** What changes an issue. The answers are not read: what was done is done, however it is confirmed. */
function writesTo(http: TrackerHttp, of: (id: string) => string): Writes {
  return {
    addComment: async (id, body, signal) => {
      // REST API, "Create an issue comment".
      await http.send('POST', { path: `${of(id)}/comments`, body: { body } }, signal);
    },
    addLabel: async (id, label, signal) => {
      // REST API, "Add labels to an issue".
      const route = `${of(id)}/labels`;
      await http.send('POST', { path: route, body: { labels: [labelName(label, 'POST', route)] } }, signal);
    },
    removeLabel: async (id, label, signal) => {
      // REST API, "Remove a label from an issue".
      const name = labelName(label, 'DELETE', `${of(id)}/labels`);
      await whenMissing(http.send('DELETE', { path: of(id) + path`/labels/${name}` }, signal), null);
    },
    update: async (id, change, signal) => {
      // REST API, "Update an issue".
      await http.send('PATCH', { path: of(id), body: change }, signal);
    },
  };
}

const PAGED = { per_page: PAGE_SIZE };

async function search(http: TrackerHttp, request: TrackerRequest, logger: Logger, signal: AbortSignal): Promise<WireIssue[]> {
  const pages = await http.getPages(SEARCH_PAGE, request, signal);
  const facts = { tracker_kind: KIND, endpoint: '/search/issues' };
  if (pages.some((page) => page.incomplete_results)) {
    logger.warn('tracker search gave incomplete results, the next poll may find more', facts);
  }
  const total = Math.max(0, ...pages.map((page) => page.total_count ?? 0));
  if (total > SEARCH_RESULTS)
    logger.warn('tracker search finds more issues than it gives, the rest is left out', { ...facts, total });
  return http.records(
    ISSUE,
    pages.flatMap((page) => page.items),
    '/search/issues',
  );
}

/** The path of one issue. What is no number would name another route: an empty one the whole list, for one. */
export function issuePath(owner: string, repo: string, id: string): string {
  const route = path`/repos/${owner}/${repo}/issues/${id}`;
  if (/^[1-9]\d*$/.test(id)) return route;
  const detail = `${JSON.stringify(id.slice(0, 64))} is not an issue number`;
  throw new TrackerError({ kind: 'tracker_not_found', method: 'GET', path: route, detail });
}

// Names are kept in lower case and match ignoring it. An empty one would take every label off.
export function labelName(label: string, method: string, route: string): string {
  const name = label.trim().toLowerCase();
  if (name !== '') return name;
  throw new TrackerError({ kind: 'tracker_payload_error', method, path: route, detail: 'the label has no name' });
}

/** Bare where that is safe; quoted where a blank or colon would begin another term. */
export function searchTerm(label: string): string {
  return /^[\w./-]+$/.test(label) ? label : `"${label.replace(/["\\]/g, '\\$&')}"`;
}
