import { TrackerError } from '../../domain/model/errors.ts';
import type { Trust } from '../../domain/model/settings.ts';
import type { ReviewDecision } from '../../ports/scm.ts';
import { instantOf } from '../shared/rfc3339.ts';
import type { WireReview, WireReviewComment } from './scm-schema.ts';
import { PERSON } from './scm-schema.ts';

type Decision = Extract<ReviewDecision, 'APPROVED' | 'CHANGES_REQUESTED'>;

/** The review states of the remote and what each decides. One that is not listed decides nothing. */
export const REVIEW_STATES: Readonly<Record<string, Decision | null>> = {
  APPROVED: 'APPROVED',
  PENDING: null,
  COMMENT: null,
  REQUEST_CHANGES: 'CHANGES_REQUESTED',
  REQUEST_REVIEW: null,
};

/** A review that the remote calls unofficial is by somebody who may not decide here. Older releases do not tell. */
export function trustedOf(reviews: readonly WireReview[], trust: Trust): readonly WireReview[] {
  return trust === 'anyone' ? reviews : reviews.filter(({ official }) => official !== false);
}

/** Whether a comment on a line counts. */
export type IsHeard = (comment: WireReviewComment) => boolean;

/**
 * Whoever answers within a trusted review is listed with it, a stranger too: a comment on a line counts by its own author,
 * who must have given one of the trusted reviews. Nothing else of a comment tells whether its author may decide here.
 */
export function hearing(trusted: readonly WireReview[], trust: Trust): IsHeard {
  if (trust === 'anyone') return () => true;
  const reviewers = new Set(trusted.flatMap(({ user }) => (user ? [user.login.toLowerCase()] : [])));
  return ({ user }) => user !== null && user !== undefined && reviewers.has(user.login.toLowerCase());
}

/**
 * Whether somebody is asked for a review who has not given one. The remote lists everybody who left a word beside those who
 * were asked, so a stranger or our own account that decided, which does not count here, would otherwise be waited for.
 */
export function isReviewAsked(requested: readonly unknown[], reviews: readonly WireReview[], trust: Trust, own: string): boolean {
  const decided = new Set(reviews.filter((review) => decisionOf(review) !== null).map(reviewerOf));
  const counted = trust === 'anyone' ? decided : new Set(trustedOf(reviews, trust).map(reviewerOf));
  return requested.some((person) => {
    const { login } = PERSON.parse(person) ?? {};
    const name = login?.toLowerCase() ?? '';
    const isOwn = own !== '' && name === own.toLowerCase();
    return !decided.has(name) || (counted.has(name) && !isOwn);
  });
}

/**
 * What the reviews amount to: each reviewer's latest decision stands, and one that asks for changes outweighs any approval.
 * Null when nobody decided. A decision without a readable time fails: it could be the one that is superseded. Nobody
 * approves their own work: an approval by our own account counts for nothing.
 */
export function verdictOf(reviews: readonly WireReview[], route: string, own = ''): Decision | null {
  const standing = new Map(decisionsOf(reviews, route, () => true).map(({ reviewer, decision }) => [reviewer, decision]));
  if (own !== '' && standing.get(own.toLowerCase()) === 'APPROVED') standing.delete(own.toLowerCase());
  const decisions = new Set(standing.values());
  if (decisions.has('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  return decisions.has('APPROVED') ? 'APPROVED' : null;
}

/**
 * Reviews that ask for changes and that their author has not approved away since, oldest first. Where a reviewer never
 * approved there is nothing to compare with, so a missing time is fine; an unreadable one is not.
 */
export function standingRequests(reviews: readonly WireReview[], route: string): readonly WireReview[] {
  const approvers = new Set(reviews.filter((review) => decisionOf(review) === 'APPROVED').map((review) => reviewerOf(review)));
  const needsTime = (review: WireReview) => Boolean(review.submitted_at) || approvers.has(reviewerOf(review));
  const decisions = decisionsOf(reviews, route, needsTime);
  const approvedAt = new Map(
    decisions.flatMap(({ reviewer, decision }, place) => (decision === 'APPROVED' ? [[reviewer, place]] : [])),
  );
  return decisions
    .filter(({ reviewer, decision }, place) => decision === 'CHANGES_REQUESTED' && place > (approvedAt.get(reviewer) ?? -1))
    .map(({ review }) => review);
}

interface Decided {
  readonly review: WireReview;
  readonly reviewer: string;
  readonly decision: Decision;
  readonly at: number;
}

/** The reviews that decide something, by time and then id. */
function decisionsOf(
  reviews: readonly WireReview[],
  route: string,
  needsTime: (review: WireReview) => boolean,
): readonly Decided[] {
  const decided = reviews.flatMap((review): Decided[] => {
    const decision = decisionOf(review);
    if (decision === null) return [];
    const at = needsTime(review) ? submittedAt(review, route) : 0;
    return [{ review, reviewer: reviewerOf(review), decision, at }];
  });
  return decided.toSorted((a, b) => a.at - b.at || a.review.id - b.review.id);
}

function decisionOf({ state, dismissed }: WireReview): Decision | null {
  return dismissed || !state || !Object.hasOwn(REVIEW_STATES, state) ? null : (REVIEW_STATES[state] ?? null);
}

// Whoever has no account any more cannot take a review back, so each such review is a reviewer of its own.
function reviewerOf({ id, user }: WireReview): string {
  return user?.login.toLowerCase() ?? `review ${id}`;
}

function submittedAt({ id, submitted_at: time }: WireReview, route: string): number {
  const at = instantOf(time);
  if (at !== null) return at;
  const shown = JSON.stringify(time)?.slice(0, 64) ?? 'nothing';
  const detail = `review ${id} has a submitted_at that is no RFC 3339 time: ${shown}`;
  throw new TrackerError({ kind: 'tracker_payload_error', method: 'GET', path: route, detail });
}
