import { z } from 'zod';

// Only the fields that are used. What a decision rests on is never guessed: a field of the wrong type fails the read.

const HEAD_PIPELINE = z.object({
  id: z.int().nullish(),
  sha: z.string().nullish(),
  ref: z.string().nullish(),
  source: z.string().nullish(),
  status: z.string().nullish(),
});
export type WirePipeline = z.output<typeof HEAD_PIPELINE>;

export const BRANCH = z.object({ commit: z.object({ id: z.string() }) });

/** One merge request by its own route: lists leave `head_pipeline` out, which would read as "no checks exist". */
export const MERGE_REQUEST = z.object({
  state: z.string().nullish(),
  detailed_merge_status: z.string().nullish(),
  draft: z.boolean().nullish(),
  work_in_progress: z.boolean().nullish(),
  sha: z.string().nullish(),
  source_branch: z.string().nullish(),
  target_branch: z.string().nullish(),
  source_project_id: z.int().nullish(),
  target_project_id: z.int().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  labels: z.array(z.string()).nullish(),
  web_url: z.string().nullish(),
  head_pipeline: HEAD_PIPELINE.nullish(),
});
export type WireMergeRequest = z.output<typeof MERGE_REQUEST>;

const USER_REF = z.object({ id: z.int().nullish(), username: z.string().nullish() });
export type WireUserRef = z.output<typeof USER_REF>;

/** The state on the entry itself is that of the review; the one inside `user` is that of the account. */
export const REVIEWER = z.object({ state: z.string().nullish(), user: USER_REF.nullish() });
export type WireReviewer = z.output<typeof REVIEWER>;

/** The other fields are computed for the calling token and say nothing about the request. */
export const APPROVAL_STATE = z.object({
  approved: z.boolean().nullish(),
  approved_by: z.array(z.object({ user: USER_REF.nullish() })).nullish(),
});

export const USER = z.object({ bot: z.boolean().nullish() });

export const ACCOUNT = z.object({ username: z.string() });

export const MEMBER = z.object({ access_level: z.int() });

/** Merge trains are told of by the editions that have them. */
export const PROJECT_FACTS = z.object({ default_branch: z.string().nullish(), merge_trains_enabled: z.boolean().nullish() });
export type WireProjectFacts = z.output<typeof PROJECT_FACTS>;

/** A request on a merge train. */
export const TRAIN_CAR = z.object({ status: z.string().nullish() });

const LINE = z.int().nullish();

const POSITION = z.object({
  head_sha: z.string().nullish(),
  new_path: z.string().nullish(),
  old_path: z.string().nullish(),
  new_line: LINE,
  old_line: LINE,
  line_range: z
    .object({ start: z.object({ new_line: LINE, old_line: LINE }).nullish() })
    .nullish()
    .catch(null),
});
export type WirePosition = z.output<typeof POSITION>;

export const REVIEW_NOTE = z.object({
  id: z.union([z.int(), z.string()]),
  body: z.string().nullish(),
  author: USER_REF.nullish(),
  created_at: z.string().nullish(),
  system: z.boolean().nullish(),
  resolved: z.boolean().nullish(),
  position: POSITION.nullish().catch(null),
});
export type WireReviewNote = z.output<typeof REVIEW_NOTE>;

export const LABEL_EVENT = z.object({
  id: z.int(),
  action: z.string().nullish(),
  created_at: z.string().nullish(),
  user: USER_REF.nullish(),
  // Null once the label was deleted.
  label: z.object({ name: z.string().nullish() }).nullish(),
});
export type WireLabelEvent = z.output<typeof LABEL_EVENT>;

export const COMMIT = z.object({
  id: z.string().min(1),
  last_pipeline: z.object({ id: z.int().nullish() }).nullish(),
});

/** An entry of a commit's status list: a job, or what some other system reported. */
export const COMMIT_STATUS = z.object({
  id: z.int().nullish(),
  name: z.string().nullish(),
  status: z.string().nullish(),
  allow_failure: z.boolean().nullish(),
  target_url: z.string().nullish(),
  pipeline_id: z.int().nullish(),
});
export type WireCommitStatus = z.output<typeof COMMIT_STATUS>;
