import { z } from 'zod';
import { normalState } from '../../domain/model/issue.ts';
import type { ScmConnection, TrackerSettings } from '../../domain/model/settings.ts';
import type { Provider } from '../../ports/provider.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { parseEndpoint } from '../shared/endpoint.ts';
import { repoInAddress, writeInstead } from '../shared/project-address.ts';
import { type ApiAccess, DEFAULT_USER_AGENT, misconfigured } from '../shared/settings.ts';

export const KIND = 'repoissues';
export const DEFAULTS: Provider['defaults'] = {
  endpoint: 'https://api.github.com',
  activeStates: ['backlog', 'in-progress', 'review'],
  terminalStates: ['done', 'wontfix'],
  activeStatesGateDispatch: true,
};
export const PAGE_SIZE = 50;
/** The most the remote gives on one page: for what belongs to one request or commit. */
export const LIST_PAGE = 100;
/** Where a token is looked for by convention, in this order. Only ever hinted at, never read. */
export const TOKEN_VARIABLES = ['FORGE_TOKEN', 'GITHUB_TOKEN'] as const;

/** The kind has no options of its own. */
export const OPTIONS = z.strictObject({});

/** Which labels mean which states, all in lower case. */
export interface StateNames {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  /** States that an issue is handed to: neither worked on nor finished. */
  readonly parking: readonly string[];
}

export interface TrackerInputs {
  readonly access: ApiAccess;
  readonly repository: RepoKey;
  readonly states: StateNames;
  /** Empty when there is none. */
  readonly queryFilter: string;
}

/** Throws a TrackerError for what could never work, before any request. */
export function readSettings(settings: TrackerSettings): TrackerInputs {
  const access = accessOf(settings, 'tracker');
  const filterFault = queryFilterFault(settings.queryFilter);
  if (filterFault) throw misconfigured(KIND, 'tracker_payload_error', filterFault);
  return {
    access,
    repository: repositoryOf(settings.project),
    states: stateNames(settings),
    queryFilter: settings.queryFilter.trim(),
  };
}

/** The same for the roles whose repositories come with each call. */
export function readScmSettings(connection: ScmConnection): ApiAccess {
  return accessOf(connection, connection.name);
}

/** `block` is where the keys stand in the workflow file. */
function accessOf(settings: Pick<TrackerSettings, 'endpoint' | 'apiKey' | 'userAgent'>, block: string): ApiAccess {
  if (settings.apiKey.trim() === '') throw misconfigured(KIND, 'tracker_auth_error', `${block}.api_key is empty`);
  const parsed = parseEndpoint(settings.endpoint || DEFAULTS.endpoint);
  if ('fault' in parsed) throw misconfigured(KIND, 'tracker_payload_error', `${block}.endpoint ${parsed.fault}`);
  return { baseUrl: parsed.url, apiKey: settings.apiKey, userAgent: settings.userAgent || DEFAULT_USER_AGENT };
}

function repositoryOf(project: string): RepoKey {
  const fault = projectFault(project);
  if (fault) throw misconfigured(KIND, 'tracker_payload_error', fault);
  const [owner = '', repo = ''] = project.split('/');
  return { owner, repo };
}

/** What is wrong with a project, in the documented order. */
export function projectFault(project: string): string | undefined {
  const shown = JSON.stringify(project);
  const segments = project.split('/');
  if (segments.length !== 2 || segments.some((segment) => segment.trim() === '') || repoInAddress(project) !== null) {
    return `tracker.project ${shown} must be <owner>/<repo>, with exactly one slash${writeInstead(repoInAddress(project))}`;
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
