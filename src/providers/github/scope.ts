import type { ScopeCheck } from '../../ports/scm.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';

/** The scopes of a classic token that may merge; the second one in public repositories. */
const MERGING_SCOPES = ['repo', 'public_repo'];

/**
 * Only classic tokens tell what they may do, in a header of any answer; this route costs nothing. Fine-grained tokens and
 * those of apps have no such header, or an empty one, and an enterprise edition without limits has no such route.
 */
export async function checkMergeScope(http: TrackerHttp, signal: AbortSignal): Promise<ScopeCheck> {
  const answer = await whenMissing(http.send('GET', { path: '/rate_limit' }, signal), null);
  const told = answer?.headers.get('x-oauth-scopes') ?? '';
  const scopes = told.split(',').map((scope) => scope.trim().toLowerCase());
  if (scopes.some((scope) => MERGING_SCOPES.includes(scope)))
    return { mayMerge: 'yes', detail: `the token has the scopes ${told}` };
  if (told.trim() === '') return { mayMerge: 'unknown', detail: 'the token does not tell what it may do' };
  return { mayMerge: 'no', detail: `the token has the scopes ${told}, merging needs repo (public_repo for public repositories)` };
}
