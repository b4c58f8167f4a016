import type { LabelEvent, Mergeability, MergeStatus, ReviewComment, ReviewDecision } from '../../ports/scm.ts';
import type { WireLabelEvent, WireMergeRequest, WirePosition, WireReviewer, WireReviewNote } from './scm-schema.ts';

/** What the remote's one status word means. Everything else is blocked; `unstable` is never reported. */
export const MERGEABILITY: ReadonlyMap<string, Mergeability> = new Map([
  ['mergeable', 'clean'],
  ['conflict', 'dirty'],
  ['unchecked', 'unknown'],
  ['checking', 'unknown'],
  ['preparing', 'unknown'],
  ['approvals_syncing', 'unknown'],
]);

/** The words for "blocked" that the vendor documents, or did; any other one is worth a warning. */
export const DOCUMENTED_BLOCKERS: ReadonlySet<string> = new Set([
  'blocked_status',
  'broken_status',
  'ci_must_pass',
  'ci_still_running',
  'commits_status',
  'discussions_not_resolved',
  'draft_status',
  'external_status_checks',
  'jira_association_missing',
  'locked_lfs_files',
  'locked_paths',
  'merge_request_blocked',
  'merge_time',
  'need_rebase',
  'need_rebase_merge_train',
  'not_approved',
  'not_open',
  'policies_denied',
  'requested_changes',
  'security_policy_pipeline_check',
  'security_policy_violations',
  'status_checks_must_pass',
  'title_regex',
]);

export function mergeabilityOf(status: string): { mergeability: Mergeability; recognized: boolean } {
  const mapped = MERGEABILITY.get(status);
  return { mergeability: mapped ?? 'blocked', recognized: mapped !== undefined || DOCUMENTED_BLOCKERS.has(status) };
}

export function toMergeStatus(wire: WireMergeRequest): MergeStatus {
  return {
    mergeability: mergeabilityOf(wire.detailed_merge_status ?? '').mergeability,
    draft: wire.draft ?? wire.work_in_progress ?? false,
    merged: isMerged(wire),
    closed: wire.state === 'closed',
    headSha: wire.sha ?? '',
    headBranch: wire.source_branch ?? '',
    baseBranch: wire.target_branch ?? '',
    fork: isFork(wire),
    projectId: wire.target_project_id ? String(wire.target_project_id) : '',
    mergeCommitSha: mergeCommitOf(wire),
    labels: (wire.labels ?? []).map((label) => label.toLowerCase()),
    url: wire.web_url ?? '',
  };
}

/** Null is a fork that was deleted. No release of the remote leaves the projects out. */
function isFork({ source_project_id: source, target_project_id: target }: WireMergeRequest): boolean {
  return source !== undefined && source !== target;
}

export function isMerged({ state }: WireMergeRequest): boolean {
  return state === 'merged';
}

/** A fast-forward makes no merge commit: then the squashed commit, or the head itself, is what landed. */
export function mergeCommitOf(wire: WireMergeRequest): string {
  if (!isMerged(wire)) return '';
  return wire.merge_commit_sha || wire.squash_commit_sha || wire.sha || '';
}

export function hasRequestedChanges({ state }: WireReviewer): boolean {
  return state === 'requested_changes';
}

/** The fold of the specification. A request for changes is decided before approvals are known, and none of them clears it. */
export function decisionOf(reviewers: readonly WireReviewer[], approved: boolean): ReviewDecision {
  if (reviewers.some(hasRequestedChanges)) return 'CHANGES_REQUESTED';
  if (approved) return 'APPROVED';
  return reviewers.length > 0 ? 'REVIEW_REQUIRED' : 'NOT_REQUIRED';
}

/** `headSha` matters to comments on the diff only; empty leaves their age open. */
export function toReviewComment(note: WireReviewNote, headSha: string): ReviewComment {
  const { position } = note;
  return {
    id: String(note.id),
    file: position?.new_path || position?.old_path || '',
    ...linesOf(position),
    reviewer: note.author?.username ?? '',
    body: note.body ?? '',
    outdated: isOutdated(position, headSha),
    submittedAt: timeOf(note.created_at) === null ? '' : (note.created_at ?? ''),
  };
}

// Lines of one side of the diff are never mixed with lines of the other.
function linesOf(position: WirePosition | null | undefined): { startLine: number; endLine: number } {
  const start = position?.line_range?.start;
  const [endLine, from] = position?.new_line ? [position.new_line, start?.new_line] : [position?.old_line ?? 0, start?.old_line];
  return { startLine: Math.min(from || endLine, endLine), endLine };
}

function isOutdated(position: WirePosition | null | undefined, headSha: string): boolean {
  const recorded = position?.head_sha ?? '';
  return recorded !== '' && headSha !== '' && !sameSha(recorded, headSha);
}

export function sameSha(one: string, other: string): boolean {
  return one !== '' && one.toLowerCase() === other.toLowerCase();
}

/** What label events amount to, or the first one whose time cannot be read: a guess would lose a command. */
export function toLabelEvents(wires: readonly WireLabelEvent[]): readonly LabelEvent[] | { readonly unreadable: WireLabelEvent } {
  const events: { readonly wire: WireLabelEvent; readonly time: number }[] = [];
  for (const wire of wires) {
    if (!wire.label?.name || (wire.action !== 'add' && wire.action !== 'remove')) continue;
    const time = timeOf(wire.created_at);
    if (time === null) return { unreadable: wire };
    events.push({ wire, time });
  }
  return events.sort((a, b) => a.time - b.time || a.wire.id - b.wire.id).map(({ wire }) => toLabelEvent(wire));
}

function toLabelEvent({ id, label, action, user, created_at }: WireLabelEvent): LabelEvent {
  return {
    id: String(id),
    label: (label?.name ?? '').toLowerCase(),
    added: action === 'add',
    actor: user?.username ?? '',
    at: created_at ?? '',
  };
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

function timeOf(text: string | null | undefined): number | null {
  const time = text && RFC_3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
