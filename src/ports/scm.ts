import type {
  CiConclusion,
  LabelEvent,
  MergeOrder,
  MergeStatus,
  ReviewComment,
  ReviewDecision,
  ScopeCheck,
} from '../domain/model/merge-request.ts';
import type { MergeRequestRef } from '../domain/model/watch.ts';

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

export { MERGE_STRATEGIES } from '../domain/model/merge-request.ts';
export type {
  CiConclusion,
  LabelEvent,
  Mergeability,
  MergeOrder,
  MergeStatus,
  ReviewComment,
  ReviewDecision,
  ScopeCheck,
} from '../domain/model/merge-request.ts';

/** `mergeCommitSha` is empty where the forge does not tell. */
export interface MergeResult {
  readonly mergeCommitSha: string;
}
