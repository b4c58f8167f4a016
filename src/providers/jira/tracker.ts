import { TrackerError } from '../../domain/model/errors.ts';
import type { Issue, IssueComment } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Rights, Tracker } from '../../ports/tracker.ts';
import { atInterval } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import type { Tuning } from '../shared/settings.ts';
import { RETRY_DELAYS_MS } from '../shared/settings.ts';
import { createClient, issuePath } from './client.ts';
import { toDocument } from './document.ts';
import { byIdsJql, byKeysJql, byStatesJql, candidatesJql } from './search.ts';
import { createLabelWriter } from './labels.ts';
import { toComment, toIssue } from './map.ts';
import { preflight } from './preflight.ts';
import type { WireComment, WireIssue } from './schema.ts';
import { COMMENT, COMMENT_PAGE, ISSUE, ISSUE_STATE, MY_PERMISSIONS, MYSELF, PROJECT_STATUSES } from './schema.ts';
import type { Query, Search } from './search.ts';
import { createSearch } from './search.ts';
import { offeredMoves, transition } from './transition.ts';
import type { TrackerInputs } from './settings.ts';
import { BATCH_SIZE, KIND, PAGE_SIZE, readSettings } from './settings.ts';

/** Everything that the issue record is made of, in the documented order. */
const ISSUE_FIELDS = [
  'summary',
  'status',
  'priority',
  'labels',
  'assignee',
  'issuetype',
  'parent',
  'issuelinks',
  'created',
  'updated',
  'description',
] as const;

const PAGE_CAP = 1000;

/** Issues of one project, whose states are the statuses of its workflow. Makes no request. */
export function createTracker(
  settings: TrackerSettings,
  deps: ProviderDeps,
  { retryDelaysMs = RETRY_DELAYS_MS, pageCap = PAGE_CAP }: Tuning = {},
): Tracker {
  const inputs = readSettings(settings);
  const { logger, clock } = deps;
  const http = createClient(inputs.access, deps);
  // The documented fields, and who opened the issue where that matters.
  const fields = settings.authors === 'anyone' ? ISSUE_FIELDS : [...ISSUE_FIELDS, 'creator'];
  const context: Context = { inputs, http, fields, logger, pageCap, search: createSearch(http, { logger, clock, pageCap }) };
  const moving = {
    http,
    search: context.search,
    readIssue: (id: string, asked: readonly string[], until: AbortSignal) => readIssue(context, id, asked, until),
  };
  const candidates = { jql: candidatesJql(inputs, inputs.activeStates), fields };
  return {
    kind: KIND,
    // Without active states there is nothing to look for, and an empty list is no valid expression.
    fetchCandidateIssues: async (signal) =>
      inputs.activeStates.length === 0 ? [] : atInterval(readIssues(context, candidates.jql, signal)),
    fetchIssueById: (id, signal) => readFullIssue(context, id, signal),
    fetchIssuesByStates: async (states, signal) =>
      states.length === 0 ? [] : readIssues(context, byStatesJql(inputs, states), signal),
    fetchIssueStatesByIds: (ids, signal) => readStatesByIds(context, ids, signal),
    fetchIssueStatesByIdentifiers: (keys, signal) => readStatesByKeys(context, keys, signal),
    fetchIssueComments: (id, signal) => readComments(context, id, signal),
    transitionIssue: (id, state, signal) => transition(moving, id, state, signal),
    commentIssue: async (id, text, signal) => {
      // Jira Cloud platform REST API, "Add comment".
      await http.send('POST', { path: `${issuePath(id)}/comment`, body: { body: toDocument(text) } }, signal);
    },
    labels: createLabelWriter(moving),
    // Jira Cloud platform REST API, "Get current user".
    people: { readSelf: async (signal) => (await http.getJson(MYSELF, { path: '/rest/api/3/myself' }, signal)).accountId },
    readRights: (signal) => readRights(context, signal),
    readMoves: async (id, signal) => [...new Set((await offeredMoves(http, id, signal)).map(({ to }) => to.name))],
    provesByPoll: true,
    preflight: (signal, options = {}) =>
      preflight(
        {
          probe: (until) => context.search.probe(candidates, until),
          statuses: (until) => readStatuses(context, until),
          retryDelaysMs,
          deps,
        },
        options,
        signal,
      ),
  };
}

/** What the operations share. */
interface Context {
  readonly inputs: TrackerInputs;
  readonly http: TrackerHttp;
  readonly fields: readonly string[];
  readonly search: Search;
  readonly logger: Logger;
  readonly pageCap: number;
}

// Jira Cloud platform REST API, "Get all statuses for project": by issue type, so that names repeat.
async function readStatuses({ http, inputs }: Context, signal: AbortSignal): Promise<readonly string[]> {
  // Jira Cloud platform REST API, "Get all statuses for project".
  const types = await http.getJson(PROJECT_STATUSES, { path: path`/rest/api/3/project/${inputs.project}/statuses` }, signal);
  return [...new Set(types.flatMap(({ statuses }) => statuses.map(({ name }) => name)))];
}

/** Each issue once: a list that changes while its pages are read repeats some. */
async function readIssues({ search, inputs, fields }: Context, jql: string, signal: AbortSignal): Promise<readonly Issue[]> {
  const wires = await search.all(ISSUE, { jql, fields }, signal);
  const byId = new Map(wires.map((wire) => [wire.id, toIssue(wire, inputs.siteUrl)]));
  return [...byId.values()];
}

async function readFullIssue(context: Context, id: string, signal: AbortSignal): Promise<Issue> {
  const issue = toIssue(await readIssue(context, id, context.fields, signal), context.inputs.siteUrl);
  return { ...issue, comments: await readComments(context, id, signal) };
}

function readIssue({ http }: Context, id: string, fields: readonly string[], signal: AbortSignal): Promise<WireIssue> {
  // Jira Cloud platform REST API, "Get issue".
  return http.getJson(ISSUE, { path: issuePath(id), query: { fields: fields.join(',') } }, signal);
}

async function readStatesByIds(
  context: Context,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const states = new Map<string, string>();
  const numeric = ids.filter((id) => /^\d+$/.test(id));
  for (const { id, state } of await readStates(context, numeric, byIds, signal)) if (id) states.set(id, state);
  return states;
}

// A key is found whatever its case; the answer goes under the spelling that was asked for.
async function readStatesByKeys(
  context: Context,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const states = new Map<string, string>();
  const filled = keys.filter((key) => key.trim() !== '');
  for (const { key, state } of await readStates(context, filled, byKeys, signal)) {
    for (const asked of filled) if (key?.toUpperCase() === asked.trim().toUpperCase()) states.set(asked, state);
  }
  return states;
}

type Lookup = (batch: readonly string[]) => Pick<Query, 'jql' | 'ids'>;

/** Named once more beside the expression: what is decided by a lookup must not be decided by an index that is behind. */
const byIds: Lookup = (ids) => ({ jql: byIdsJql(ids), ids });

const byKeys: Lookup = (keys) => ({ jql: byKeysJql(keys) });

interface FoundState {
  readonly id: string | null | undefined;
  readonly key: string | null | undefined;
  readonly state: string;
}

async function readStates(
  { search }: Context,
  names: readonly string[],
  lookup: Lookup,
  signal: AbortSignal,
): Promise<readonly FoundState[]> {
  const found: FoundState[] = [];
  for (const batch of batches([...new Set(names)])) {
    const read = await withoutUnknown(batch, (known) =>
      search.all(ISSUE_STATE, { ...lookup(known), fields: ['status'] }, signal),
    );
    found.push(...read.map(({ id, key, fields }) => ({ id, key, state: fields?.status?.name ?? '' })));
  }
  return found;
}

function batches(names: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(names.length / BATCH_SIZE);
  return Array.from({ length: count }, (_, index) => names.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE));
}

/**
 * One deleted issue may fail the whole query: "An issue with key 'ABC-7' does not exist for field 'key'." Such names are
 * left out and the others asked for again, as a missing issue must not hide the states of the rest.
 */
async function withoutUnknown<T>(batch: readonly string[], read: (known: readonly string[]) => Promise<T[]>): Promise<T[]> {
  for (let known = batch; known.length > 0;) {
    try {
      return await read(known);
    } catch (error) {
      const rest = known.filter((name) => !isRejected(name, error));
      if (rest.length === known.length) throw error;
      known = rest;
    }
  }
  return [];
}

// The words depend on the language of the account, the quoted name does not.
function isRejected(name: string, error: unknown): boolean {
  if (!(error instanceof TrackerError) || error.status !== 400) return false;
  return [`'${name}'`, `"${name}"`].some((quoted) => error.detail.toLowerCase().includes(quoted.toLowerCase()));
}

/** Oldest first, page by page: the next one begins behind what was received, whatever size was asked for. */
async function readComments(
  { http, logger, pageCap }: Context,
  id: string,
  signal: AbortSignal,
): Promise<readonly IssueComment[]> {
  const path = `${issuePath(id)}/comment`;
  const found: WireComment[] = [];
  let startAt = 0;
  for (let pages = 1; pages <= pageCap; pages += 1) {
    const query = { startAt, maxResults: PAGE_SIZE, orderBy: 'created' };
    // Jira Cloud platform REST API, "Get comments".
    const { comments, total } = await http.getJson(COMMENT_PAGE, { path, query }, signal);
    const entries = comments ?? [];
    found.push(...http.records(COMMENT, entries, path));
    startAt += entries.length;
    if (entries.length === 0 || startAt >= (total ?? 0)) return found.map(toComment);
  }
  logger.warn('tracker list reached the page cap, the rest is left out', {
    tracker_kind: KIND,
    endpoint: path,
    pages: pageCap,
  });
  return found.map(toComment);
}

/** What a run does to an issue, in the vendor's words. */
const RIGHTS = ['BROWSE_PROJECTS', 'TRANSITION_ISSUES', 'ADD_COMMENTS', 'EDIT_ISSUES'] as const;

async function readRights({ http, inputs }: Context, signal: AbortSignal): Promise<Rights> {
  const query = { projectKey: inputs.project, permissions: RIGHTS.join(',') };
  // Jira Cloud platform REST API, "Get my permissions".
  const { permissions } = await http.getJson(MY_PERMISSIONS, { path: '/rest/api/3/mypermissions', query }, signal);
  return {
    missing: RIGHTS.filter((right) => permissions[right]?.havePermission === false),
    untold: RIGHTS.filter((right) => permissions[right]?.havePermission === undefined),
  };
}
