/**
 * What a reaction hands to the continuation it starts. At most the members of the reaction that fired are set;
 * the others stay away and read as nil in the prompt template.
 */
export interface ReactionContext {
  readonly ciFailure?: CiFailureContext;
  readonly reviewComments?: readonly ReviewCommentContext[];
  readonly botReviewComments?: readonly ReviewCommentContext[];
  readonly mergeConflict?: MergeConflictContext;
  readonly labelCommand?: LabelCommandContext;
}

export interface CiFailureContext {
  readonly status: string;
  readonly checkRuns: readonly CheckRunContext[];
  readonly failingCount: number;
  /** Empty when the log was not read. */
  readonly logExcerpt: string;
  /** The ref that was asked for, never the commit it resolved to. */
  readonly ref: string;
}

export interface CheckRunContext {
  readonly name: string;
  readonly status: string;
  readonly conclusion: string;
  readonly detailsUrl: string;
}

export interface ReviewCommentContext {
  readonly id: string;
  /** Empty for a comment on the request as a whole. */
  readonly file: string;
  /** Null where the comment has no place in the file. */
  readonly startLine: number | null;
  readonly endLine: number | null;
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
  /** ISO 8601, as the forge gave it. */
  readonly requestedAt: string;
}
