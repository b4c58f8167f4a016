import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import type { Check, StateKey } from '../shared/checks.ts';
import { endpointInvalid, error, overlapping, queryFilterInvalid, runChecks, tokenHint, warning } from '../shared/checks.ts';
import { pathInAddress, writeInstead } from '../shared/project-address.ts';
import { DEFAULTS, KEY_PREFIX, parseQueryFilter, parseUrl, TOKEN_VARIABLES } from './settings.ts';

/** What is found without the network, in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return runChecks(CHECKS, input);
}

const CHECKS: readonly Check[] = [
  // An empty endpoint means the default one.
  (input) => (input.endpoint === '' ? [] : endpointInvalid(parseUrl)(input)),
  projectFormat,
  projectSlash,
  ({ activeStates }) => invalidElements('active_states', activeStates),
  ({ terminalStates }) => invalidElements('terminal_states', terminalStates),
  ({ handoffState }) => padding('handoff_state', handoffState),
  ({ inProgressState }) => padding('in_progress_state', inProgressState),
  ({ noChangeState }) => padding('no_change_state', noChangeState ?? null),
  overlap,
  queryFilterInvalid(filterFault),
  keyFormat,
  tokenHint(TOKEN_VARIABLES),
];

function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  if (project === null || !/\s/.test(project)) return [];
  return [error('project.format', `tracker.project ${JSON.stringify(project)} holds white space: it is a team key such as ENG`)];
}

function projectSlash({ project }: ProviderCheckInput): readonly Problem[] {
  if (!project?.includes('/')) return [];
  const path = pathInAddress(project);
  const key = /(?:^|\/)(?:team\/(\w+)|issue\/(\w+)-)/.exec(path ?? '');
  const like = path === null ? 'looks like <owner>/<repo>' : 'is an address';
  const message = `tracker.project ${JSON.stringify(project)} ${like}: what belongs here is a team key such as ENG`;
  return [warning('project.slash', `${message}${writeInstead(key?.[1] ?? key?.[2] ?? null)}`)];
}

function invalidElements(key: StateKey, states: readonly string[] | null): readonly Problem[] {
  return (states ?? []).flatMap((state, index) => {
    if (state !== '' && state === state.trim()) return [];
    const fault = state.trim() === '' ? 'is empty' : `${JSON.stringify(state)} has blanks around it`;
    return [error(`${key}.invalid_element`, `tracker.${key}[${index}] ${fault}: no team state can match it`, [key, index])];
  });
}

function padding(key: 'handoff_state' | 'in_progress_state' | 'no_change_state', state: string | null): readonly Problem[] {
  if (state === null || state === state.trim()) return [];
  const message = `tracker.${key} ${JSON.stringify(state)} has blanks around it: no team state can match it`;
  return [error(`${key}.invalid`, message)];
}

// A list that is not written has its default, which may clash with the other one as well.
function overlap({ activeStates, terminalStates }: ProviderCheckInput): readonly Problem[] {
  const active = activeStates ?? DEFAULTS.activeStates;
  const terminal = terminalStates ?? DEFAULTS.terminalStates;
  const key = terminalStates === null ? 'active_states' : 'terminal_states';
  return overlapping(active, terminal).map((state) =>
    error('states.overlap', `${JSON.stringify(state.trim())} is both an active and a terminal state`, [key]),
  );
}

function filterFault(filter: string): string | undefined {
  const parsed = parseQueryFilter(filter);
  return 'fault' in parsed ? `tracker.query_filter ${parsed.fault}` : undefined;
}

function keyFormat({ apiKey }: ProviderCheckInput): readonly Problem[] {
  if (apiKey === null || apiKey.trim() === '') return [];
  const faults = [
    ...(apiKey === apiKey.trim() ? [] : ['has white space around it']),
    ...(apiKey.trim().startsWith(KEY_PREFIX) ? [] : [`does not begin with ${KEY_PREFIX}`]),
  ];
  if (faults.length === 0) return [];
  const message = `tracker.api_key ${faults.join(' and ')}: write a personal API key as it is, without a scheme such as Bearer`;
  return [warning('api_key.format', message)];
}
