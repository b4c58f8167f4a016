import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { sameState, stateIn } from '../../domain/model/issue.ts';
import type { Problem } from '../../domain/model/problem.ts';
import type { ProviderCheckInput } from '../../ports/provider.ts';
import { parseEndpoint } from './endpoint.ts';

/** One thing that can be judged without the network. */
export type Check = (input: ProviderCheckInput) => readonly Problem[];
export type StateKey = 'active_states' | 'terminal_states';

/** Every problem, in the order of the checks. */
export function runChecks(checks: readonly Check[], input: ProviderCheckInput): readonly Problem[] {
  return checks.flatMap((check) => check(input));
}

/** A problem whose check id begins with `tracker.`. Without a key of its own it is about the first part of that id. */
export function error(check: string, message: string, key?: Problem['key']): Problem {
  return problem('error', check, message, key);
}

/** The same for what only deserves a look. */
export function warning(check: string, message: string, key?: Problem['key']): Problem {
  return problem('warning', check, message, key);
}

/** An error that the adapter would raise as this kind when it is built, which the message therefore names. */
export function refusal(kind: TrackerErrorKind, check: string, message: string, key?: Problem['key']): Problem {
  return problem('error', check, `${kind}: ${message}`, key);
}

function problem(severity: Problem['severity'], check: string, message: string, key?: Problem['key']): Problem {
  const [first = ''] = check.split('.');
  return { severity, check: `tracker.${check}`, message, key: ['tracker', ...(key ?? [first])] };
}

export function endpointInvalid(parse: (value: string) => object = parseEndpoint): Check {
  return ({ endpoint }) => {
    const parsed = endpoint === null ? null : parse(endpoint);
    if (!parsed || !('fault' in parsed)) return [];
    return [refusal('tracker_payload_error', 'endpoint.invalid', `tracker.endpoint ${String(parsed.fault)}`)];
  };
}

export function endpointInsecure({ endpoint }: ProviderCheckInput): readonly Problem[] {
  const parsed = endpoint === null ? null : parseEndpoint(endpoint);
  if (!parsed || 'fault' in parsed || parsed.secure) return [];
  return [warning('endpoint.insecure', `tracker.endpoint ${parsed.shown} is plain http: the token is sent in cleartext`)];
}

export function endpointSuffix(suffix: string): Check {
  return ({ endpoint }) => {
    const parsed = endpoint === null ? null : parseEndpoint(endpoint);
    if (!parsed || 'fault' in parsed || !parsed.url.endsWith(suffix)) return [];
    const message = `tracker.endpoint already ends in ${suffix}; the address of the instance is enough`;
    return [warning('endpoint.api_suffix', message)];
  };
}

/** `faultOf` says what is wrong with a filter, or undefined. */
export function queryFilterInvalid(faultOf: (filter: string) => string | undefined): Check {
  return ({ queryFilter }) => {
    const fault = faultOf(queryFilter ?? '');
    return fault === undefined ? [] : [refusal('tracker_payload_error', 'query_filter.invalid', fault)];
  };
}

export function keyWhitespace({ apiKey }: ProviderCheckInput): readonly Problem[] {
  if (!apiKey?.trim() || apiKey === apiKey.trim()) return [];
  return [warning('api_key.whitespace', 'tracker.api_key has white space around it: authentication will fail')];
}

/** The first of the conventional variables that is set, where the key is empty. Values are never shown. */
export function setVariable({ apiKey, env }: ProviderCheckInput, variables: readonly string[]): string | undefined {
  return apiKey?.trim() ? undefined : variables.find((name) => env[name]?.trim());
}

export function tokenHint(variables: readonly string[], check = 'api_key.token_hint'): Check {
  return (input) => {
    const found = setVariable(input, variables);
    if (!found) return [];
    return [warning(check, `tracker.api_key is empty while ${found} is set; write api_key: $${found} to use it`)];
  };
}

/** States in both lists, each once. */
export function overlapping(active: readonly string[], terminal: readonly string[]): readonly string[] {
  return active.filter(
    (state, index) => stateIn(terminal, state) && active.findIndex((other) => sameState(other, state)) === index,
  );
}

/** Where only configured states can be moved to: one that is none would fail every time, and be tried for ever. */
export function noChangeUnknown({ noChangeState, handoffState, activeStates }: ProviderCheckInput, terminal: readonly string[]) {
  const known = [...(handoffState === null ? [] : [handoffState]), ...terminal, ...(activeStates ?? [])];
  if (!noChangeState || stateIn(known, noChangeState)) return [];
  const message = `tracker.no_change_state ${JSON.stringify(noChangeState)} is neither tracker.handoff_state nor one of tracker.terminal_states, so no issue could be moved to it`;
  return [refusal('tracker_payload_error', 'no_change_state', message)];
}

/** State names as a message shows them. */
export function quotedStates(states: readonly string[]): string {
  return states.map((state) => JSON.stringify(state)).join(', ');
}
