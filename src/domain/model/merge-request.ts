/** What a forge tells of a merge request, in one vocabulary for all of them. */
export type ReviewDecision = 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED' | 'NOT_REQUIRED';
export type Mergeability = 'clean' | 'dirty' | 'unknown' | 'blocked' | 'unstable';
/** Empty when there are no checks. `failing-unseen` is a failure that the forge shows as something else: nobody is told of it. */
export type CiConclusion = 'success' | 'failing' | 'failing-unseen' | 'pending' | '';

export interface MergeStatus {
  readonly mergeability: Mergeability;
  readonly draft: boolean;
  readonly merged: boolean;
  /** Closed without being merged. */
  readonly closed: boolean;
  readonly headSha: string;
  readonly headBranch: string;
  readonly baseBranch: string;
  /** The source branch is in another repository than the request. */
  readonly fork: boolean;
  /** The forge's own id of the project; empty where it does not tell. */
  readonly projectId: string;
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

/** What the CI of a commit amounts to. */
export interface CiReport {
  readonly status: 'success' | 'failing' | 'pending';
  /** Empty when the commit has none; then the status is pending. */
  readonly checkRuns: readonly CheckRun[];
  readonly failingCount: number;
  /** Empty unless failing and an excerpt was asked for and found. */
  readonly logExcerpt: string;
  /** The ref as it was asked for. */
  readonly ref: string;
}

export interface CheckRun {
  readonly name: string;
  readonly status: 'queued' | 'in progress' | 'completed';
  readonly conclusion: 'success' | 'failure' | 'neutral' | 'cancelled' | 'skipped' | 'pending';
  readonly detailsUrl: string;
}

/** Whether the credential may merge: `unknown` lets auto-merge proceed, `no` disables it for the process. */
export interface ScopeCheck {
  readonly mayMerge: 'yes' | 'no' | 'unknown';
  readonly detail: string;
}

export const MERGE_STRATEGIES = ['merge', 'squash', 'rebase'] as const;
export type MergeStrategy = (typeof MERGE_STRATEGIES)[number];

export interface MergeOrder {
  readonly strategy: MergeStrategy;
  readonly expectedSha: string;
}
