import type { ZodType } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { SEARCH_PAGE } from './schema.ts';
import type { TrackerInputs } from './settings.ts';
import { KIND, PAGE_SIZE } from './settings.ts';

export const SEARCH_PATH = '/rest/api/3/search/jql';

export interface Query {
  readonly jql: string;
  readonly fields: readonly string[];
  /** The issues that it asks about, where they are known: they are shown as they are now. */
  readonly ids?: readonly string[];
}

/** Searches of one site. Bad records are left out with a warning, the others are kept. */
export interface Search {
  all<T>(schema: ZodType<T>, query: Query, signal: AbortSignal): Promise<T[]>;
  /** Whether the query works at all. */
  probe(query: Query, signal: AbortSignal): Promise<void>;
  /** Tells that an issue was just changed, so that the next searches show it as it is now. */
  changed(id: string): void;
}

export function createSearch(http: TrackerHttp, deps: { logger: Logger; clock: Clock; pageCap: number }): Search {
  const recent = createRecentChanges(deps.clock);
  const page = (query: Query, rest: PageKeys, signal: AbortSignal) =>
    isLong(query)
      ? http.sendJson('POST', SEARCH_PAGE, { ...bodyOf(query, rest), onlyReads: true }, signal)
      : http.getJson(SEARCH_PAGE, requestOf(query, rest), signal);
  return {
    all: async <T>(schema: ZodType<T>, query: Query, signal: AbortSignal) => {
      const found: T[] = [];
      const reconcileIssues = reconciled(query, recent.ids());
      const seen = new Set<string>();
      for (let nextPageToken: string | undefined; ;) {
        const { issues, nextPageToken: next } = await page(query, { nextPageToken, reconcileIssues }, signal);
        found.push(...http.records(schema, issues ?? [], SEARCH_PATH));
        if (!next) return found;
        if (seen.has(next)) throw circling();
        seen.add(next);
        nextPageToken = next;
        if (seen.size < deps.pageCap) continue;
        deps.logger.warn('tracker list reached the page cap, the rest is left out', {
          tracker_kind: KIND,
          endpoint: SEARCH_PATH,
          pages: seen.size,
        });
        return found;
      }
    },
    probe: async (query, signal) => {
      if (isLong(query)) await page(query, { reconcileIssues: [] }, signal);
      else await http.probe(SEARCH_PAGE, requestOf(query, { reconcileIssues: [] }), signal);
    },
    changed: recent.add,
  };
}

interface PageKeys {
  readonly nextPageToken?: string | undefined;
  /** The same on every page of one search, as the vendor asks. */
  readonly reconcileIssues: readonly string[];
}

/** What is asked about comes first, then what we changed last. */
function reconciled({ ids = [] }: Query, changed: readonly string[]): readonly string[] {
  const others = changed.filter((id) => !ids.includes(id));
  return [...ids, ...others.slice(Math.max(0, ids.length + others.length - MOST_RECONCILED))];
}

/** Addresses of more than 8 KiB are refused on the way. A long `query_filter` gets there. */
const LONGEST_IN_ADDRESS = 6000;

function isLong({ jql }: Query): boolean {
  return encodeURIComponent(jql).length > LONGEST_IN_ADDRESS;
}

// Jira Cloud platform REST API, "Search for issues using JQL enhanced search (POST)": for expressions too
// large for an address. It takes ids as numbers.
function bodyOf({ jql, fields }: Query, { nextPageToken, reconcileIssues }: PageKeys) {
  const body = { jql, fields, maxResults: PAGE_SIZE, nextPageToken, reconcileIssues: reconcileIssues.map(Number) };
  return { path: SEARCH_PATH, body };
}

// Jira Cloud platform REST API, "Search for issues using JQL enhanced search (GET)".
function requestOf({ jql, fields }: Query, rest: PageKeys) {
  return { path: SEARCH_PATH, query: { jql, maxResults: PAGE_SIZE, fields: fields.join(','), ...rest } };
}

// Half a list would make the issues of the other half look gone, so it is an error.
function circling(): TrackerError {
  const detail = 'the remote gave the same nextPageToken twice, so its list has no end';
  return new TrackerError({ kind: 'tracker_payload_error', method: 'GET', path: SEARCH_PATH, detail });
}

/** The search index runs some seconds behind; for longer than that nothing need be asked for. */
const INDEX_LAG_MS = 60_000;
/** The vendor's limit. */
const MOST_RECONCILED = 50;

/**
 * Issues that we changed lately. Without naming them, an issue that was just handed off could still be found in its old,
 * active state and be worked on once more.
 */
function createRecentChanges(clock: Clock): { add(id: string): void; ids(): readonly string[] } {
  const changedAt = new Map<string, number>();
  const forget = (): void => {
    for (const [id, at] of changedAt) if (clock.now() - at > INDEX_LAG_MS) changedAt.delete(id);
  };
  return {
    add: (id) => {
      forget();
      changedAt.delete(id);
      if (/^\d+$/.test(id)) changedAt.set(id, clock.now());
    },
    ids: () => {
      forget();
      return [...changedAt.keys()];
    },
  };
}

type Scope = Pick<TrackerInputs, 'project' | 'queryFilter'>;

/** What waits to be worked on, most urgent and then oldest first. */
export function candidatesJql(scope: Scope, states: readonly string[]): string {
  return `${scopeJql(scope, states)} ORDER BY priority ASC, created ASC`;
}

export function byStatesJql(scope: Scope, states: readonly string[]): string {
  return `${scopeJql(scope, states)} ORDER BY created ASC`;
}

/** Bare digits, since a quoted number is taken for a key. */
export function byIdsJql(ids: readonly string[]): string {
  return `id IN (${ids.join(', ')}) ORDER BY key ASC`;
}

export function byKeysJql(keys: readonly string[]): string {
  return `key IN (${quotedList(keys)}) ORDER BY key ASC`;
}

// The filter stands in parentheses: an OR in it would otherwise let in every project.
function scopeJql({ project, queryFilter }: Scope, states: readonly string[]): string {
  const status = states.length > 0 ? ` AND status IN (${quotedList(states)})` : '';
  return `project = ${quoted(project)}${status}${queryFilter === '' ? '' : ` AND (${queryFilter})`}`;
}

function quotedList(values: readonly string[]): string {
  return values.map(quoted).join(', ');
}

// Quotes are taken out; a backslash is doubled, for it would escape the closing quote.
function quoted(value: string): string {
  return `"${value.replaceAll('"', '').replaceAll('\\', '\\\\')}"`;
}
