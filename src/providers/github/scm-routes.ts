import type { ScmConnection } from '../../domain/model/settings.ts';
import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { MergeOrder, RepoKey, RequestKey, ScopeCheck } from '../../ports/scm.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import type { Remedy } from './client.ts';
import { labelName } from './routes.ts';
import type { WirePull, WireReview, WireReviewComment } from './scm-schema.ts';
import { MERGE, PULL, REFERENCE, REPOSITORY, REVIEW, REVIEW_COMMENT } from './scm-schema.ts';
import { LIST_PAGE } from './settings.ts';

/** The remote's routes for pull requests, as they are on the wire. */
export interface PullRoutes {
  pull(request: RequestKey, signal: AbortSignal): Promise<WirePull>;
  /** Never answered from memory: that something became mergeable or not is no change of the request itself. */
  freshPull(request: RequestKey, signal: AbortSignal): Promise<WirePull>;
  reviews(request: RequestKey, signal: AbortSignal): Promise<readonly WireReview[]>;
  /** The comments on lines of all reviews. */
  comments(request: RequestKey, signal: AbortSignal): Promise<readonly WireReviewComment[]>;
  merge(request: RequestKey, order: MergeOrder, signal: AbortSignal): Promise<z.output<typeof MERGE>>;
  defaultBranch(repo: RepoKey, signal: AbortSignal): Promise<string>;
  /** Null where there is no such branch. */
  branchHead(repo: RepoKey, branch: string, signal: AbortSignal): Promise<string | null>;
  /** A branch that is not there is no fault. */
  deleteBranch(repo: RepoKey, branch: string, signal: AbortSignal): Promise<void>;
  /** A label that is not there is no fault. */
  removeLabel(request: RequestKey, label: string, signal: AbortSignal): Promise<void>;
}

export function createPullRoutes(http: TrackerHttp): PullRoutes {
  const headers = { 'Cache-Control': 'no-cache' };
  return {
    // REST API, "Get a pull request".
    pull: async (request, signal) => http.getJson(PULL, { path: pullPath(request) }, signal),
    freshPull: async (request, signal) => http.getJson(PULL, { path: pullPath(request), headers }, signal),
    reviews: async (request, signal) => {
      // A review that cannot be read may be the one that objects: none of them is left out.
      // REST API, "List reviews for a pull request".
      const pages = await http.getPages(z.array(REVIEW), { path: `${pullPath(request)}/reviews`, query: PAGED }, signal);
      return pages.flat();
    },
    // Not the list of a single review: that one does not tell the lines.
    comments: async (request, signal) =>
      // REST API, "List review comments on a pull request".
      http.getRecords(REVIEW_COMMENT, { path: `${pullPath(request)}/comments`, query: PAGED }, signal),
    merge: async (request, { strategy, expectedSha }, signal) => {
      const body = { merge_method: strategy, sha: expectedSha };
      // REST API, "Merge a pull request".
      return http.sendJson('PUT', MERGE, { path: `${pullPath(request)}/merge`, body }, signal);
    },
    // REST API, "Get a repository".
    defaultBranch: async (repo, signal) => (await http.getJson(REPOSITORY, { path: repoPath(repo) }, signal)).default_branch,
    branchHead: async (repo, branch, signal) => {
      // REST API, "Get a reference".
      const place = repoPath(repo) + path`/git/ref/heads/${branchName(branch)}`;
      return (await whenMissing(http.getJson(REFERENCE, { path: place }, signal), null))?.object.sha ?? null;
    },
    deleteBranch: async (repo, branch, signal) => {
      // REST API, "Delete a reference".
      const place = repoPath(repo) + path`/git/refs/heads/${branchName(branch)}`;
      await whenNoReference(http.send('DELETE', { path: place }, signal));
    },
    removeLabel: async (request, label, signal) => {
      // REST API, "Remove a label from an issue".
      const labels = `${issuePath(request)}/labels`;
      const place = labels + path`/${labelName(label, 'DELETE', labels)}`;
      await whenMissing(http.send('DELETE', { path: place }, signal), null);
    },
  };
}

const PAGED = { per_page: LIST_PAGE };

/** A pull request is an issue as well: its labels and its journal are there. */
export function issuePath(request: RequestKey): string {
  return `${repoPath(request)}/issues/${pullNumber(request)}`;
}

export function pullPath(request: RequestKey): string {
  return `${repoPath(request)}/pulls/${pullNumber(request)}`;
}

function repoPath({ owner, repo }: RepoKey): string {
  if (owner.trim() !== '' && repo.trim() !== '') return path`/repos/${owner}/${repo}`;
  throw unusable('repository', JSON.stringify(`${owner}/${repo}`), 'it has no owner or no name');
}

// Anything else would name another route.
function pullNumber({ number }: RequestKey): number {
  if (Number.isSafeInteger(number) && number > 0) return number;
  throw unusable('pull request', String(number), 'not a pull request number');
}

function branchName(branch: string): string {
  if (branch.trim() !== '') return branch;
  throw unusable('branch', JSON.stringify(branch), 'the branch has no name');
}

function unusable(method: string, place: string, detail: string): TrackerError {
  return new TrackerError({ kind: 'tracker_payload_error', method, path: place, detail });
}

// The remote has answered both ways to the deletion of what is gone.
async function whenNoReference(deleted: Promise<unknown>): Promise<void> {
  try {
    await deleted;
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    if (error.status === 404 || (error.status === 422 && /reference does not exist/i.test(error.detail))) return;
    throw error;
  }
}

/** The scopes of a classic token that may merge; the second one in public repositories. */
const MERGING_SCOPES = ['repo', 'public_repo'];

/**
 * Only classic tokens tell what they may do, in a header of any answer; this route costs nothing. Fine-grained tokens and
 * those of apps have no such header, or an empty one, and an enterprise edition without limits has no such route.
 */
export async function checkMergeScope(http: TrackerHttp, signal: AbortSignal): Promise<ScopeCheck> {
  // REST API, "Get rate limit status for the authenticated user": its answer carries the scopes and costs nothing.
  const answer = await whenMissing(http.send('GET', { path: '/rate_limit' }, signal), null);
  const told = answer?.headers.get('x-oauth-scopes') ?? '';
  const scopes = told.split(',').map((scope) => scope.trim().toLowerCase());
  if (scopes.some((scope) => MERGING_SCOPES.includes(scope)))
    return { mayMerge: 'yes', detail: `the token has the scopes ${told}` };
  if (told.trim() === '') return { mayMerge: 'unknown', detail: 'the token does not tell what it may do' };
  return { mayMerge: 'no', detail: `the token has the scopes ${told}, merging needs repo (public_repo for public repositories)` };
}

const CLASSIC = 'a classic token the scope repo';

/** What an operator can do about an answer of the merge-request side. The first that fits is shown. */
export function scmRemedies({ name }: ScmConnection): readonly Remedy[] {
  const remedy = `the token is wrong, expired or revoked: check ${name}.api_key or tracker.api_key`;
  return [{ status: 401, where: /./, remedy }, ...RIGHTS];
}

const RIGHTS: readonly Remedy[] = [
  {
    status: 403,
    where: /\/merge$/,
    remedy: `merging needs the permissions contents:write and pull_requests:write, ${CLASSIC}, and a branch rule may forbid it`,
    always: true,
  },
  {
    status: 403,
    where: /\/git\/refs\//,
    remedy: `deleting a branch needs the permission contents:write, ${CLASSIC}`,
    always: true,
  },
  { status: 403, where: /\/labels\//, remedy: `removing a label needs the permission pull_requests:write, ${CLASSIC}` },
  { status: 403, where: /\/check-runs$/, remedy: `reading check runs needs the permission checks:read, ${CLASSIC}` },
  { status: 403, where: /\/status$/, remedy: `reading commit statuses needs the permission statuses:read, ${CLASSIC}` },
  { status: 403, where: /\/actions\//, remedy: `reading job logs needs the permission actions:read, ${CLASSIC}` },
  {
    status: 403,
    where: /\/pulls$/,
    remedy: `listing pull requests needs the permission pull_requests:read, opening one pull_requests:write, ${CLASSIC}`,
  },
  { status: 403, where: /./, remedy: `reading pull requests needs the permission pull_requests:read, ${CLASSIC}` },
  { status: 404, where: /\/pulls\/\d+(\/|$)/, remedy: 'there is no such pull request, or the token may not see it' },
  { status: 422, where: /\/commits\//, remedy: 'the repository has no such commit or branch' },
];
