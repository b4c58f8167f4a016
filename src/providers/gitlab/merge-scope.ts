import { TrackerError } from '../../domain/model/errors.ts';
import type { ScopeCheck } from '../../ports/scm.ts';
import type { Forge } from './forge.ts';
import { TOKEN_SELF } from './schema.ts';
import { KIND } from './settings.ts';

/** Whether the token may merge. Older servers lack the route and some tokens its scopes, so only a plain "no" counts against it. */
export async function checkMergeScope({ http, logger }: Forge, signal: AbortSignal): Promise<ScopeCheck> {
  try {
    const { scopes } = await http.getJson(TOKEN_SELF, { path: '/personal_access_tokens/self' }, signal);
    return judgeScopes(scopes ?? []);
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    logger.debug('token scopes could not be read', { tracker_kind: KIND, error: error.message });
    return { mayMerge: 'unknown', detail: `the scopes of the token could not be read: ${error.detail}` };
  }
}

export function judgeScopes(scopes: readonly string[]): ScopeCheck {
  if (scopes.includes('api')) return { mayMerge: 'yes', detail: 'the token has the scope api' };
  if (scopes.length === 0) return { mayMerge: 'unknown', detail: 'the token names no scopes' };
  if (scopes.length === 1 && scopes[0] === 'granular') {
    return { mayMerge: 'unknown', detail: 'the token has granular permissions, which cannot be read' };
  }
  const detail = `the token has no scope api (only ${scopes.join(', ')}), so it cannot merge: give ${KIND}.api_key one that has`;
  return { mayMerge: 'no', detail };
}
