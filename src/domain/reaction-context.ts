/** What a reaction tells the agent on the first turn of the run it started. */
export interface ReactionContext {
  readonly ciFailure?: CiFailureContext;
  readonly reviewComments?: readonly ReviewCommentContext[];
  readonly botReviewComments?: readonly ReviewCommentContext[];
  readonly mergeConflict?: MergeConflictContext;
  readonly labelCommand?: LabelCommandContext;
}

export interface CiFailureContext {
  readonly status: string;
  readonly checkRuns: readonly { name: string; status: string; conclusion: string; detailsUrl: string }[];
  readonly failingCount: number;
  readonly logExcerpt: string;
  readonly ref: string;
}

export interface ReviewCommentContext {
  readonly id: string;
  readonly file: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly reviewer: string;
  readonly body: string;
}

export interface MergeConflictContext {
  readonly prNumber: number;
  readonly branch: string;
  readonly headSha: string;
  readonly base: string;
}

export interface LabelCommandContext {
  readonly command: string;
  readonly prNumber: number;
  readonly owner: string;
  readonly repo: string;
  readonly branch: string;
  readonly actor: string;
  readonly requestedAt: string;
}
