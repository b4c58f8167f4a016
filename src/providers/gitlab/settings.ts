import { z } from 'zod';
import type { ScmConnection, TrackerSettings } from '../../domain/model/settings.ts';
import type { Provider } from '../../ports/provider.ts';
import { parseEndpoint, withSuffix } from '../shared/endpoint.ts';
import { pathInAddress, writeInstead } from '../shared/project-address.ts';
import { type ApiAccess, DEFAULT_USER_AGENT, misconfigured, requireKey } from '../shared/settings.ts';
import type { QueryFilter } from './query-filter.ts';
import { parseQueryFilter } from './query-filter.ts';

export const KIND = 'nsproject';
export const API_SUFFIX = '/api/v4';
export const DEFAULTS: Provider['defaults'] = {
  endpoint: 'https://gitlab.com',
  activeStates: ['backlog', 'in-progress', 'review'],
  terminalStates: ['done', 'wontfix'],
  activeStatesGateDispatch: false,
};
/** The most entries the remote puts on a page. */
export const PAGE_SIZE = 100;
/** Where people keep their token by habit. */
export const TOKEN_VARIABLES = ['GITLAB_TOKEN'] as const;

/** The kind has no options of its own. */
export const OPTIONS = z.strictObject({});

/** The configured states, each of which is a label. Neither list is empty: the defaults stand in. */
export interface LabelStates {
  readonly active: readonly string[];
  readonly terminal: readonly string[];
  readonly handoff: string | null;
}

export interface WrittenStates {
  readonly activeStates: readonly string[] | null;
  readonly terminalStates: readonly string[] | null;
  readonly handoffState: string | null;
}

/** What the tracker role works with, checked. */
export interface TrackerInputs {
  readonly access: ApiAccess;
  /** Numeric id or namespace path, not encoded. */
  readonly project: string;
  readonly states: LabelStates;
  readonly filter: QueryFilter;
}

/** Faults are thrown as a TrackerError; no request is made. */
export function readSettings(settings: TrackerSettings): TrackerInputs {
  const { apiKey, project, endpoint, queryFilter } = settings;
  requireKey(KIND, 'tracker', apiKey);
  const filter = parseQueryFilter(queryFilter);
  if ('fault' in filter) throw misconfigured(KIND, 'tracker_payload_error', `tracker.query_filter: ${filter.fault}`);
  return {
    access: { baseUrl: apiAddress(endpoint), apiKey, userAgent: null },
    project: checkedProject(project),
    states: labelStates(settings),
    filter,
  };
}

/** What the merge-request and CI roles need to talk to the remote, checked in the same way. */
export function readScmSettings({ name, apiKey, endpoint, userAgent }: ScmConnection): ApiAccess {
  requireKey(KIND, name, apiKey);
  return { baseUrl: apiAddress(endpoint, `${name}.endpoint`), apiKey, userAgent: userAgent.trim() || DEFAULT_USER_AGENT };
}

/** The project whose pipelines the CI role reads; null leaves it to the repository named in each call. */
export function ciProject({ name, project }: ScmConnection): string | null {
  return project === '' ? null : checkedProject(project, `${name}.project`);
}

/** The address below which all routes lie. `key` is what the operator has to correct. */
export function apiAddress(endpoint: string, key = 'tracker.endpoint'): string {
  const parsed = parseEndpoint(endpoint || DEFAULTS.endpoint);
  if ('fault' in parsed) throw misconfigured(KIND, 'tracker_payload_error', `${key} ${parsed.fault}`);
  return withSuffix(parsed.url, API_SUFFIX);
}

function checkedProject(project: string, key = 'tracker.project'): string {
  if (project === '') throw misconfigured(KIND, 'missing_tracker_project', `${key} is required for tracker kind ${KIND}`);
  const wrong = projectFault(project);
  if (wrong) throw misconfigured(KIND, 'tracker_payload_error', `${key} ${wrong}`);
  return project;
}

/** What is wrong with a project by the first of the documented checks that finds something, or undefined. */
export function projectFault(project: string): string | undefined {
  const [, fault] = PROJECT_CHECKS.find(([isWrong]) => isWrong(project)) ?? [];
  return fault === undefined ? undefined : `${JSON.stringify(project)} ${fault}${writeInstead(pathInAddress(project))}`;
}

const isNumeric = (project: string): boolean => /^\d+$/.test(project);

const PROJECT_CHECKS: readonly (readonly [isWrong: (project: string) => boolean, fault: string])[] = [
  [(project) => project.trim() === '', 'is blank'],
  [(project) => /\s/.test(project), 'holds white space'],
  [(project) => project.includes('%'), 'is percent-encoded, write it plain: group/project'],
  [
    (project) => !project.includes('/') && !isNumeric(project),
    'is neither a numeric project id nor a path with its namespace, such as group/project',
  ],
  [(project) => !isNumeric(project) && project.split('/').includes(''), 'has an empty segment, or a slash at its start or end'],
  // Half of a surrogate pair has no percent-encoded form.
  [(project) => /\p{Cs}/u.test(project), 'holds a broken character'],
];

/** An empty list derives by the defaults; whether it dispatches anything is not decided here. */
export function labelStates({ activeStates, terminalStates, handoffState }: WrittenStates): LabelStates {
  const orDefault = (states: readonly string[] | null, fallback: readonly string[]): readonly string[] => {
    const filled = (states ?? []).map((state) => state.trim()).filter((state) => state !== '');
    return filled.length > 0 ? filled : fallback;
  };
  return {
    active: orDefault(activeStates, DEFAULTS.activeStates),
    terminal: orDefault(terminalStates, DEFAULTS.terminalStates),
    handoff: handoffState?.trim() || null,
  };
}
