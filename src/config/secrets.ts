import { isPlainMap } from './document.ts';
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

/**
 * The connection keys of a block, whether or not its kind is known and reads them: who names a variable there means a
 * credential, so that every reference counts.
 */
export function suspectConnection(block: unknown, env: Env): ExpandedConnection {
  const one = (key: string): Expanded | null => {
    const text = isPlainMap(block) ? block[key] : undefined;
    return typeof text === 'string' ? expand(text, 'anywhere', env) : null;
  };
  return { api_key: one('api_key'), endpoint: one('endpoint'), project: one('project') };
}

/** Keys of a block that are nothing but a reference, such as a credential under a misspelt name. */
export function suspectKeys(block: unknown, env: Env): readonly Expanded[] {
  const others = Object.entries(isPlainMap(block) ? block : {}).filter(([key]) => key !== 'endpoint' && key !== 'project');
  return others.flatMap(([, text]) => (typeof text === 'string' ? referenceIn(text, env) : []));
}

/** What is no reference stays as it is written, and is no secret. */
function referenceIn(text: string, env: Env): readonly Expanded[] {
  const expanded = expand(text, 'whole', env);
  return expanded.variables.length > 0 ? [expanded] : [];
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
