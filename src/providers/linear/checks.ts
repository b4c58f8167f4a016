import { sameState, stateIn } from '../../domain/model/issue.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { DEFAULTS, KEY_PREFIX, parseQueryFilter, parseUrl, TOKEN_VARIABLES } from './settings.ts';

type Check = (input: ProviderCheckInput) => readonly Problem[];

/** What is found without the network, in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return CHECKS.flatMap((check) => check(input));
}

const CHECKS: readonly Check[] = [
  endpointInvalid,
  projectFormat,
  projectSlash,
  ({ activeStates }) => invalidElements('active_states', activeStates),
  ({ terminalStates }) => invalidElements('terminal_states', terminalStates),
  overlap,
  queryFilterInvalid,
  keyFormat,
  tokenHint,
];

// An empty endpoint means the default one.
function endpointInvalid({ endpoint }: ProviderCheckInput): readonly Problem[] {
  if (endpoint === null || endpoint === '') return [];
  const address = parseUrl(endpoint);
  return 'fault' in address ? [error('endpoint.invalid', `tracker.endpoint ${address.fault}`)] : [];
}

function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  if (project === null || !/\s/.test(project)) return [];
  return [error('project.format', `tracker.project ${JSON.stringify(project)} holds white space: it is a team key such as ENG`)];
}

function projectSlash({ project }: ProviderCheckInput): readonly Problem[] {
  if (!project?.includes('/')) return [];
  const message = `tracker.project ${JSON.stringify(project)} looks like <owner>/<repo>: it is a team key such as ENG`;
  return [warning('project.slash', message)];
}

function invalidElements(key: 'active_states' | 'terminal_states', states: readonly string[] | null): readonly Problem[] {
  return (states ?? []).flatMap((state, index) => {
    if (state !== '' && state === state.trim()) return [];
    const fault = state.trim() === '' ? 'is empty' : `${JSON.stringify(state)} has blanks around it`;
    return [error(`${key}.invalid_element`, `tracker.${key}[${index}] ${fault}: no team state can match it`, [key, index])];
  });
}

// A list that is not written has its default, which may clash with the other one as well.
function overlap({ activeStates, terminalStates }: ProviderCheckInput): readonly Problem[] {
  const active = activeStates ?? DEFAULTS.activeStates;
  const terminal = terminalStates ?? DEFAULTS.terminalStates;
  const both = active.filter(
    (state, index) => stateIn(terminal, state) && active.findIndex((other) => sameState(other, state)) === index,
  );
  const key = terminalStates === null ? 'active_states' : 'terminal_states';
  return both.map((state) =>
    error('states.overlap', `${JSON.stringify(state.trim())} is both an active and a terminal state`, [key]),
  );
}

function queryFilterInvalid({ queryFilter }: ProviderCheckInput): readonly Problem[] {
  const parsed = parseQueryFilter(queryFilter ?? '');
  return 'fault' in parsed ? [error('query_filter.invalid', `tracker.query_filter ${parsed.fault}`)] : [];
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

function tokenHint({ apiKey, env }: ProviderCheckInput): readonly Problem[] {
  if ((apiKey !== null && apiKey.trim() !== '') || !env[TOKEN_VARIABLES[0]]?.trim()) return [];
  const message = `tracker.api_key is empty but ${TOKEN_VARIABLES[0]} is set: write api_key: $${TOKEN_VARIABLES[0]}`;
  return [warning('api_key.token_hint', message)];
}

function error(check: string, message: string, key?: Problem['key']): Problem {
  return problem('error', check, message, key);
}

function warning(check: string, message: string, key?: Problem['key']): Problem {
  return problem('warning', check, message, key);
}

// Without a key of its own a problem is about the first part of its check id.
function problem(severity: Problem['severity'], check: string, message: string, key?: Problem['key']): Problem {
  const [first = ''] = check.split('.');
  return { severity, check: `tracker.${check}`, message, key: ['tracker', ...(key ?? [first])] };
}
