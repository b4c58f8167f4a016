import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import { normalState } from '../../domain/model/issue.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { parseEndpoint } from '../shared/endpoint.ts';

export const KIND = 'repoissues';
export const DEFAULT_ENDPOINT = 'https://api.github.com';
export const DEFAULT_USER_AGENT = 'svc/dev';
export const DEFAULT_ACTIVE_STATES: readonly string[] = ['backlog', 'in-progress', 'review'];
export const DEFAULT_TERMINAL_STATES: readonly string[] = ['done', 'wontfix'];
/** Where a token is looked for by convention, in this order. Only ever hinted at, never read. */
export const TOKEN_VARIABLES = ['FORGE_TOKEN', 'GITHUB_TOKEN'] as const;

/** The kind has no options of its own. */
export const optionSchema = z.strictObject({});

/** What the requests need. */
export interface Connection {
  readonly endpoint: string;
  readonly apiKey: string;
  readonly userAgent: string;
}

export interface Repository {
  readonly owner: string;
  readonly repo: string;
}

/** Which labels mean which states, all in lower case. */
export interface StateNames {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  /** States that an issue is handed to: neither worked on nor finished. */
  readonly parking: readonly string[];
}

export interface GithubSettings {
  readonly connection: Connection;
  readonly repository: Repository;
  readonly states: StateNames;
  /** Empty when there is none. */
  readonly queryFilter: string;
}

/** Throws a TrackerError for what could never work, before any request. */
export function readSettings(settings: TrackerSettings): GithubSettings {
  requireKey(settings.apiKey, 'tracker');
  const filterFault = queryFilterFault(settings.queryFilter);
  if (filterFault) throw refusal('tracker_payload_error', filterFault);
  return {
    connection: connectionOf(settings),
    repository: repositoryOf(settings.project),
    states: stateNames(settings),
    queryFilter: settings.queryFilter.trim(),
  };
}

/** The connection by itself, for the roles that name the repository with each call. `block` is where its keys stand. */
export function connectionOf(
  settings: Pick<TrackerSettings, 'endpoint' | 'apiKey' | 'userAgent'>,
  block = 'tracker',
): Connection {
  requireKey(settings.apiKey, block);
  const parsed = parseEndpoint(settings.endpoint || DEFAULT_ENDPOINT);
  if ('fault' in parsed) throw refusal('tracker_payload_error', `${block}.endpoint ${parsed.fault}`);
  return { endpoint: parsed.url, apiKey: settings.apiKey, userAgent: settings.userAgent || DEFAULT_USER_AGENT };
}

function requireKey(apiKey: string, block: string): void {
  if (apiKey.trim() === '') throw refusal('tracker_auth_error', `${block}.api_key is empty`);
}

function repositoryOf(project: string): Repository {
  const fault = projectFault(project);
  if (fault) throw refusal('tracker_payload_error', fault);
  const [owner = '', repo = ''] = project.split('/');
  return { owner, repo };
}

/** What is wrong with a project, in the documented order. */
export function projectFault(project: string): string | undefined {
  const shown = JSON.stringify(project);
  const segments = project.split('/');
  if (segments.length !== 2 || segments.some((segment) => segment.trim() === '')) {
    return `tracker.project ${shown} must be <owner>/<repo>, with exactly one slash`;
  }
  if (segments.some((segment) => /\s/.test(segment))) return `tracker.project ${shown} holds white space, write <owner>/<repo>`;
  // Such a segment would vanish from the address and name another resource.
  if (segments.some((segment) => segment === '.' || segment === '..')) return `tracker.project ${shown} names no repository`;
  return undefined;
}

/** Qualifiers that every search carries already; a second one would search elsewhere. */
const RESERVED_QUALIFIERS = ['repo:', 'type:issue'] as const;

export function queryFilterFault(filter: string): string | undefined {
  const found = RESERVED_QUALIFIERS.find((qualifier) => filter.toLowerCase().includes(qualifier));
  return found && `tracker.query_filter must not contain ${found}, which is always part of the search`;
}

function stateNames({ activeStates, terminalStates, handoffState, noChangeState }: TrackerSettings): StateNames {
  return {
    active: names(activeStates),
    terminal: names(terminalStates),
    parking: names([handoffState ?? '', noChangeState ?? '']),
  };
}

/** Blank entries mean nothing, and case never matters. */
export function names(states: readonly string[]): readonly string[] {
  return [...new Set(states.map(normalState).filter((state) => state !== ''))];
}

function refusal(kind: 'tracker_auth_error' | 'tracker_payload_error', detail: string): TrackerError {
  return new TrackerError({ kind, method: 'configure', path: KIND, detail });
}
