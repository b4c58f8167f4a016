import { z } from 'zod';
import type { ZodType } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { ScmConnection } from '../../domain/model/settings.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import { path } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { CiConclusion, LabelEvent, RepoKey, RequestKey, ReviewComment, ScmAdapter, ScopeCheck } from '../../ports/scm.ts';
import { aggregate } from '../shared/ci-aggregate.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { recordFaultText } from '../shared/records.ts';
import { branchHead, deleteBranch } from './branches.ts';
import { createClient, createCounts, issuePath, pageReader, payloadError, pullPath, type Counts } from './client.ts';
import { createLabels, labelNamed } from './labels.ts';
import { mergePull } from './merge.ts';
import type { PageReader } from '../shared/numbered-pages.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import { hearing, isReviewAsked, standingRequests, trustedOf, verdictOf, type IsHeard } from './reviews.ts';
import { instantOf } from '../shared/rfc3339.ts';
import { LABEL } from './schema.ts';
import { byTime, toInlineComment, toLabelEvent, toMergeStatus, toRequestComment } from './scm-map.ts';
import type { WirePull, WireReview } from './scm-schema.ts';
import { ACCOUNT, DEFAULT_BRANCH, ENTRIES, LABEL_ENTRY, PERMISSIONS, PULL, REVIEW, REVIEW_COMMENT } from './scm-schema.ts';
import { KIND, readScmSettings } from './settings.ts';
import type { StatusReader } from './commit-status.ts';
import { createStatusReader, toCheckRun } from './commit-status.ts';

/** Pull requests of one instance; their repositories come with each call. */
export function createScm(connection: ScmConnection, deps: ProviderDeps): ScmAdapter {
  const http = createClient(readScmSettings(connection), deps);
  const reader: PageReader = pageReader(http, deps);
  const context: Context = { http, reader, statuses: createStatusReader(reader), inline: createCounts() };
  const readMergeStatus = async (request: RequestKey, signal: AbortSignal) =>
    toMergeStatus(await readPull(context, request, signal));

  return {
    kind: KIND,
    readReviewDecision: async (request, votes, signal, own = '') => {
      const reviews = await readReviews(context, request, signal);
      const verdict = verdictOf(trustedOf(reviews, votes), reviewsPath(request), own);
      if (verdict !== null) return verdict;
      const { requested_reviewers: requested } = await readPull(context, request, signal);
      return isReviewAsked(requested, reviews, votes, own) ? 'REVIEW_REQUIRED' : 'NOT_REQUIRED';
    },
    readMergeStatus,
    readCiStatus: (request, signal) => readCiStatus(context, request, signal),
    readPendingReviews: async (request, trust, signal) => {
      const reviews = trustedOf(await readReviews(context, request, signal), trust);
      const standing = standingRequests(reviews, reviewsPath(request));
      return readComments(context, request, { reviews: standing, isHeard: hearing(reviews, trust) }, signal);
    },
    readBotReviewComments: async (request, botUsernames, signal) => {
      const bots = new Set(botUsernames.map((name) => name.trim().toLowerCase()).filter(Boolean));
      if (bots.size === 0) return [];
      const reviews = (await readReviews(context, request, signal)).filter(({ dismissed }) => !dismissed);
      // A bot may answer within somebody else's review, so the authors are judged one by one.
      const isHeard: IsHeard = ({ user }) => bots.has(user?.login.toLowerCase() ?? '');
      const comments = await readComments(context, request, { reviews, isHeard }, signal);
      return comments.filter(({ reviewer }) => bots.has(reviewer.toLowerCase()));
    },
    readLabelEvents: (request, signal) => readLabelEvents(context, request, signal),
    // Gitea API, "Get the authenticated user".
    readOwnAccount: async (signal) => (await http.getJson(ACCOUNT, { path: '/user' }, signal)).login,
    // Gitea API, "Get a repository".
    readDefaultBranch: async ({ owner, repo }, signal) =>
      (await http.getJson(DEFAULT_BRANCH, { path: path`/repos/${owner}/${repo}` }, signal)).default_branch ?? '',
    readBranchHead: (repo, branch, signal) => branchHead(http, repo, branch, signal),
    // The remote has no merge queue.
    isQueued: () => Promise.resolve(false),
    enqueue: () => Promise.resolve(false),
    merge: (request, order, signal) => mergePull({ http, readStatus: readMergeStatus }, request, order, signal),
    deleteBranch: (repo, branch, signal) => deleteBranch(http, repo, branch, signal),
    removeLabel: (request, label, signal) => removeLabel(reader, request, label, signal),
    checkMergeScope: (repo, signal) => checkMergeScope(http, repo, signal),
  };
}

/** Everything the operations share. */
interface Context {
  readonly http: TrackerHttp;
  readonly reader: PageReader;
  readonly statuses: StatusReader;
  /** Inline comments by pull request, as far as earlier reads told. */
  readonly inline: Counts;
}

async function readPull({ http, inline }: Context, request: RequestKey, signal: AbortSignal): Promise<WirePull> {
  const route = pullPath(request);
  // Gitea API, "Get a pull request".
  const pull = await http.getJson(PULL, { path: route }, signal);
  inline.raise(route, pull.review_comments);
  return pull;
}

async function readReviews(
  { http, reader, inline }: Context,
  request: RequestKey,
  signal: AbortSignal,
): Promise<readonly WireReview[]> {
  // Gitea API, "List all reviews for a pull request".
  const route = reviewsPath(request);
  const found = await readNumbered(reader, { path: route, entries: (answer) => http.decode('GET', ENTRIES, answer) }, signal);
  // As a whole: a review that cannot be read may be the one that asks for changes.
  const reviews = parseAll(REVIEW, found, route);
  inline.raise(
    pullPath(request),
    reviews.reduce((sum, { comments_count: count }) => sum + count, 0),
  );
  return reviews;
}

/** Of each review its own words, then its comments that count and nobody has settled, in the order they were written. */
async function readComments(
  { http, reader }: Context,
  request: RequestKey,
  { reviews, isHeard }: { readonly reviews: readonly WireReview[]; readonly isHeard: IsHeard },
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const comments: ReviewComment[] = [];
  for (const review of reviews) {
    // Gitea API, "Get a specific review for a pull request".
    const route = `${reviewsPath(request)}/${review.id}/comments`;
    const list = { path: route, whole: true, entries: (answer: HttpResponse) => http.decode('GET', ENTRIES, answer) };
    const found = await readNumbered(reader, list, signal);
    const inline = http.records(REVIEW_COMMENT, found, route).filter((comment) => !comment.resolver && isHeard(comment));
    const whole = toRequestComment(review);
    // The remote's own order differs from answer to answer.
    comments.push(
      ...(whole ? [whole] : []),
      ...inline.toSorted((a, b) => a.id - b.id).map((comment) => toInlineComment(comment, review)),
    );
  }
  return comments;
}

/** The merge gate: no statuses at all is no obstacle. */
async function readCiStatus(context: Context, request: RequestKey, signal: AbortSignal): Promise<CiConclusion> {
  const { head } = await readPull(context, request, signal);
  if (!head?.sha) throw payloadError('GET', pullPath(request), 'the pull request names no head commit');
  const runs = (await context.statuses.read(request, head.sha, signal)).map(toCheckRun);
  return runs.length === 0 ? '' : aggregate(runs).status;
}

async function readLabelEvents(
  { http, reader, inline }: Context,
  request: RequestKey,
  signal: AbortSignal,
): Promise<readonly LabelEvent[]> {
  // Gitea API, "List all comments and events on an issue".
  const route = `${issuePath(request, String(request.number))}/timeline`;
  // Inline comments take up room in the pages and are then taken out of them.
  const hidden = inline.get(pullPath(request));
  const found = await readNumbered(
    reader,
    { path: route, hidden, entries: (answer) => http.decode('GET', ENTRIES, answer) },
    signal,
  );
  const events = parseAll(LABEL_ENTRY, found.filter(isLabelEntry), route).flatMap((entry) => {
    const at = entry.created_at;
    // Never replaced: a command would be missed, or obeyed twice.
    if (typeof at !== 'string' || instantOf(at) === null) {
      throw payloadError('GET', route, `timeline entry ${entry.id} has a created_at that is no RFC 3339 time`);
    }
    return toLabelEvent(entry, at) ?? [];
  });
  return events.toSorted(byTime);
}

async function removeLabel(reader: PageReader, request: RequestKey, label: string, signal: AbortSignal): Promise<void> {
  const { http } = reader;
  const id = String(request.number);
  const route = `${issuePath(request, id)}/labels`;
  // Gitea API, "Get an issue's labels".
  const carried = http.records(LABEL, await http.getJson(ENTRIES, { path: route }, signal), route);
  const matching = carried.filter((one) => labelNamed(label, [one]));
  await createLabels(reader, request).detach(id, matching, signal);
}

/** The role of the user can rule a merge out. It cannot promise one: what the token may do shows only when it is tried. */
async function checkMergeScope(http: TrackerHttp, { owner, repo }: RepoKey, signal: AbortSignal): Promise<ScopeCheck> {
  try {
    // Gitea API, "Get a repository".
    const { permissions } = await http.getJson(PERMISSIONS, { path: path`/repos/${owner}/${repo}` }, signal);
    if (permissions?.push === false) {
      return { mayMerge: 'no', detail: `the user of the token may not push to ${owner}/${repo}: give that user write access` };
    }
    return { mayMerge: 'unknown', detail: 'the remote does not tell the scopes of a token; merging needs write:repository' };
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    return { mayMerge: 'unknown', detail: `the permissions could not be read: ${error.message}` };
  }
}

function reviewsPath(request: RequestKey): string {
  return `${pullPath(request)}/reviews`;
}

function isLabelEntry(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && 'type' in entry && entry.type === 'label';
}

function parseAll<T>(schema: ZodType<T>, entries: readonly unknown[], route: string): readonly T[] {
  const parsed = z.array(schema).safeParse(entries);
  if (parsed.success) return parsed.data;
  throw payloadError('GET', route, `unexpected answer: ${recordFaultText(parsed.error)}`);
}
