import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import type { Check, StateKey } from '../shared/checks.ts';
import {
  endpointInsecure,
  endpointInvalid,
  endpointSuffix,
  error,
  keyWhitespace,
  noChangeUnknown,
  overlapping,
  queryFilterInvalid,
  refusal,
  runChecks,
  tokenHint,
  warning,
} from '../shared/checks.ts';
import { API_SUFFIX, KIND, parseProject, parseQueryFilter, TOKEN_VARIABLES, unknownKeys } from './settings.ts';

/** What is found without the network: errors first, then warnings, each in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return runChecks(CHECKS, input);
}

const CHECKS: readonly Check[] = [
  endpointInvalid(),
  projectFormat,
  activeStatesMissing,
  ({ activeStates }) => emptyElements('active_states', activeStates),
  terminalStatesEmpty,
  ({ terminalStates }) => emptyElements('terminal_states', terminalStates),
  queryFilterInvalid(filterFault),
  (input) => noChangeUnknown(input, input.terminalStates ?? []),
  activeStatesEmpty,
  ({ activeStates }) => padding('active_states', activeStates),
  ({ terminalStates }) => padding('terminal_states', terminalStates),
  overlap,
  endpointInsecure,
  endpointSuffix(API_SUFFIX),
  keyWhitespace,
  tokenHint(TOKEN_VARIABLES),
  filterUnknownKeys,
];

function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  const parsed = project === null ? null : parseProject(project);
  if (!parsed || !('fault' in parsed)) return [];
  return [refusal('tracker_payload_error', 'project.format', `tracker.project ${parsed.fault}`)];
}

function activeStatesMissing({ activeStates, kindName = KIND }: ProviderCheckInput): readonly Problem[] {
  return activeStates === null ? [error('active_states', `tracker.active_states is required for tracker kind ${kindName}`)] : [];
}

// An empty list is a way to pause, so it is only worth a look.
function activeStatesEmpty({ activeStates }: ProviderCheckInput): readonly Problem[] {
  if (activeStates === null || activeStates.length > 0) return [];
  return [warning('active_states.empty', 'tracker.active_states is empty: nothing will be dispatched')];
}

function terminalStatesEmpty({ terminalStates, kindName = KIND }: ProviderCheckInput): readonly Problem[] {
  if (terminalStates !== null && terminalStates.length > 0) return [];
  const message = `tracker.terminal_states is required for tracker kind ${kindName}: name at least one state`;
  return [error('terminal_states.empty', message)];
}

function emptyElements(key: StateKey, states: readonly string[] | null): readonly Problem[] {
  return (states ?? []).flatMap((state, index) =>
    state.trim() === ''
      ? [error(`${key}.empty_element`, `tracker.${key}[${index}] is empty: no issue can be in such a state`, [key, index])]
      : [],
  );
}

function filterFault(filter: string): string | undefined {
  const parsed = parseQueryFilter(filter);
  return 'fault' in parsed ? `tracker.query_filter ${parsed.fault}` : undefined;
}

function padding(key: StateKey, states: readonly string[] | null): readonly Problem[] {
  return (states ?? []).flatMap((state, index) =>
    state.trim() !== '' && state !== state.trim()
      ? [warning('states.padding', `tracker.${key}[${index}] ${JSON.stringify(state)} has blanks around it`, [key, index])]
      : [],
  );
}

function overlap({ activeStates, terminalStates }: ProviderCheckInput): readonly Problem[] {
  return overlapping(activeStates ?? [], terminalStates ?? []).map((state) => {
    const message = `${JSON.stringify(state.trim())} is both an active and a terminal state: such issues are taken for finished`;
    return warning('states.overlap', message, ['terminal_states']);
  });
}

function filterUnknownKeys({ queryFilter }: ProviderCheckInput): readonly Problem[] {
  const filter = parseQueryFilter(queryFilter ?? '');
  if ('fault' in filter) return [];
  return unknownKeys(filter.entries).map((key) => {
    const message = `tracker.query_filter names ${JSON.stringify(key)}, which the remote may not know: it ignores such keys, so more issues match`;
    return warning('query_filter.unknown_key', message);
  });
}
