import { sameState, stateIn } from '../../domain/model/issue.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { parseEndpoint } from '../shared/endpoint.ts';
import { API_SUFFIX, KIND, parseProject, parseQueryFilter, TOKEN_VARIABLES, unknownKeys } from './settings.ts';

type Check = (input: ProviderCheckInput) => readonly Problem[];
type StateKey = 'active_states' | 'terminal_states';

/** What is found without the network: first what keeps the service from starting, then what is only worth a look. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return CHECKS.flatMap((check) => check(input));
}

const CHECKS: readonly Check[] = [
  endpointInvalid,
  projectFormat,
  activeStatesMissing,
  (input) => emptyElements('active_states', input.activeStates),
  terminalStatesEmpty,
  (input) => emptyElements('terminal_states', input.terminalStates),
  queryFilterInvalid,
  activeStatesEmpty,
  (input) => padding('active_states', input.activeStates),
  (input) => padding('terminal_states', input.terminalStates),
  overlap,
  endpointInsecure,
  endpointSuffix,
  keyWhitespace,
  tokenHint,
  queryFilterUnknownKeys,
];

function endpointInvalid({ endpoint }: ProviderCheckInput): readonly Problem[] {
  if (endpoint === null) return [];
  const address = parseEndpoint(endpoint);
  return 'fault' in address ? [error('endpoint.invalid', `tracker.endpoint ${address.fault}`)] : [];
}

function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  if (project === null) return [];
  const repository = parseProject(project);
  return 'fault' in repository ? [error('project.format', `tracker.project ${repository.fault}`)] : [];
}

function activeStatesMissing({ activeStates }: ProviderCheckInput): readonly Problem[] {
  return activeStates === null ? [error('active_states', `tracker.active_states is required for tracker kind ${KIND}`)] : [];
}

// An empty list is a way to pause, so it is only worth a look.
function activeStatesEmpty({ activeStates }: ProviderCheckInput): readonly Problem[] {
  if (activeStates === null || activeStates.length > 0) return [];
  return [warning('active_states.empty', 'tracker.active_states is empty: nothing will be dispatched')];
}

function terminalStatesEmpty({ terminalStates }: ProviderCheckInput): readonly Problem[] {
  if (terminalStates !== null && terminalStates.length > 0) return [];
  const message = `tracker.terminal_states is required for tracker kind ${KIND}: name at least one state`;
  return [error('terminal_states.empty', message)];
}

function emptyElements(key: StateKey, states: readonly string[] | null): readonly Problem[] {
  return (states ?? []).flatMap((state, index) =>
    state.trim() === ''
      ? [error(`${key}.empty_element`, `tracker.${key}[${index}] is empty: no issue can be in such a state`, [key, index])]
      : [],
  );
}

function queryFilterInvalid({ queryFilter }: ProviderCheckInput): readonly Problem[] {
  const filter = parseQueryFilter(queryFilter ?? '');
  return 'fault' in filter ? [error('query_filter.invalid', `tracker.query_filter ${filter.fault}`)] : [];
}

function padding(key: StateKey, states: readonly string[] | null): readonly Problem[] {
  return (states ?? []).flatMap((state, index) =>
    state.trim() !== '' && state !== state.trim()
      ? [warning('states.padding', `tracker.${key}[${index}] ${JSON.stringify(state)} has blanks around it`, [key, index])]
      : [],
  );
}

function overlap({ activeStates, terminalStates }: ProviderCheckInput): readonly Problem[] {
  const active = (activeStates ?? []).filter(
    (state, index, all) => all.findIndex((other) => sameState(other, state)) === index && stateIn(terminalStates ?? [], state),
  );
  return active.map((state) => {
    const message = `${JSON.stringify(state.trim())} is both an active and a terminal state: such issues are taken for finished`;
    return warning('states.overlap', message, ['terminal_states']);
  });
}

function endpointInsecure({ endpoint }: ProviderCheckInput): readonly Problem[] {
  const address = parseEndpoint(endpoint ?? '');
  if ('fault' in address || address.secure) return [];
  return [warning('endpoint.insecure', `tracker.endpoint ${address.shown} is http: the token is sent in cleartext`)];
}

function endpointSuffix({ endpoint }: ProviderCheckInput): readonly Problem[] {
  const address = parseEndpoint(endpoint ?? '');
  if ('fault' in address || !address.url.endsWith(API_SUFFIX)) return [];
  return [
    warning('endpoint.api_suffix', `tracker.endpoint already ends in ${API_SUFFIX}: the address of the instance is enough`),
  ];
}

function keyWhitespace({ apiKey }: ProviderCheckInput): readonly Problem[] {
  if (apiKey === null || apiKey.trim() === '' || apiKey === apiKey.trim()) return [];
  return [warning('api_key.whitespace', 'tracker.api_key has white space around it, which fails authentication')];
}

function tokenHint({ apiKey, env }: ProviderCheckInput): readonly Problem[] {
  if (apiKey !== null && apiKey.trim() !== '') return [];
  const variable = TOKEN_VARIABLES.find((name) => env[name]?.trim());
  if (!variable) return [];
  return [warning('api_key.token_hint', `tracker.api_key is empty but ${variable} is set: write api_key: $${variable}`)];
}

function queryFilterUnknownKeys({ queryFilter }: ProviderCheckInput): readonly Problem[] {
  const filter = parseQueryFilter(queryFilter ?? '');
  if ('fault' in filter) return [];
  return unknownKeys(filter.entries).map((key) => {
    const message = `tracker.query_filter names ${JSON.stringify(key)}, which the remote may not know: it ignores such keys, so more issues match`;
    return warning('query_filter.unknown_key', message);
  });
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
