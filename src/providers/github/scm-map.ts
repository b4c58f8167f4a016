import type { Trust } from '../../domain/model/settings.ts';
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
    fork: isFork(pull),
    projectId: '',
    mergeCommitSha: merged ? mergeCommitSha : '',
    labels: pull.labels.map((label) => label.toLowerCase()),
    url: pull.html_url,
  };
}

/** Null is a fork that was deleted. No release of the remote leaves the repositories out. */
function isFork({ head, base }: WirePull): boolean {
  return head.repo !== undefined && head.repo?.id !== base.repo?.id;
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

/** What the remote may say by itself; nothing where the base branch asks for no reviews. */
export const DECISIONS: ReadonlySet<string> = new Set(['', 'APPROVED', 'CHANGES_REQUESTED', 'REVIEW_REQUIRED']);

/**
 * What the votes that count amount to, with what the remote decided by itself. It never outweighs somebody who objects, nor
 * somebody who was asked and has not answered; and what it decided on votes alone that do not count is no decision.
 */
export function foldDecision(told: string, pull: WirePull, reviews: readonly WireReview[], counting: Counting): ReviewDecision {
  const standing = standingReviews(reviews);
  const counted = standing.filter((review) => isCounted(review, counting)).map(stateOf);
  const isTold = told !== '' && !standing.some((review) => stateOf(review) === told);
  if (counted.includes('CHANGES_REQUESTED') || (isTold && told === 'CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  const asked = (pull.requested_reviewers?.length ?? 0) + (pull.requested_teams?.length ?? 0);
  if (asked > 0 || told === 'REVIEW_REQUIRED' || !DECISIONS.has(told)) return 'REVIEW_REQUIRED';
  if (counted.includes('APPROVED') || (isTold && told === 'APPROVED')) return 'APPROVED';
  return told === '' ? 'NOT_REQUIRED' : 'REVIEW_REQUIRED';
}

/** Whose votes count, and our own account, empty where it is not known. */
export interface Counting {
  readonly votes: Trust;
  readonly own: string;
}

/** Nobody approves their own work: an approval by our own account counts for nothing. */
function isCounted(review: WireReview, { votes, own }: Counting): boolean {
  const isOwn = own !== '' && review.user?.login.toLowerCase() === own.toLowerCase();
  return isTrustedReviewer(review, votes) && !(isOwn && stateOf(review) === 'APPROVED');
}

/** How the remote calls those who may write. */
const COLLABORATORS: ReadonlySet<string> = new Set(['OWNER', 'MEMBER', 'COLLABORATOR']);

/** No release of the remote leaves the word out; one that says nothing by it says that nobody is trusted. */
export function isTrustedReviewer({ author_association: word }: Pick<WireReview, 'author_association'>, trust: Trust): boolean {
  return trust === 'anyone' || word === undefined || COLLABORATORS.has(word?.toUpperCase() ?? '');
}

/** The states in which a reviewer takes, or is taken back, a stand. A comment or a draft changes nothing. */
const STANDS: ReadonlySet<string> = new Set(['APPROVED', 'CHANGES_REQUESTED', 'DISMISSED']);

/** The last stand of each reviewer, oldest first. One that was dismissed is none, and neither are those before it. */
export function standingReviews(reviews: readonly WireReview[]): readonly WireReview[] {
  const stands = inOrder(reviews.filter((review) => STANDS.has(stateOf(review))));
  const byReviewer = new Map(stands.map((review) => [reviewerOf(review), review]));
  return [...byReviewer.values()].filter((review) => stateOf(review) !== 'DISMISSED');
}

/**
 * All that the people say whose last stand is against the request, oldest first. What they said as a whole before they took
 * that stand is answered; a comment on a line remains until its conversation is resolved.
 */
export function objections(reviews: readonly WireReview[]): readonly WireReview[] {
  const said = inOrder(reviews.filter((review) => SENT.has(stateOf(review)) && !isBot(review.user)));
  const since = new Map<string, number>();
  for (const [place, review] of said.entries()) {
    if (stateOf(review) === 'CHANGES_REQUESTED') since.set(reviewerOf(review), since.get(reviewerOf(review)) ?? place);
    else if (STANDS.has(stateOf(review))) since.delete(reviewerOf(review));
  }
  return said.flatMap((review, place) => {
    const from = since.get(reviewerOf(review));
    if (from === undefined || stateOf(review) === 'DISMISSED') return [];
    return [place < from ? { ...review, body: '' } : review];
  });
}

/** The states of a review that was sent. */
const SENT: ReadonlySet<string> = new Set([...STANDS, 'COMMENTED']);

/** Oldest first. */
function inOrder(reviews: readonly WireReview[]): readonly WireReview[] {
  return reviews
    .map((review) => ({ review, at: requiredInstant(review.submitted_at, `review ${review.id}`) }))
    .sort((a, b) => a.at - b.at || compareIds(a.review.id, b.review.id))
    .map(({ review }) => review);
}

/** A reviewer whose account is gone cannot answer for another review. */
function reviewerOf({ id, user }: WireReview): string {
  return user?.login.toLowerCase() || `review ${id}`;
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

/** By the remote's own word; a name proves nothing where there is one. */
export function isBot(user: WireUser): boolean {
  const { type = '', login = '' } = user ?? {};
  return type === '' ? login.toLowerCase().endsWith('[bot]') : type.toLowerCase() === 'bot';
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
