import { path } from '../../lib/http/index.ts';
import type { RepoKey } from '../../ports/scm.ts';
import type { Rights, TokenUses } from '../../ports/tracker.ts';
import type { createClient } from './client.ts';
import { REPOSITORY_FACTS } from './schema.ts';

/** What fine-grained tokens and those of apps need, and do not tell. */
const PERMISSIONS = ['Issues (read and write)', 'Metadata (read)'] as const;

/**
 * Classic tokens tell their scopes with every answer (REST API, "Scopes for OAuth apps"): `repo`, or `public_repo` where the
 * repository is public. Others have no such header, or an empty one.
 */
export async function readRights(
  http: ReturnType<typeof createClient>,
  { owner, repo }: RepoKey,
  signal: AbortSignal,
  uses?: TokenUses,
): Promise<Rights> {
  // REST API, "Get a repository".
  const answer = await http.send('GET', { path: path`/repos/${owner}/${repo}` }, signal);
  const scopes = (answer.headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim().toLowerCase());
  if (scopes.join('') === '') return { missing: [], untold: permissionsFor(uses) };
  const { private: isPrivate } = http.decode('GET', REPOSITORY_FACTS, answer);
  const isEnough = scopes.includes('repo') || (isPrivate === false && scopes.includes('public_repo'));
  return { missing: isEnough ? [] : ['repo'], untold: [] };
}

function permissionsFor(uses: TokenUses | undefined): readonly string[] {
  return [
    ...PERMISSIONS,
    ...(uses?.pushes ? ['Contents (read and write)'] : []),
    ...(uses?.opensRequests ? ['Pull requests (read and write)'] : []),
  ];
}
