import { z } from 'zod';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import type { Provider } from '../../ports/provider.ts';
import { parseEndpoint } from '../shared/endpoint.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { misconfigured, requireKey } from '../shared/settings.ts';

export const KIND = 'graphql';
export const DEFAULTS: Provider['defaults'] = {
  endpoint: 'https://api.linear.app/graphql',
  activeStates: ['Backlog', 'Todo', 'In Progress'],
  terminalStates: ['Done', 'Canceled', 'Duplicate'],
  activeStatesGateDispatch: true,
};
/** Entries of a page, and how many ids or numbers one state lookup names: what fits on one. */
export const PAGE_SIZE = 50;
/** How many labels and relations of an issue come with it. They are not paged: each page would cost a request per issue. */
export const NESTED_CAP = 25;
/** The conventional name of a key variable, and how every personal API key begins. */
export const TOKEN_VARIABLES = ['LINEAR_API_KEY'] as const;
export const KEY_PREFIX = 'lin_api_';
/** What the top-level block holds beyond the role keys shared by all kinds: nothing. */
export const OPTIONS = z.strictObject({});

/** What the tracker role works with, checked. */
export interface TrackerInputs {
  readonly access: ApiAccess;
  readonly teamKey: string;
  readonly states: ConfiguredStates;
  readonly filter: IssueFilter;
}

/** The configured names that must be states of the team. */
export interface ConfiguredStates {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  readonly handoff: string | null;
  readonly noChange: string | null;
}

/** The remote's own filter language. Its members are ANDed. */
export type IssueFilter = Readonly<Record<string, unknown>>;

/** Throws a TrackerError for what could never work, before any request. */
export function readSettings(settings: TrackerSettings): TrackerInputs {
  const { apiKey, project, endpoint, activeStates, terminalStates, handoffState, queryFilter } = settings;
  requireKey(KIND, 'tracker', apiKey);
  const address = parseUrl(endpoint || DEFAULTS.endpoint);
  if ('fault' in address) throw misconfigured(KIND, 'tracker_payload_error', `tracker.endpoint ${address.fault}`);
  if (project.trim() === '')
    throw misconfigured(KIND, 'missing_tracker_project', 'tracker.project is empty: set it to a team key');
  const parsed = parseQueryFilter(queryFilter);
  if ('fault' in parsed) throw misconfigured(KIND, 'tracker_payload_error', `tracker.query_filter ${parsed.fault}`);
  return {
    access: { baseUrl: address.url, apiKey, userAgent: null },
    teamKey: project,
    states: { active: activeStates, terminal: terminalStates, handoff: handoffState, noChange: settings.noChangeState },
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
