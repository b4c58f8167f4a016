import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { payloadError } from './client.ts';
import { namingScope } from './merge.ts';
import { BRANCH } from './scm-schema.ts';

/** Null where there is no such branch. */
export async function branchHead(
  http: TrackerHttp,
  { owner, repo }: RepoKey,
  branch: string,
  signal: AbortSignal,
): Promise<string | null> {
  const route = path`/repos/${owner}/${repo}/branches/${branch}`;
  if (branch === '') throw payloadError('GET', route, 'not sent: no branch was named');
  // Gitea API, "Retrieve a specific branch from a repository, including its effective branch protection".
  const found = await whenMissing(http.getJson(BRANCH, { path: route }, signal), null);
  return found?.commit.id ?? null;
}

export async function deleteBranch(
  http: TrackerHttp,
  { owner, repo }: RepoKey,
  branch: string,
  signal: AbortSignal,
): Promise<void> {
  const route = path`/repos/${owner}/${repo}/branches/${branch}`;
  if (branch === '') throw payloadError('DELETE', route, 'not sent: no branch was named');
  try {
    // Gitea API, "Delete a specific branch from a repository".
    await whenMissing(http.send('DELETE', { path: route }, signal), undefined);
  } catch (error) {
    // Forgejo answers 500 where there is nothing to delete.
    const isGone = async () => (await branchHead(http, { owner, repo }, branch, signal).catch(() => 'unknown')) === null;
    if (error instanceof TrackerError && error.status === 500 && (await isGone())) return;
    throw namingScope(error, 'DELETE', route);
  }
}
