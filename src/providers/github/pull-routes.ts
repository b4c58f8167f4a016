import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { MergeOrder, RepoKey, RequestKey } from '../../ports/scm.ts';
import { whenMissing } from '../shared/failures.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { LIST_PAGE } from './commit-checks.ts';
import { labelName } from './routes.ts';
import type { WirePull, WireReview, WireReviewComment } from './scm-schema.ts';
import { MERGE, PULL, REVIEW, REVIEW_COMMENT } from './scm-schema.ts';

/** The remote's routes for pull requests, as they are on the wire. */
export interface PullRoutes {
  pull(request: RequestKey, signal: AbortSignal): Promise<WirePull>;
  /** Never answered from memory: that something became mergeable or not is no change of the request itself. */
  freshPull(request: RequestKey, signal: AbortSignal): Promise<WirePull>;
  reviews(request: RequestKey, signal: AbortSignal): Promise<readonly WireReview[]>;
  /** The comments on lines of all reviews. */
  comments(request: RequestKey, signal: AbortSignal): Promise<readonly WireReviewComment[]>;
  merge(request: RequestKey, order: MergeOrder, signal: AbortSignal): Promise<z.output<typeof MERGE>>;
  /** A branch that is not there is no fault. */
  deleteBranch(repo: RepoKey, branch: string, signal: AbortSignal): Promise<void>;
  /** A label that is not there is no fault. */
  removeLabel(request: RequestKey, label: string, signal: AbortSignal): Promise<void>;
}

export function createPullRoutes(http: TrackerHttp): PullRoutes {
  const headers = { 'Cache-Control': 'no-cache' };
  return {
    pull: async (request, signal) => http.getJson(PULL, { path: pullPath(request) }, signal),
    freshPull: async (request, signal) => http.getJson(PULL, { path: pullPath(request), headers }, signal),
    reviews: async (request, signal) => {
      // A review that cannot be read may be the one that objects: none of them is left out.
      const pages = await http.getPages(z.array(REVIEW), { path: `${pullPath(request)}/reviews`, query: PAGED }, signal);
      return pages.flat();
    },
    // Not the list of a single review: that one does not tell the lines.
    comments: async (request, signal) =>
      http.getRecords(REVIEW_COMMENT, { path: `${pullPath(request)}/comments`, query: PAGED }, signal),
    merge: async (request, { strategy, expectedSha }, signal) => {
      const body = { merge_method: strategy, sha: expectedSha };
      return http.sendJson('PUT', MERGE, { path: `${pullPath(request)}/merge`, body }, signal);
    },
    deleteBranch: async (repo, branch, signal) => {
      const place = repoPath(repo) + path`/git/refs/heads/${branchName(branch)}`;
      await whenNoReference(http.send('DELETE', { path: place }, signal));
    },
    removeLabel: async (request, label, signal) => {
      const place = issuePath(request) + path`/labels/${labelName(label)}`;
      await whenMissing(http.send('DELETE', { path: place }, signal), null);
    },
  };
}

const PAGED = { per_page: LIST_PAGE };

/** A pull request is an issue as well: its labels and its journal are there. */
export function issuePath(request: RequestKey): string {
  return `${repoPath(request)}/issues/${pullNumber(request)}`;
}

function pullPath(request: RequestKey): string {
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
