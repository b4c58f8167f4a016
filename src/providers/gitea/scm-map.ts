import type { LabelEvent, Mergeability, MergeStatus, ReviewComment } from '../../ports/scm.ts';
import { instantOf } from '../shared/rfc3339.ts';
import type { WireLabelEntry, WirePull, WireReview, WireReviewComment } from './scm-schema.ts';

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
