import { sameState, stateIn } from '../../domain/model/issue.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import type { Check, StateKey } from '../shared/checks.ts';
import {
  endpointInvalid,
  overlapping,
  queryFilterInvalid,
  quotedStates,
  refusal,
  runChecks,
  setVariable,
  tokenHint,
  warning,
} from '../shared/checks.ts';
import { DEFAULTS, names, projectFault, queryFilterFault, TOKEN_VARIABLES } from './settings.ts';

/** What is found without the network: errors first, then warnings, each in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return runChecks(CHECKS, input);
}

const CHECKS: readonly Check[] = [
  endpointInvalid(),
  projectFormat,
  queryFilterInvalid(queryFilterFault),
  tokenHint(TOKEN_VARIABLES, 'api_key.forge_token_hint'),
  tokenMissing,
  ({ activeStates }) => emptyElement('active_states', activeStates),
  ({ terminalStates }) => emptyElement('terminal_states', terminalStates),
  overlap,
  handoffCollision,
  inProgressCollision,
];

// An empty project is the generic check's to report.
function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  const fault = project ? projectFault(project) : undefined;
  return fault === undefined ? [] : [refusal('tracker_payload_error', 'project.format', fault)];
}

function tokenMissing(input: ProviderCheckInput): readonly Problem[] {
  if (input.apiKey?.trim() || setVariable(input, TOKEN_VARIABLES)) return [];
  const message = `tracker.api_key is empty and ${TOKEN_VARIABLES.join(' and ')} are not set`;
  return [warning('api_key.forge_token_missing', message)];
}

function emptyElement(key: StateKey, states: readonly string[] | null): readonly Problem[] {
  const empty = (states ?? []).findIndex((state) => state.trim() === '');
  return empty === -1 ? [] : [warning(`${key}.empty_element`, `entry ${empty + 1} of tracker.${key} is empty and is left out`)];
}

function overlap(input: ProviderCheckInput): readonly Problem[] {
  const { active, terminal } = effective(input);
  const both = overlapping(active, terminal);
  if (both.length === 0) return [];
  const message = `${quotedStates(both)} stand in both tracker.active_states and tracker.terminal_states; an issue with such a label counts as active`;
  return [warning('states.overlap', message, ['terminal_states'])];
}

function handoffCollision(input: ProviderCheckInput): readonly Problem[] {
  const { handoffState } = input;
  const { active, terminal } = effective(input);
  if (handoffState === null) return [];
  const lists = [
    ...(stateIn(active, handoffState) ? ['tracker.active_states'] : []),
    ...(stateIn(terminal, handoffState) ? ['tracker.terminal_states'] : []),
  ];
  if (lists.length === 0) return [];
  const message = `tracker.handoff_state ${quotedStates([handoffState])} is also in ${lists.join(' and ')}`;
  return [warning('handoff_state.collision', message)];
}

function inProgressCollision(input: ProviderCheckInput): readonly Problem[] {
  const { handoffState, inProgressState } = input;
  if (inProgressState === null) return [];
  const clashes = [
    ...(stateIn(effective(input).terminal, inProgressState) ? ['is also in tracker.terminal_states'] : []),
    ...(handoffState !== null && sameState(handoffState, inProgressState) ? ['is also tracker.handoff_state'] : []),
  ];
  if (clashes.length === 0) return [];
  const message = `tracker.in_progress_state ${quotedStates([inProgressState])} ${clashes.join(' and ')}`;
  return [warning('in_progress_state.collision', message)];
}

// A list that is not written still takes effect with its defaults.
function effective({ activeStates, terminalStates }: ProviderCheckInput) {
  return { active: names(activeStates ?? DEFAULTS.activeStates), terminal: names(terminalStates ?? DEFAULTS.terminalStates) };
}
