import { z } from 'zod';
import { readable } from '../shared/records.ts';
import { LABEL } from './schema.ts';

/** Absent for a deleted account and for a team. */
export const PERSON = z.object({ login: z.string() }).nullish().catch(null);
const COUNT = z.number().int().nonnegative().catch(0);
const LINE = z.number().int().nonnegative().nullish().catch(null);
const LIST = z
  .array(z.unknown())
  .nullish()
  .transform((entries) => entries ?? []);

/** A list that may be null: the remote writes an empty one in either way. */
export const ENTRIES = LIST;

/** Where a pull request comes from, or goes to. */
const SIDE = {
  ref: z.string().nullish(),
  repo_id: z.int().nullish(),
  repo: z.object({ full_name: z.string().nullish() }).nullish(),
};

export const PULL = z.object({
  state: z.string().nullish(),
  draft: z.boolean().nullish(),
  mergeable: z.boolean().nullish(),
  merged: z.boolean().nullish(),
  /** Null until merged. */
  merge_commit_sha: z.string().nullish(),
  html_url: z.string().nullish(),
  /** `label` is the branch also where it was deleted; then `ref` is a hidden one. The repository is -1 once a fork was deleted. */
  head: z.object({ ...SIDE, sha: z.string().nullish(), label: z.string().nullish() }).nullish(),
  base: z.object(SIDE).nullish(),
  labels: readable(LABEL),
  requested_reviewers: LIST,
  /** Above 0 once there are inline comments. */
  review_comments: COUNT,
});
export type WirePull = z.infer<typeof PULL>;

/** Times are judged where they matter: a review that decides nothing may bear any. */
export const REVIEW = z.object({
  id: z.number().int(),
  user: PERSON,
  state: z.string().nullish(),
  body: z.string().nullish(),
  dismissed: z.boolean().nullish(),
  /** False when the reviewer may not decide here. */
  official: z.boolean().nullish(),
  submitted_at: z.unknown().optional(),
  /** Inline comments. */
  comments_count: COUNT,
});
export type WireReview = z.infer<typeof REVIEW>;

export const REVIEW_COMMENT = z.object({
  id: z.number().int(),
  user: PERSON,
  body: z.string().nullish(),
  path: z.string().nullish(),
  /** Line numbers of the file, on the new and on the old side. */
  position: LINE,
  original_position: LINE,
  /** Who settled the conversation. */
  resolver: z.unknown().optional(),
  created_at: z.unknown().optional(),
});
export type WireReviewComment = z.infer<typeof REVIEW_COMMENT>;

/** An entry of the timeline that tells of a label. The label is null once it was deleted. */
export const LABEL_ENTRY = z.object({
  id: z.number().int(),
  body: z.string().nullish(),
  label: z.object({ name: z.string() }).nullish(),
  user: PERSON,
  created_at: z.unknown().optional(),
});
export type WireLabelEntry = z.infer<typeof LABEL_ENTRY>;

/** One status of a commit. What cannot be read counts as a status nobody knows: it must hold a merge, not vanish. */
export const COMMIT_STATUS = z
  .object({
    status: z.string().nullish().catch(null),
    context: z.string().nullish().catch(null),
    description: z.string().nullish().catch(null),
    target_url: z.string().nullish().catch(null),
  })
  .catch({ status: null, context: null, description: null, target_url: null });
export type WireStatus = z.infer<typeof COMMIT_STATUS>;

/** The combined state at the top is left out: it says pending where there is no CI at all. */
export const COMBINED_STATUS = z.object({ statuses: LIST });

/** `push` is the role of the user, whatever the token's scopes are. */
export const PERMISSIONS = z.object({ permissions: z.object({ push: z.boolean().nullish() }).nullish() });

export const ACCOUNT = z.object({ login: z.string() });

export const BRANCH = z.object({ commit: z.object({ id: z.string() }) });
export const DEFAULT_BRANCH = z.object({ default_branch: z.string().nullish() });
