import { z } from 'zod';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { parseEndpoint } from '../shared/endpoint.ts';

export const KIND = 'graphql';
export const DEFAULT_ENDPOINT = 'https://api.linear.app/graphql';
export const DEFAULT_ACTIVE_STATES: readonly string[] = ['Backlog', 'Todo', 'In Progress'];
export const DEFAULT_TERMINAL_STATES: readonly string[] = ['Done', 'Canceled', 'Duplicate'];
/** Entries of a page, and how many ids or numbers one state lookup names: what fits on one. */
export const PAGE_SIZE = 50;
/** How many labels and relations of an issue come with it. They are not paged: each page would cost a request per issue. */
export const NESTED_CAP = 25;
/** The conventional name of a key variable, and how every personal API key begins. */
export const TOKEN_VARIABLE = 'LINEAR_API_KEY';
export const KEY_PREFIX = 'lin_api_';
/** What the top-level block holds beyond the role keys shared by all kinds: nothing. */
export const OPTIONS = z.object({});

/** Where the API is and who asks. */
export interface Connection {
  /** May hold a user and password: for requests only. */
  readonly url: string;
  readonly apiKey: string;
}

export interface TrackerInputs {
  readonly connection: Connection;
  readonly teamKey: string;
  readonly states: ConfiguredStates;
  readonly filter: IssueFilter;
}

/** The configured names that must be states of the team. */
export interface ConfiguredStates {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  readonly handoff: string | null;
}

/** The remote's own filter language. Its members are ANDed. */
export type IssueFilter = Readonly<Record<string, unknown>>;

/** What the settings say, or the TrackerError that says what is wrong with them. */
export function trackerInputs(settings: TrackerSettings): TrackerInputs {
  const { apiKey, project, endpoint, activeStates, terminalStates, handoffState, queryFilter } = settings;
  if (apiKey.trim() === '') throw refused('tracker_auth_error', 'tracker.api_key is empty: set it to a personal API key');
  const address = parseUrl(endpoint || DEFAULT_ENDPOINT);
  if ('fault' in address) throw refused('tracker_payload_error', `tracker.endpoint ${address.fault}`);
  if (project.trim() === '') throw refused('missing_tracker_project', 'tracker.project is empty: set it to a team key');
  const parsed = parseQueryFilter(queryFilter);
  if ('fault' in parsed) throw refused('tracker_payload_error', `tracker.query_filter ${parsed.fault}`);
  return {
    connection: { url: address.url, apiKey },
    teamKey: project,
    states: { active: activeStates, terminal: terminalStates, handoff: handoffState },
    filter: parsed.filter,
  };
}

/** The address requests go to. It is the whole address, so unlike with other kinds a query is part of it. */
export function parseUrl(value: string): { readonly url: string } | { readonly fault: string } {
  const [, base = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(value) ?? [];
  const address = parseEndpoint(base);
  return 'fault' in address ? address : { url: address.url + query };
}

/** Keys that the adapter sets itself, in the order they are checked. */
const RESERVED_KEYS = ['team', 'state'] as const;

/** A JSON object, or what is wrong with it. Field names are the remote's to judge. */
export function parseQueryFilter(fragment: string): { readonly filter: IssueFilter } | { readonly fault: string } {
  if (fragment.trim() === '') return { filter: {} };
  const value = parsedJson(fragment);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { fault: 'is not a JSON object, such as {"labels": {"some": {"name": {"eq": "agent"}}}}' };
  }
  const reserved = RESERVED_KEYS.find((key) => Object.hasOwn(value, key));
  if (reserved) return { fault: `names ${reserved}, which is always set by the service; remove it` };
  return { filter: value as IssueFilter };
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(kind: TrackerErrorKind, detail: string): TrackerError {
  return new TrackerError({ kind, method: 'construct', path: KIND, detail });
}
