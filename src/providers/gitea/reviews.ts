import type { Trust } from '../../domain/model/settings.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import type { RequestKey, ReviewComment, ReviewDecision } from '../../ports/scm.ts';
import { readNumbered } from '../shared/numbered-pages.ts';
import { pullPath } from './client.ts';
import type { Counting, IsHeard } from './scm-map.ts';
import { hearing, isReviewAsked, standingRequests, toInlineComment, toRequestComment, trustedOf, verdictOf } from './scm-map.ts';
import type { PullContext } from './scm-routes.ts';
import { parseAll, readPull } from './scm-routes.ts';
import type { WireReview } from './scm-schema.ts';
import { ENTRIES, REVIEW, REVIEW_COMMENT } from './scm-schema.ts';

export async function readReviewDecision(
  context: PullContext,
  request: RequestKey,
  counting: Counting,
  signal: AbortSignal,
): Promise<ReviewDecision> {
  const reviews = await readReviews(context, request, signal);
  const verdict = verdictOf(trustedOf(reviews, counting.votes), reviewsPath(request), counting.own);
  if (verdict !== null) return verdict;
  const { requested_reviewers: requested } = await readPull(context, request, signal);
  return isReviewAsked(requested, reviews, counting) ? 'REVIEW_REQUIRED' : 'NOT_REQUIRED';
}

export async function readPendingReviews(
  context: PullContext,
  request: RequestKey,
  trust: Trust,
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const reviews = trustedOf(await readReviews(context, request, signal), trust);
  const standing = standingRequests(reviews, reviewsPath(request));
  return readComments(context, request, { reviews: standing, isHeard: hearing(reviews, trust) }, signal);
}

export async function readBotReviewComments(
  context: PullContext,
  request: RequestKey,
  botUsernames: readonly string[],
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const bots = new Set(botUsernames.map((name) => name.trim().toLowerCase()).filter(Boolean));
  if (bots.size === 0) return [];
  const reviews = (await readReviews(context, request, signal)).filter(({ dismissed }) => !dismissed);
  // A bot may answer within somebody else's review, so the authors are judged one by one.
  const isHeard: IsHeard = ({ user }) => bots.has(user?.login.toLowerCase() ?? '');
  const comments = await readComments(context, request, { reviews, isHeard }, signal);
  return comments.filter(({ reviewer }) => bots.has(reviewer.toLowerCase()));
}

async function readReviews(
  { http, reader, inline }: PullContext,
  request: RequestKey,
  signal: AbortSignal,
): Promise<readonly WireReview[]> {
  // Gitea API, "List all reviews for a pull request".
  const route = reviewsPath(request);
  const found = await readNumbered(reader, { path: route, entries: (answer) => http.decode('GET', ENTRIES, answer) }, signal);
  // A review that cannot be read may be the one that asks for changes.
  const reviews = parseAll(REVIEW, found, route);
  inline.raise(
    pullPath(request),
    reviews.reduce((sum, { comments_count: count }) => sum + count, 0),
  );
  return reviews;
}

/** Of each review its own words, then its comments that count and nobody has settled, in the order they were written. */
async function readComments(
  { http, reader }: PullContext,
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

function reviewsPath(request: RequestKey): string {
  return `${pullPath(request)}/reviews`;
}
