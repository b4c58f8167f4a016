import { requiredInstant } from '../shared/rfc3339.ts';
import type { LabelEvent, MergeStatus, Mergeability, ReviewComment, ReviewDecision } from '../../ports/scm.ts';
import type { WireEvent, WirePull, WireReview, WireReviewComment, WireUser } from './scm-schema.ts';

/** What the remote's one word for it means. Any other word is blocked, and reported. */
export const MERGEABLE_STATES: ReadonlyMap<string, Mergeability> = new Map([
  ['clean', 'clean'],
  ['has_hooks', 'clean'],
  ['dirty', 'dirty'],
  ['unstable', 'unstable'],
  ['blocked', 'blocked'],
  ['behind', 'blocked'],
  ['draft', 'blocked'],
  ['unknown', 'unknown'],
  ['', 'unknown'],
]);

export function toMergeStatus(pull: WirePull, mergeCommitSha: string): MergeStatus {
  const merged = isMerged(pull);
  return {
    mergeability: mergeabilityOf(pull),
    draft: pull.draft ?? false,
    merged,
    closed: pull.state.toLowerCase() === 'closed' && !merged,
    headSha: pull.head.sha,
    headBranch: pull.head.ref,
    baseBranch: pull.base.ref,
    mergeCommitSha: merged ? mergeCommitSha : '',
    labels: pull.labels.map((label) => label.toLowerCase()),
    url: pull.html_url,
  };
}

/** Nothing is clean while the remote still works out whether it can be merged, or says that it cannot. */
export function mergeabilityOf({ mergeable, mergeable_state }: WirePull): Mergeability {
  if (typeof mergeable !== 'boolean') return 'unknown';
  const said = MERGEABLE_STATES.get(mergeable_state.toLowerCase()) ?? 'blocked';
  return !mergeable && (said === 'clean' || said === 'unstable') ? 'unknown' : said;
}

export function isMerged({ merged, merged_at }: WirePull): boolean {
  return merged ?? merged_at !== '';
}

/** What the remote decided by itself. Anything else is folded from the reviews, see `foldDecision`. */
export const DECISIONS: ReadonlyMap<string, ReviewDecision> = new Map([
  ['APPROVED', 'APPROVED'],
  ['CHANGES_REQUESTED', 'CHANGES_REQUESTED'],
  ['REVIEW_REQUIRED', 'REVIEW_REQUIRED'],
]);

/**
 * For a base branch that asks for no reviews, where the remote decides nothing. Somebody who objects still counts, and so
 * does somebody who was asked and has not answered.
 */
export function foldDecision(pull: WirePull, reviews: readonly WireReview[]): ReviewDecision {
  const standing = standingReviews(reviews).map(stateOf);
  if (standing.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  const asked = (pull.requested_reviewers?.length ?? 0) + (pull.requested_teams?.length ?? 0);
  if (asked > 0) return 'REVIEW_REQUIRED';
  return standing.includes('APPROVED') ? 'APPROVED' : 'NOT_REQUIRED';
}

/** The states in which a reviewer takes, or is taken back, a stand. A comment or a draft changes nothing. */
const STANDS: ReadonlySet<string> = new Set(['APPROVED', 'CHANGES_REQUESTED', 'DISMISSED']);

/** The last stand of each reviewer, oldest first. One that was dismissed is none, and neither are those before it. */
export function standingReviews(reviews: readonly WireReview[]): readonly WireReview[] {
  const stands = reviews
    .filter((review) => STANDS.has(stateOf(review)))
    .map((review) => ({ review, at: requiredInstant(review.submitted_at, `review ${review.id}`) }))
    .sort((a, b) => a.at - b.at || compareIds(a.review.id, b.review.id));
  // A reviewer whose account is gone cannot answer for another review.
  const byReviewer = new Map(stands.map(({ review }) => [review.user?.login.toLowerCase() || `review ${review.id}`, review]));
  return [...byReviewer.values()].filter((review) => stateOf(review) !== 'DISMISSED');
}

/** The reviews by people that stand against the request. */
export function objections(reviews: readonly WireReview[]): readonly WireReview[] {
  return standingReviews(reviews).filter((review) => stateOf(review) === 'CHANGES_REQUESTED' && !isBot(review.user));
}

/** What the reviews say: each one's own text, then its comments on lines. */
export function reviewComments(reviews: readonly WireReview[], comments: readonly WireReviewComment[]): readonly ReviewComment[] {
  return reviews.flatMap((review) => [
    ...mapReview(review),
    ...comments
      .filter((comment) => comment.pull_request_review_id === review.id)
      .map((comment) => toComment(comment, review.submitted_at)),
  ]);
}

/** Everything that bots say in reviews, whatever stand they take. What was dismissed, or not sent yet, does not count. */
export function botComments(
  reviews: readonly WireReview[],
  comments: readonly WireReviewComment[],
  botUsernames: readonly string[],
): readonly ReviewComment[] {
  const names = new Set(botUsernames.map((name) => name.toLowerCase()));
  const isOne = (user: WireUser): boolean => isBot(user) || names.has(user?.login.toLowerCase() ?? '');
  const byId = new Map(reviews.map((review) => [review.id, review]));
  const counts = (review: WireReview | undefined): boolean => !review || !['DISMISSED', 'PENDING'].includes(stateOf(review));
  const own = reviews.filter((review) => isOne(review.user) && counts(review)).flatMap(mapReview);
  const inline = comments.flatMap((comment) => {
    const review = byId.get(comment.pull_request_review_id ?? '');
    return isOne(comment.user) && counts(review) ? [toComment(comment, review?.submitted_at ?? '')] : [];
  });
  return [...own, ...inline];
}

export function isBot(user: WireUser): boolean {
  return user?.type.toLowerCase() === 'bot' || (user?.login.toLowerCase().endsWith('[bot]') ?? false);
}

/** Nothing where the reviewer wrote nothing. */
function mapReview(review: WireReview): readonly ReviewComment[] {
  if (review.body.trim() === '') return [];
  const reviewer = review.user?.login ?? '';
  const place = { file: '', startLine: 0, endLine: 0, outdated: false };
  return [{ id: `review-${review.id}`, ...place, reviewer, body: review.body, submittedAt: review.submitted_at }];
}

// What counts is when the review was sent: its comments were drafted before that.
function toComment(comment: WireReviewComment, sentAt: string): ReviewComment {
  const { id, user, body, path, created_at } = comment;
  return { id, file: path, ...linesOf(comment), reviewer: user?.login ?? '', body, submittedAt: sentAt || created_at };
}

/** A comment whose line a later push took away keeps the one it was made on, and is outdated. */
function linesOf(comment: WireReviewComment): Pick<ReviewComment, 'startLine' | 'endLine' | 'outdated'> {
  const { line, start_line, original_line, original_start_line, position } = comment;
  if (comment.subject_type === 'file') return { startLine: 0, endLine: 0, outdated: false };
  const isGone = typeof line !== 'number';
  const endLine = line ?? original_line ?? 0;
  const startLine = (isGone ? original_start_line : start_line) ?? endLine;
  // The two ends of a range may be on different sides of the diff.
  return { startLine: Math.min(startLine, endLine), endLine, outdated: isGone && typeof position !== 'number' };
}

/** The additions and removals of labels, ascending. A label that was deleted since has no name and is left out. */
export function toLabelEvents(events: readonly WireEvent[]): readonly LabelEvent[] {
  const byId = new Map(events.filter(isAboutLabel).map((event) => [event.id, event]));
  return [...byId.values()]
    .map((event) => ({ event, time: requiredInstant(event.created_at, `event ${event.id}`) }))
    .sort((a, b) => a.time - b.time || compareIds(a.event.id, b.event.id))
    .map(({ event }) => ({
      id: event.id,
      label: (event.label?.name ?? '').toLowerCase(),
      added: event.event === 'labeled',
      actor: event.actor?.login ?? '',
      at: event.created_at,
    }));
}

function isAboutLabel({ event, label }: WireEvent): boolean {
  return (event === 'labeled' || event === 'unlabeled') && (label?.name ?? '') !== '';
}

function stateOf({ state }: WireReview): string {
  return state.toUpperCase();
}

/** Ids are numbers of any length. */
function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : Number(a > b));
}
