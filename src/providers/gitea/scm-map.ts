import { TrackerError } from '../../domain/model/errors.ts';
import type { Trust } from '../../domain/model/settings.ts';
import type { LabelEvent, Mergeability, MergeStatus, ReviewComment, ReviewDecision } from '../../ports/scm.ts';
import { instantOf } from '../shared/rfc3339.ts';
import type { WireLabelEntry, WirePull, WireReview, WireReviewComment } from './scm-schema.ts';
import { PERSON } from './scm-schema.ts';

export function toMergeStatus(pull: WirePull): MergeStatus {
  const merged = pull.merged === true;
  return {
    mergeability: mergeabilityOf(pull),
    draft: pull.draft === true,
    merged,
    closed: pull.state === 'closed' && !merged,
    headSha: pull.head?.sha ?? '',
    headBranch: branchOf(pull),
    baseBranch: pull.base?.ref ?? '',
    fork: isFork(pull),
    projectId: '',
    mergeCommitSha: merged ? (pull.merge_commit_sha ?? '') : '',
    labels: pull.labels.map(({ name }) => name.toLowerCase()),
    url: pull.html_url ?? '',
  };
}

/** Once the branch was deleted the remote names a hidden reference. */
function branchOf({ head }: WirePull): string {
  const ref = head?.ref ?? '';
  return isHidden(ref) ? head?.label || ref : ref;
}

/** A request pushed to `refs/for/` has no branch at all, whoever made it: it counts as foreign, like a fork. */
function isFork({ head, base }: WirePull): boolean {
  if (isHidden(head?.ref ?? '') && head?.label === '') return true;
  if (typeof head?.repo_id === 'number') return head.repo_id !== base?.repo_id;
  const [from, to] = [head?.repo?.full_name, base?.repo?.full_name];
  return Boolean(from && to) && from?.toLowerCase() !== to?.toLowerCase();
}

function isHidden(ref: string): boolean {
  return ref.startsWith('refs/');
}

/** The remote knows one flag, which is false for a conflict and while it is still computing: that is unknown, never dirty. */
export function mergeabilityOf({ draft, mergeable }: Pick<WirePull, 'draft' | 'mergeable'>): Mergeability {
  if (draft) return 'blocked';
  return mergeable ? 'clean' : 'unknown';
}

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

/** Whose votes count, and our own account, empty where it is not known. */
export interface Counting {
  readonly votes: Trust;
  readonly own: string;
}

/**
 * Whether somebody is asked for a review who has not given one. The remote lists everybody who left a word beside those who
 * were asked, so a stranger or our own account that decided, which does not count here, would otherwise be waited for.
 */
export function isReviewAsked(requested: readonly unknown[], reviews: readonly WireReview[], { votes, own }: Counting): boolean {
  const decided = new Set(reviews.filter((review) => decisionOf(review) !== null).map(reviewerOf));
  const counted = votes === 'anyone' ? decided : new Set(trustedOf(reviews, votes).map(reviewerOf));
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

/** What a review says of the request as a whole, if anything. The two rows of ids are told apart by the prefix. */
export function toRequestComment(review: WireReview): ReviewComment | null {
  const body = review.body ?? '';
  if (body.trim() === '') return null;
  return {
    id: `review-${review.id}`,
    file: '',
    startLine: 0,
    endLine: 0,
    reviewer: review.user?.login ?? '',
    body,
    outdated: false,
    submittedAt: timeOf(review.submitted_at),
  };
}

/** A comment on one line. Position 0 means that a later push removed the line: then the original one is told. */
export function toInlineComment(comment: WireReviewComment, review: WireReview): ReviewComment {
  const line = comment.position || comment.original_position || 0;
  return {
    id: String(comment.id),
    file: comment.path ?? '',
    startLine: line,
    endLine: line,
    reviewer: comment.user?.login ?? review.user?.login ?? '',
    body: comment.body ?? '',
    outdated: comment.position === 0,
    submittedAt: timeOf(comment.created_at) || timeOf(review.submitted_at),
  };
}

/** Null once the label was deleted. An added label has the body `1`, a removed one none. */
export function toLabelEvent({ id, body, label, user }: WireLabelEntry, at: string): LabelEvent | null {
  if (!label || label.name === '') return null;
  return { id: String(id), label: label.name.toLowerCase(), added: body === '1', actor: user?.login ?? '', at };
}

/** Ascending by time, then by id: offsets may differ, and ids are compared as numbers. */
export function byTime(a: LabelEvent, b: LabelEvent): number {
  return Date.parse(a.at) - Date.parse(b.at) || Number(a.id) - Number(b.id);
}

function timeOf(value: unknown): string {
  return typeof value === 'string' && instantOf(value) !== null ? value : '';
}
