import { z } from 'zod';
import { labels, nullableText } from './schema.ts';

/** Only the fields that are used. What the remote may leave out or send as null is allowed to be missing. */

const id = z.union([z.int(), z.string().min(1)]).transform(String);
const lineNumber = z.int().positive().nullish().catch(null);

/** Left out, it is told apart from an empty one. */
const association = z.string().nullish();

/** Null when the account is gone. */
const user = z.object({ login: nullableText, type: nullableText }).nullish().catch(null);
export type WireUser = z.output<typeof user>;

export const PULL = z.object({
  number: z.int().positive(),
  state: nullableText,
  draft: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  merged_at: nullableText,
  /** Left out since the version of 2026. */
  merge_commit_sha: nullableText,
  /** Null while the remote works it out. */
  mergeable: z.boolean().nullish(),
  mergeable_state: nullableText,
  /** The repository of the head is null once a fork was deleted. */
  head: z.object({ ref: nullableText, sha: nullableText, repo: z.object({ id: z.int() }).nullish() }),
  base: z.object({ ref: nullableText, repo: z.object({ id: z.int() }).nullish() }),
  labels,
  requested_reviewers: z.array(z.unknown()).nullish(),
  requested_teams: z.array(z.unknown()).nullish(),
  html_url: nullableText,
});
export type WirePull = z.output<typeof PULL>;

export const REVIEW = z.object({
  id,
  user,
  author_association: association,
  body: nullableText,
  state: nullableText,
  submitted_at: nullableText,
});
export type WireReview = z.output<typeof REVIEW>;

export const REVIEW_COMMENT = z.object({
  id,
  pull_request_review_id: id.nullish(),
  user,
  author_association: association,
  body: nullableText,
  path: nullableText,
  /** Missing or null once a later push took the line away. */
  line: lineNumber,
  start_line: lineNumber,
  original_line: lineNumber,
  original_start_line: lineNumber,
  position: z.int().nullish().catch(null),
  /** `line` or `file`. */
  subject_type: nullableText,
  created_at: nullableText,
});
export type WireReviewComment = z.output<typeof REVIEW_COMMENT>;

export const LABEL_EVENT = z.object({
  id,
  event: nullableText,
  label: z.object({ name: nullableText }).nullish().catch(null),
  actor: user,
  created_at: nullableText,
});
export type WireEvent = z.output<typeof LABEL_EVENT>;

/** What a check tells of itself, for people. */
const output = z.object({ title: nullableText, summary: nullableText, text: nullableText }).nullish().catch(null);

export const CHECK_RUN = z.object({
  id,
  name: nullableText,
  status: nullableText,
  conclusion: nullableText,
  details_url: nullableText,
  html_url: nullableText,
  head_sha: nullableText,
  check_suite: z.object({ id }).nullish().catch(null),
  app: z.object({ slug: nullableText }).nullish().catch(null),
  output,
});
export type WireCheckRun = z.output<typeof CHECK_RUN>;

export const COMMIT_STATUS = z.object({
  id,
  context: nullableText,
  state: nullableText,
  description: nullableText,
  target_url: nullableText,
});
export type WireStatus = z.output<typeof COMMIT_STATUS>;

const total = z.int().nullish();
export const CHECK_RUN_PAGE = z.object({ total_count: total, check_runs: z.array(CHECK_RUN).nullish() });
/** A run of a workflow of Actions. */
export const WORKFLOW_RUN = z.object({
  id,
  name: nullableText,
  status: nullableText,
  conclusion: nullableText,
  html_url: nullableText,
  check_suite_id: id.nullable().catch(null),
  workflow_id: id.nullable().catch(null),
  /** Counts the runs of the workflow. */
  run_number: z.int().nullable().catch(null),
  event: nullableText,
  head_branch: nullableText,
  head_sha: nullableText,
  pull_requests: z
    .array(z.object({ number: z.int() }))
    .nullable()
    .catch(null),
});
export type WireWorkflowRun = z.output<typeof WORKFLOW_RUN>;
export const WORKFLOW_RUN_PAGE = z.object({ total_count: total, workflow_runs: z.array(WORKFLOW_RUN).nullish() });
export const STATUS_PAGE = z.object({ total_count: total, statuses: z.array(COMMIT_STATUS).nullish() });

export const STEP = z.object({
  number: z.int(),
  name: nullableText,
  conclusion: nullableText,
  started_at: nullableText,
  completed_at: nullableText,
});
export type WireStep = z.output<typeof STEP>;
export const JOB = z.object({ steps: z.array(z.unknown()).nullish() });

export const MERGE = z.object({ merged: z.boolean().nullish(), sha: nullableText, message: nullableText });

export const REPOSITORY = z.object({ default_branch: nullableText });
export const REFERENCE = z.object({ object: z.object({ sha: z.string() }) });
