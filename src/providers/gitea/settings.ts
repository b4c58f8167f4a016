import { z } from 'zod';
import type { ScmConnection, TrackerSettings } from '../../domain/model/settings.ts';
import type { Provider } from '../../ports/provider.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { parseEndpoint, withSuffix } from '../shared/endpoint.ts';
import type { LabelStateRule } from '../shared/label-state.ts';
import { repoInAddress, writeInstead } from '../shared/project-address.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { DEFAULT_USER_AGENT, misconfigured, requireKey } from '../shared/settings.ts';

export const KIND = 'selfhosted';
export const API_SUFFIX = '/api/v1';
export const DEFAULTS: Provider['defaults'] = {
  endpoint: '',
  activeStates: [],
  terminalStates: [],
  activeStatesGateDispatch: true,
};
/** The server may clamp it lower, so lists are read by their next links. */
export const PAGE_SIZE = 50;
/** Conventional names of a token variable, the likelier one first. */
export const TOKEN_VARIABLES = ['GITEA_TOKEN', 'FORGEJO_TOKEN'] as const;
/** What the top-level block holds beyond the role keys shared by all kinds: nothing. */
export const OPTIONS = z.strictObject({});

/** What the tracker role works with, checked. */
export interface TrackerInputs {
  readonly access: ApiAccess;
  readonly repository: RepoKey;
  readonly states: States;
  readonly filter: QueryEntries;
}

/** The configured states, in the roles they play. */
export interface States {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  readonly handoff: string | null;
}

/** Throws a TrackerError for what could never work, before any request. */
export function readSettings(settings: TrackerSettings): TrackerInputs {
  const access = accessOf(settings, 'tracker');
  const repository = parseProject(settings.project);
  if ('fault' in repository) throw misconfigured(KIND, 'tracker_payload_error', `tracker.project ${repository.fault}`);
  return {
    access: { ...access, userAgent: null },
    repository,
    states: statesOf(settings),
    filter: filterOf(settings.queryFilter),
  };
}

/** The same for the roles whose repositories come with each call. */
export function readScmSettings(connection: ScmConnection): ApiAccess {
  return { ...accessOf(connection, connection.name), userAgent: connection.userAgent.trim() || DEFAULT_USER_AGENT };
}

/** `block` is where the keys stand in the workflow file. */
function accessOf({ endpoint, apiKey }: Pick<ScmConnection, 'endpoint' | 'apiKey'>, block: string) {
  requireKey(KIND, block, apiKey);
  const address = parseEndpoint(endpoint);
  if ('fault' in address) throw misconfigured(KIND, 'tracker_payload_error', `${block}.endpoint ${address.fault}`);
  return { baseUrl: withSuffix(address.url, API_SUFFIX), apiKey };
}

function statesOf({ activeStates, terminalStates, handoffState }: TrackerSettings): States {
  if (terminalStates.length === 0) {
    throw misconfigured(KIND, 'tracker_payload_error', 'tracker.terminal_states is empty: name at least one state');
  }
  return { active: activeStates, terminal: terminalStates, handoff: handoffState };
}

/** Terminal labels win over the handoff label, and that over active ones. An open issue without any has no state. */
export function stateRuleOf({ active, terminal, handoff }: States): LabelStateRule {
  return { lists: [terminal, handoff === null ? [] : [handoff], active], terminal, open: '', closed: terminal[0] ?? '' };
}

/** The filter's query entries, or the TrackerError that says why it cannot be used. */
function filterOf(fragment: string): QueryEntries {
  const filter = parseQueryFilter(fragment);
  if ('fault' in filter) throw misconfigured(KIND, 'tracker_payload_error', `tracker.query_filter ${filter.fault}`);
  return filter.entries;
}

/** `<owner>/<repo>`, or what is wrong with it. */
export function parseProject(value: string): RepoKey | { readonly fault: string } {
  const [owner = '', repo = '', ...more] = value.split('/');
  const shown = JSON.stringify(value);
  if (repo === '' || owner === '' || more.length > 0 || repoInAddress(value) !== null)
    return { fault: `${shown} is not of the form <owner>/<repo>${writeInstead(repoInAddress(value))}` };
  if (/\s/.test(value)) return { fault: `${shown} holds white space, write it as <owner>/<repo>` };
  if ([owner, repo].some((part) => part === '.' || part === '..')) return { fault: `${shown} names no repository` };
  return { owner, repo };
}

export type QueryEntries = readonly (readonly [key: string, value: string])[];

/** Keys that the adapter sets itself, in the order they are checked. */
const OWNED_KEYS = ['state', 'type', 'page', 'limit'] as const;
const KNOWN_KEYS: readonly string[] = [
  'labels',
  'q',
  'milestones',
  'since',
  'before',
  'created_by',
  'assigned_by',
  'mentioned_by',
];

/** A URL query fragment, decoded, or what is wrong with it. */
export function parseQueryFilter(fragment: string): { readonly entries: QueryEntries } | { readonly fault: string } {
  const text = fragment.trim();
  if (!isDecodable(text)) return { fault: 'holds a % that does not start a valid escape such as %20' };
  if (text.includes(';')) return { fault: 'holds a semicolon, separate its parts by &' };
  const entries = [...new URLSearchParams(text)];
  const owned = OWNED_KEYS.find((key) => entries.some(([name]) => name === key));
  if (owned) return { fault: `names ${owned}, which is always set by the service; remove it` };
  return { entries };
}

/** The remote ignores a key it does not know, so the filter would be wider than it looks. */
export function unknownKeys(entries: QueryEntries): readonly string[] {
  return [...new Set(entries.map(([key]) => key).filter((key) => !KNOWN_KEYS.includes(key)))];
}

/** The label names a filter asks for; the remote splits them at commas. */
export function filterLabels(entries: QueryEntries): readonly string[] {
  const names = entries.filter(([key]) => key === 'labels').flatMap(([, value]) => value.split(','));
  return [...new Set(names.filter((name) => name !== ''))];
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
