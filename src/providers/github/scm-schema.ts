import { z } from 'zod';
import { labels, text } from './schema.ts';

/** Only the fields that are used. What the remote may leave out or send as null is allowed to be missing. */

const id = z.union([z.int(), z.string().min(1)]).transform(String);
const lineNumber = z.int().positive().nullish().catch(null);

/** Null when the account is gone. */
const user = z.object({ login: text, type: text }).nullish().catch(null);
export type WireUser = z.output<typeof user>;

export const PULL = z.object({
  number: z.int().positive(),
  state: text,
  draft: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  merged_at: text,
  /** Left out since the version of 2026. */
  merge_commit_sha: text,
  /** Null while the remote works it out. */
  mergeable: z.boolean().nullish(),
  mergeable_state: text,
  /** The repository of the head is null once a fork was deleted. */
  head: z.object({ ref: text, sha: text, repo: z.object({ id: z.int() }).nullish() }),
  base: z.object({ ref: text, repo: z.object({ id: z.int() }).nullish() }),
  labels,
  requested_reviewers: z.array(z.unknown()).nullish(),
  requested_teams: z.array(z.unknown()).nullish(),
  html_url: text,
});
export type WirePull = z.output<typeof PULL>;

export const REVIEW = z.object({ id, user, author_association: text, body: text, state: text, submitted_at: text });
export type WireReview = z.output<typeof REVIEW>;

export const REVIEW_COMMENT = z.object({
  id,
  pull_request_review_id: id.nullish(),
  user,
  author_association: text,
  body: text,
  path: text,
  /** Missing or null once a later push took the line away. */
  line: lineNumber,
  start_line: lineNumber,
  original_line: lineNumber,
  original_start_line: lineNumber,
  position: z.int().nullish().catch(null),
  /** `line` or `file`. */
  subject_type: text,
  created_at: text,
});
export type WireReviewComment = z.output<typeof REVIEW_COMMENT>;

export const LABEL_EVENT = z.object({
  id,
  event: text,
  label: z.object({ name: text }).nullish().catch(null),
  actor: user,
  created_at: text,
});
export type WireEvent = z.output<typeof LABEL_EVENT>;

/** What a check tells of itself, for people. */
const output = z.object({ title: text, summary: text, text: text }).nullish().catch(null);

export const CHECK_RUN = z.object({
  id,
  name: text,
  status: text,
  conclusion: text,
  details_url: text,
  html_url: text,
  app: z.object({ slug: text }).nullish().catch(null),
  output,
});
export type WireCheckRun = z.output<typeof CHECK_RUN>;

export const COMMIT_STATUS = z.object({ id, context: text, state: text, description: text, target_url: text });
export type WireStatus = z.output<typeof COMMIT_STATUS>;

const total = z.int().nullish();
export const CHECK_RUN_PAGE = z.object({ total_count: total, check_runs: z.array(CHECK_RUN).nullish() });
/** A run of a workflow of Actions. */
export const WORKFLOW_RUN = z.object({ id, name: text, status: text, conclusion: text, html_url: text });
export const WORKFLOW_RUN_PAGE = z.object({ total_count: total, workflow_runs: z.array(WORKFLOW_RUN).nullish() });
export const STATUS_PAGE = z.object({ total_count: total, statuses: z.array(COMMIT_STATUS).nullish() });

export const STEP = z.object({ number: z.int(), name: text, conclusion: text, started_at: text, completed_at: text });
export type WireStep = z.output<typeof STEP>;
export const JOB = z.object({ steps: z.array(z.unknown()).nullish() });

export const MERGE = z.object({ merged: z.boolean().nullish(), sha: text, message: text });

export const ACCOUNT = z.object({ login: text });
export const REPOSITORY = z.object({ default_branch: text });
