import { stateIn } from '../../domain/model/issue.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { parseEndpoint } from '../shared/endpoint.ts';
import { parseQueryFilter } from './query-filter.ts';
import { API_SUFFIX, labelStates, projectFault, TOKEN_VARIABLES } from './settings.ts';

/** Everything that can be told without the network: errors first, then warnings, each in the documented order. */
export function check(input: ProviderCheckInput): readonly Problem[] {
  return [
    ...endpointErrors(input),
    ...projectErrors(input),
    ...filterErrors(input),
    ...endpointWarnings(input),
    ...keyWarnings(input),
    ...overlapWarnings(input),
    ...commaWarnings(input),
  ];
}

function endpointErrors({ endpoint }: ProviderCheckInput): readonly Problem[] {
  const parsed = endpoint === null ? null : parseEndpoint(endpoint);
  if (!parsed || !('fault' in parsed)) return [];
  return [problem('error', 'tracker.endpoint.invalid', `tracker.endpoint ${parsed.fault}`)];
}

function projectErrors({ project }: ProviderCheckInput): readonly Problem[] {
  const fault = project === null ? undefined : projectFault(project);
  return fault ? [problem('error', 'tracker.project.format', `tracker.project ${fault}`)] : [];
}

function filterErrors({ queryFilter }: ProviderCheckInput): readonly Problem[] {
  const parsed = parseQueryFilter(queryFilter ?? '');
  return 'fault' in parsed ? [problem('error', 'tracker.query_filter.invalid', `tracker.query_filter: ${parsed.fault}`)] : [];
}

function endpointWarnings({ endpoint }: ProviderCheckInput): readonly Problem[] {
  const parsed = endpoint === null ? null : parseEndpoint(endpoint);
  if (!parsed || 'fault' in parsed) return [];
  const insecure = `tracker.endpoint ${parsed.shown} is plain http: the token is sent in cleartext`;
  const suffixed = `tracker.endpoint already ends in ${API_SUFFIX}; the address of the instance is enough`;
  return [
    ...(parsed.secure ? [] : [problem('warning', 'tracker.endpoint.insecure', insecure)]),
    ...(parsed.url.endsWith(API_SUFFIX) ? [problem('warning', 'tracker.endpoint.api_suffix', suffixed)] : []),
  ];
}

function keyWarnings({ apiKey, env }: ProviderCheckInput): readonly Problem[] {
  const key = apiKey ?? '';
  if (key.trim() === '') {
    const variable = TOKEN_VARIABLES.find((name) => env[name]?.trim());
    if (!variable) return [];
    const hint = `tracker.api_key is empty while ${variable} is set; write api_key: $${variable} to use it`;
    return [problem('warning', 'tracker.api_key.token_hint', hint)];
  }
  if (key === key.trim()) return [];
  return [
    problem('warning', 'tracker.api_key.whitespace', 'tracker.api_key has white space around it: authentication will fail'),
  ];
}

// Judged with the defaults in place: they derive states where a list is not written.
function overlapWarnings(input: ProviderCheckInput): readonly Problem[] {
  const { active, terminal } = labelStates(input);
  return active
    .filter((state) => stateIn(terminal, state))
    .map((state) => {
      const message = `${JSON.stringify(state)} is both an active and a terminal state: such issues are never taken for finished`;
      return problem('warning', 'tracker.states.overlap', message, 'terminal_states');
    });
}

// A list of labels is comma-separated on the wire, so such a state could not be set.
function commaWarnings({ activeStates, terminalStates, handoffState }: ProviderCheckInput): readonly Problem[] {
  const lists = [
    ['active_states', activeStates ?? []],
    ['terminal_states', terminalStates ?? []],
    ['handoff_state', handoffState === null ? [] : [handoffState]],
  ] as const;
  return lists.flatMap(([key, states]) =>
    states
      .filter((state) => state.includes(','))
      .map((state) =>
        problem('warning', `tracker.${key}.comma`, `the state ${JSON.stringify(state)} holds a comma, which no label can have`),
      ),
  );
}

// Without a key of its own a problem is about the first part of its check id.
function problem(severity: Problem['severity'], check: string, message: string, key = check.split('.')[1]!): Problem {
  return { severity, check, message, key: ['tracker', key] };
}
