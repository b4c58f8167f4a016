import { TrackerError } from '../../domain/model/errors.ts';
import type { Trust } from '../../domain/model/settings.ts';
import type { RequestKey, ReviewComment, ReviewDecision } from '../../ports/scm.ts';
import type { PullContext } from './pull-context.ts';
import { botComments, DECISIONS, foldDecision, isTrustedReviewer, objections, reviewComments, type Counting } from './scm-map.ts';
import { issuePath } from './scm-routes.ts';
import type { WireReviewComment } from './scm-schema.ts';

export async function readReviewDecision(
  context: PullContext,
  request: RequestKey,
  counting: Counting,
  signal: AbortSignal,
): Promise<ReviewDecision> {
  const { routes, warnOnce } = context;
  // Checked before the first request, which names no path.
  issuePath(request);
  const told = await toldDecision(context, request, signal);
  if (!DECISIONS.has(told)) warnOnce('review decision is not known, a review is waited for', request, told);
  // No vote can make more of it than the remote does.
  if (told === 'REVIEW_REQUIRED') return told;
  const reviews = await routes.reviews(request, signal);
  return foldDecision(told, await routes.pull(request, signal), reviews, counting);
}

/** Where the remote has no GraphQL side, the reviews decide, and its own rules by what it calls mergeable. */
async function toldDecision({ readFacts, warnOnce }: PullContext, request: RequestKey, signal: AbortSignal): Promise<string> {
  try {
    return (await readFacts(request, signal)).reviewDecision.toUpperCase();
  } catch (error) {
    if (!(error instanceof TrackerError) || error.status !== 404) throw error;
    warnOnce('the review decision of the remote could not be read, the reviews decide', request, error.message);
    return '';
  }
}

export async function readPendingReviews(
  context: PullContext,
  request: RequestKey,
  trust: Trust,
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const reviews = objections(
    (await context.routes.reviews(request, signal)).filter((review) => isTrustedReviewer(review, trust)),
  );
  if (reviews.length === 0) return [];
  return reviewComments(
    reviews,
    (await openComments(context, request, signal)).filter((comment) => isTrustedReviewer(comment, trust)),
  );
}

/** The comments on lines whose conversation nobody has settled. Where that cannot be read, all of them. */
async function openComments(
  context: PullContext,
  request: RequestKey,
  signal: AbortSignal,
): Promise<readonly WireReviewComment[]> {
  const comments = await context.routes.comments(request, signal);
  if (comments.length === 0) return [];
  try {
    const resolved = await context.graph.readResolved(request, signal);
    return comments.filter(({ id }) => !resolved.has(id));
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    context.warnOnce('which conversations are resolved could not be read, all comments count', request, error.message);
    return comments;
  }
}

export async function readBotReviewComments(
  context: PullContext,
  request: RequestKey,
  botUsernames: readonly string[],
  signal: AbortSignal,
): Promise<readonly ReviewComment[]> {
  const reviews = await context.routes.reviews(request, signal);
  return botComments(reviews, await openComments(context, request, signal), botUsernames);
}
