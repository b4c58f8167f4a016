import type {
  CiConclusion,
  LabelEvent,
  MergeOrder,
  MergeStatus,
  ReviewComment,
  ReviewDecision,
  ScopeCheck,
} from '../domain/model/merge-request.ts';
import type { Trust } from '../domain/model/settings.ts';
import type { MergeRequestRef } from '../domain/model/watch.ts';

/**
 * The merge-request side of a forge: nine reads and four writes. Building it makes no request. Failures are
 * TrackerErrors; a merge that the forge refused is an ScmConflictError.
 */
export interface ScmAdapter {
  readonly kind: string;
  /** Votes of people who are not trusted count neither way, nor does an approval by our own account, where it is known. */
  readReviewDecision(request: RequestKey, votes: Trust, signal: AbortSignal, own?: string): Promise<ReviewDecision>;
  readMergeStatus(request: RequestKey, signal: AbortSignal): Promise<MergeStatus>;
  /** The CI conclusion of the request's head for the merge gate; empty when no checks exist. */
  readCiStatus(request: RequestKey, signal: AbortSignal): Promise<CiConclusion>;
  /** Standing change requests by people who are trusted, with their comments. */
  readPendingReviews(request: RequestKey, trust: Trust, signal: AbortSignal): Promise<readonly ReviewComment[]>;
  /** Comments of the accounts named, and of those that the forge calls bots. Only an administrator lets one in: all are trusted. */
  readBotReviewComments(
    request: RequestKey,
    botUsernames: readonly string[],
    signal: AbortSignal,
  ): Promise<readonly ReviewComment[]>;
  /** Label additions and removals, ascending by time then id. */
  readLabelEvents(request: RequestKey, signal: AbortSignal): Promise<readonly LabelEvent[]>;
  /** The name of the credential's own account. */
  readOwnAccount(signal: AbortSignal): Promise<string>;
  readDefaultBranch(repo: RepoKey, signal: AbortSignal): Promise<string>;
  /** The commit that a branch is at; null where there is none of that name. */
  readBranchHead(repo: RepoKey, branch: string, signal: AbortSignal): Promise<string | null>;
  /** Whether the request is in the forge's own merge queue. */
  isQueued(request: RequestKey, signal: AbortSignal): Promise<boolean>;
  /** Puts the request into the forge's own merge queue if its head still is `expectedSha`; false where there is no queue. */
  enqueue(request: RequestKey, merge: MergeOrder, signal: AbortSignal): Promise<boolean>;
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

/** Opens merge requests for branches we pushed. Building it makes no request. Failures are TrackerErrors. */
export interface RequestOpener extends RequestFinder {
  /** How a request ended; null while it is open. */
  endOf(request: RequestKey, signal: AbortSignal): Promise<'merged' | 'closed' | null>;
}

export interface RequestFinder {
  readonly kind: string;
  /** The open request whose source is this branch of the project itself, never of a fork; null when there is none. */
  find(source: RequestSource, signal: AbortSignal): Promise<OpenRequest | null>;
  open(request: NewRequest, signal: AbortSignal): Promise<OpenRequest>;
}

export interface RequestSource extends RepoKey {
  readonly branch: string;
}

export interface NewRequest extends RequestSource {
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

export interface OpenRequest {
  readonly number: number;
  readonly url: string;
}

/** One that somebody ended. */
export interface OverRequest extends OpenRequest {
  readonly end: 'merged' | 'closed';
}
