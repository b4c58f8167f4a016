import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import type { Check } from '../shared/checks.ts';
import {
  endpointInsecure,
  endpointInvalid,
  endpointSuffix,
  keyWhitespace,
  noChangeUnknown,
  overlapping,
  queryFilterInvalid,
  refusal,
  runChecks,
  tokenHint,
  warning,
} from '../shared/checks.ts';
import { parseQueryFilter } from './query-filter.ts';
import { API_SUFFIX, labelStates, projectFault, TOKEN_VARIABLES } from './settings.ts';

/** What is found without the network: errors first, then warnings, each in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return runChecks(CHECKS, input);
}

const CHECKS: readonly Check[] = [
  endpointInvalid(),
  projectFormat,
  queryFilterInvalid(filterFault),
  (input) => noChangeUnknown(input, labelStates(input).terminal),
  endpointInsecure,
  endpointSuffix(API_SUFFIX),
  tokenHint(TOKEN_VARIABLES),
  keyWhitespace,
  overlap,
  commas,
];

function projectFormat({ project }: ProviderCheckInput): readonly Problem[] {
  const fault = project === null ? undefined : projectFault(project);
  return fault ? [refusal('tracker_payload_error', 'project.format', `tracker.project ${fault}`)] : [];
}

function filterFault(filter: string): string | undefined {
  const parsed = parseQueryFilter(filter);
  return 'fault' in parsed ? `tracker.query_filter: ${parsed.fault}` : undefined;
}

// Judged with the defaults in place: they derive states where a list is not written.
function overlap(input: ProviderCheckInput): readonly Problem[] {
  const { active, terminal } = labelStates(input);
  return overlapping(active, terminal).map((state) => {
    const message = `${JSON.stringify(state)} is both an active and a terminal state: such issues are never taken for finished`;
    return warning('states.overlap', message, ['terminal_states']);
  });
}

// A list of labels is comma-separated on the wire, so such a state could not be set.
function commas({ activeStates, terminalStates, handoffState }: ProviderCheckInput): readonly Problem[] {
  const lists = [
    ['active_states', activeStates ?? []],
    ['terminal_states', terminalStates ?? []],
    ['handoff_state', handoffState === null ? [] : [handoffState]],
  ] as const;
  return lists.flatMap(([key, states]) =>
    states
      .filter((state) => state.includes(','))
      .map((state) => warning(`${key}.comma`, `the state ${JSON.stringify(state)} holds a comma, which no label can have`)),
  );
}
