import { type ExpandedConnection, type Env, expand, type Expanded, valueIn } from './expand.ts';

/** What must not be shown, and which variables must not reach an agent. */
export interface Secrets {
  /** Longest first, so that masking one never leaves the tail of another. */
  readonly values: readonly string[];
  readonly variables: readonly string[];
}

/** Gathers the credentials of every block that has some, used or not, and the secrets of other keys. */
export function collectSecrets(connections: readonly ExpandedConnection[], others: readonly Expanded[], env: Env): Secrets {
  const keys = [...connections.flatMap(({ api_key }) => api_key ?? []), ...others];
  const values = [
    ...keys.flatMap(({ value, variables }) => [...keyValues(value), ...variables.map((name) => valueIn(env, name))]),
    ...connections.flatMap(({ endpoint }) => urlPasswords(endpoint?.value ?? '')),
  ];
  const variables = [...keys, ...connections.flatMap(({ endpoint, project }) => [endpoint, project])].flatMap(
    (expanded) => expanded?.variables ?? [],
  );
  const distinct = [...new Set(values)].filter((value) => value.trim() !== '');
  return { values: distinct.toSorted((a, b) => b.length - a.length), variables: [...new Set(variables)] };
}

/** The connection keys of a block whose kind is unknown: every reference counts, so that nothing leaks meanwhile. */
export function suspectConnection(keys: { api_key?: string; endpoint?: string; project?: string }, env: Env): ExpandedConnection {
  const one = (text: string | undefined) => (text === undefined ? null : expand(text, 'anywhere', env));
  return { api_key: one(keys.api_key), endpoint: one(keys.endpoint), project: one(keys.project) };
}

/** Shorter values would blot out ordinary words. */
const MIN_MASKED = 6;

/** Replaces every secret in a text. */
export function maskCollected(text: string, secrets: Secrets): string {
  return secrets.values
    .filter((value) => value.length >= MIN_MASKED)
    .reduce((masked, value) => masked.replaceAll(value, '***'), text);
}

// Of `user:token` the token alone is a secret too.
function keyValues(apiKey: string): readonly string[] {
  const token = apiKey.slice(apiKey.indexOf(':') + 1).trim();
  return [apiKey, apiKey.trim(), ...(token.length >= MIN_MASKED ? [token] : [])];
}

function urlPasswords(endpoint: string): readonly string[] {
  const userinfo = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)@/i.exec(endpoint.trim())?.[1];
  return userinfo === undefined ? [] : [userinfo, userinfo.slice(userinfo.indexOf(':') + 1)];
}
