import type { Problem } from '../domain/model/problem.ts';
import type { Expansion, ProviderFacts } from '../ports/provider.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** A value after its references were replaced. */
export interface Expanded {
  readonly value: string;
  /** Names of the variables that were referred to. */
  readonly variables: readonly string[];
  /** Those of them that are unset or empty. */
  readonly unset: readonly string[];
}

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const REFERENCE = new RegExp(`\\$(?:\\{(${NAME})\\}|(${NAME}))`, 'g');
const ONE_REFERENCE = new RegExp(`^\\$(?:\\{${NAME}\\}|${NAME})$`);

/** Replaces `$NAME` and `${NAME}` where the mode allows it; anything else stays as it is written. */
export function expand(text: string, mode: Expansion, env: Env): Expanded {
  if (!isReplaced(text, mode)) return { value: text, variables: [], unset: [] };
  const variables: string[] = [];
  const value = text.replace(REFERENCE, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? '';
    if (!variables.includes(name)) variables.push(name);
    return valueIn(env, name);
  });
  return { value, variables, unset: variables.filter((name) => valueIn(env, name) === '') };
}

function isReplaced(text: string, mode: Expansion): boolean {
  return mode === 'anywhere' || (mode === 'whole' && ONE_REFERENCE.test(text));
}

/** Why references stand as they are written; null where there are none or they are replaced. */
export function literalNote(text: string | undefined, mode: Expansion): string | null {
  if (text === undefined || isReplaced(text, mode)) return null;
  const names = referencesIn(text).map((name) => `$${name}`);
  if (names.length === 0) return null;
  const why = mode === 'whole' ? 'only a value that is one reference and nothing else is' : 'write the value itself';
  return `${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} not replaced here: ${why}`;
}

/** The names of all variables that a text may refer to. */
export function referencesIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(REFERENCE)].map(([, braced, bare]) => braced ?? bare ?? ''))];
}

/** The keys of a tracker or provider block that may hold references; null is "not written". */
export interface ExpandedConnection {
  readonly api_key: Expanded | null;
  readonly endpoint: Expanded | null;
  readonly project: Expanded | null;
}

interface ConnectionKeys {
  readonly api_key?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly project?: string | undefined;
}

/** Expands a block's connection keys in the manner of its kind. */
export function expandConnection(keys: ConnectionKeys, modes: ProviderFacts['expansion'], env: Env): ExpandedConnection {
  const one = (text: string | undefined, mode: Expansion) => (text === undefined ? null : expand(text, mode, env));
  return {
    api_key: one(keys.api_key, modes.apiKey),
    endpoint: one(keys.endpoint, modes.endpoint),
    project: one(keys.project, modes.project),
  };
}

/** `: $A and $B are not set`: the variables behind an empty value, never their content. */
export function unsetNote(expanded: Expanded | null): string {
  const names = (expanded?.unset ?? []).map((name) => `$${name}`);
  if (names.length === 0) return '';
  return `: ${names.join(' and ')} ${names.length > 1 ? 'are' : 'is'} not set`;
}

/** A problem of a value, with the variables that are to blame for it. */
export function blamingUnset(problem: Problem, expanded: Expanded | null): Problem {
  return expanded === null || expanded.unset.length === 0 ? problem : { ...problem, unset: expanded.unset };
}

/** The value of a variable; empty when it is unset. Names that every object has are no variables. */
export function valueIn(env: Env, name: string): string {
  return (Object.hasOwn(env, name) ? env[name] : undefined) ?? '';
}
