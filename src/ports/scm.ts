import type { MergeRequestRef } from '../domain/watch.ts';

/**
 * The merge-request side of a forge: six reads and three writes. Building it makes no request. Failures are
 * TrackerErrors; a merge that the forge refused is an ScmConflictError.
 */
export interface ScmAdapter {
  readonly kind: string;
  readReviewDecision(request: RequestKey, signal: AbortSignal): Promise<ReviewDecision>;
  readMergeStatus(request: RequestKey, signal: AbortSignal): Promise<MergeStatus>;
  /** The CI conclusion of the request's head for the merge gate; empty when no checks exist. */
  readCiStatus(request: RequestKey, signal: AbortSignal): Promise<CiConclusion>;
  /** Standing change requests by people, with their comments. */
  readPendingReviews(request: RequestKey, signal: AbortSignal): Promise<readonly ReviewComment[]>;
  readBotReviewComments(
    request: RequestKey,
    botUsernames: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ReviewComment[]>;
  /** Label additions and removals, ascending by time then id. */
  readLabelEvents(request: RequestKey, signal: AbortSignal): Promise<readonly LabelEvent[]>;
  /** Merges the request if its head still is `expectedSha`. */
  merge(request: RequestKey, merge: MergeOrder, signal: AbortSignal): Promise<MergeResult>;
  /** An absent branch is fine. */
  deleteBranch(repo: RepoKey, branch: string, signal: AbortSignal): Promise<void>;
  /** An absent label is fine. */
  removeLabel(request: RequestKey, label: string, signal: AbortSignal): Promise<void>;
  /** Whether the credential may merge: `unknown` lets auto-merge proceed, `no` disables it for the process. */
  checkMergeScope(repo: RepoKey, signal: AbortSignal): Promise<ScopeCheck>;
}

export type RepoKey = Pick<MergeRequestRef, 'owner' | 'repo'>;
export type RequestKey = Pick<MergeRequestRef, 'owner' | 'repo' | 'number'>;

export type ReviewDecision = 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED' | 'NOT_REQUIRED';
export type Mergeability = 'clean' | 'dirty' | 'unknown' | 'blocked' | 'unstable';
export type CiConclusion = 'success' | 'failing' | 'pending' | '';

export interface MergeStatus {
  readonly mergeability: Mergeability;
  readonly draft: boolean;
  readonly merged: boolean;
  /** Closed without being merged. */
  readonly closed: boolean;
  readonly headSha: string;
  readonly headBranch: string;
  readonly baseBranch: string;
  /** Empty where the forge does not tell. */
  readonly mergeCommitSha: string;
  /** Lowercased. */
  readonly labels: readonly string[];
  readonly url: string;
}

export interface ReviewComment {
  readonly id: string;
  /** Empty for a comment on the request as a whole. */
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly reviewer: string;
  readonly body: string;
  readonly outdated: boolean;
  /** ISO 8601 or empty when the forge gave none. */
  readonly submittedAt: string;
}

export interface LabelEvent {
  readonly id: string;
  /** Lowercased. */
  readonly label: string;
  readonly added: boolean;
  readonly actor: string;
  readonly at: string;
}

export const MERGE_STRATEGIES = ['merge', 'squash', 'rebase'] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

export interface MergeOrder {
  readonly strategy: MergeStrategy;
  readonly expectedSha: string;
}

/** `mergeCommitSha` is empty where the forge does not tell. */
export interface MergeResult {
  readonly mergeCommitSha: string;
}

export interface ScopeCheck {
  readonly mayMerge: 'yes' | 'no' | 'unknown';
  readonly detail: string;
}
