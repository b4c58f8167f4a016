import { sameState, stateIn } from '../../domain/model/issue.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { parseEndpoint } from '../shared/endpoint.ts';
import { DEFAULTS, names, projectFault, queryFilterFault, TOKEN_VARIABLES } from './settings.ts';

/** Everything that can be told of the tracker block without the network: errors first, each list in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return CHECKS.flatMap((one) => one(input));
}

type Check = (input: ProviderCheckInput) => readonly Problem[];

const CHECKS: readonly Check[] = [
  ({ endpoint }) => {
    const parsed = endpoint === null ? undefined : parseEndpoint(endpoint);
    return parsed && 'fault' in parsed ? [error('endpoint', 'invalid', `tracker.endpoint ${parsed.fault}`)] : [];
  },
  // An empty project is the generic check's to report.
  ({ project }) => errorIf('project', 'format', project ? projectFault(project) : undefined),
  ({ queryFilter }) => errorIf('query_filter', 'invalid', queryFilterFault(queryFilter ?? '')),
  checkToken,
  ({ activeStates }) => checkElements('active_states', activeStates),
  ({ terminalStates }) => checkElements('terminal_states', terminalStates),
  checkOverlap,
  checkHandoff,
  checkInProgress,
];

function checkToken({ apiKey, env }: ProviderCheckInput): readonly Problem[] {
  if (apiKey?.trim()) return [];
  const found = TOKEN_VARIABLES.find((name) => env[name]?.trim());
  if (!found) {
    return [
      warning('api_key', 'forge_token_missing', `tracker.api_key is empty and ${TOKEN_VARIABLES.join(' and ')} are not set`),
    ];
  }
  return [
    warning('api_key', 'forge_token_hint', `tracker.api_key is empty while ${found} is set; write api_key: $${found} to use it`),
  ];
}

function checkElements(key: 'active_states' | 'terminal_states', states: readonly string[] | null): readonly Problem[] {
  const empty = (states ?? []).findIndex((state) => state.trim() === '');
  return empty === -1 ? [] : [warning(key, 'empty_element', `entry ${empty + 1} of tracker.${key} is empty and is left out`)];
}

function checkOverlap(input: ProviderCheckInput): readonly Problem[] {
  const { active, terminal } = effective(input);
  const both = active.filter((state) => terminal.includes(state));
  if (both.length === 0) return [];
  const message = `${quoted(both)} stand in both tracker.active_states and tracker.terminal_states; an issue with such a label counts as active`;
  return [warning('states', 'overlap', message, 'terminal_states')];
}

function checkHandoff(input: ProviderCheckInput): readonly Problem[] {
  const { handoffState } = input;
  const { active, terminal } = effective(input);
  if (handoffState === null) return [];
  const lists = [
    ...(stateIn(active, handoffState) ? ['tracker.active_states'] : []),
    ...(stateIn(terminal, handoffState) ? ['tracker.terminal_states'] : []),
  ];
  if (lists.length === 0) return [];
  return [
    warning('handoff_state', 'collision', `tracker.handoff_state ${quoted([handoffState])} is also in ${lists.join(' and ')}`),
  ];
}

function checkInProgress(input: ProviderCheckInput): readonly Problem[] {
  const { handoffState, inProgressState } = input;
  if (inProgressState === null) return [];
  const clashes = [
    ...(stateIn(effective(input).terminal, inProgressState) ? ['is also in tracker.terminal_states'] : []),
    ...(handoffState !== null && sameState(handoffState, inProgressState) ? ['is also tracker.handoff_state'] : []),
  ];
  if (clashes.length === 0) return [];
  const message = `tracker.in_progress_state ${quoted([inProgressState])} ${clashes.join(' and ')}`;
  return [warning('in_progress_state', 'collision', message)];
}

// A list that is not written still takes effect with its defaults.
function effective({ activeStates, terminalStates }: ProviderCheckInput) {
  return { active: names(activeStates ?? DEFAULTS.activeStates), terminal: names(terminalStates ?? DEFAULTS.terminalStates) };
}

function quoted(states: readonly string[]): string {
  return states.map((state) => JSON.stringify(state)).join(', ');
}

function errorIf(key: string, fault: string, message: string | undefined): readonly Problem[] {
  return message === undefined ? [] : [error(key, fault, message)];
}

function error(key: string, fault: string, message: string): Problem {
  return { severity: 'error', check: `tracker.${key}.${fault}`, message, key: ['tracker', key] };
}

function warning(subject: string, fault: string, message: string, key = subject): Problem {
  return { severity: 'warning', check: `tracker.${subject}.${fault}`, message, key: ['tracker', key] };
}
