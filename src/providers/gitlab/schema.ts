import { z } from 'zod';

// Only the fields that are used. The remote sends null for much that is documented as text, so all but the number may be absent.

/** Of an issue, what its state is read from. */
export const ISSUE_STATE = z.object({
  iid: z.int().positive(),
  state: z.string().nullish(),
  labels: z.array(z.string()).nullish(),
  issue_type: z.string().nullish(),
});
export type WireIssueState = z.output<typeof ISSUE_STATE>;

const AUTHOR = z
  .object({ id: z.int().nullish().catch(null), username: z.string().nullish().catch(null) })
  .nullish()
  .catch(null);

export const ISSUE = ISSUE_STATE.extend({
  title: z.string().nullish(),
  description: z.string().nullish(),
  web_url: z.string().nullish(),
  assignees: z.array(z.object({ username: z.string().nullish() }).nullable()).nullish(),
  author: AUTHOR,
  references: z.object({ full: z.string().nullish() }).nullish(),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type WireIssue = z.output<typeof ISSUE>;

/** An issue as an update says that it is now. What an answer does not show is believed to be as it was asked for. */
export const UPDATED_ISSUE = z.object({ labels: z.array(z.string()).nullish().catch(null) }).catch({ labels: null });
export type WireUpdatedIssue = z.output<typeof UPDATED_ISSUE>;

const ID = z.union([z.int(), z.string()]);

export const NOTE = z.object({
  id: ID,
  body: z.string().nullish(),
  author: AUTHOR,
  created_at: z.string().nullish(),
  system: z.boolean().nullish(),
});
export type WireNote = z.output<typeof NOTE>;

/** A body made of quick actions alone is answered 202 without an id. */
export const CREATED_NOTE = z.object({
  id: ID.nullish(),
  commands_changes: z.record(z.string(), z.unknown()).nullish().catch(null),
});

export const LABEL = z.object({ name: z.string() });

const ACCESS = z.object({ access_level: z.number() }).nullish().catch(null);

export const PROJECT = z.object({
  id: z.number().nullish().catch(null),
  path_with_namespace: z.string().nullish().catch(null),
  visibility: z.string().nullish().catch(null),
  archived: z.boolean().nullish().catch(null),
  issues_access_level: z.string().nullish().catch(null),
  permissions: z.object({ project_access: ACCESS, group_access: ACCESS }).nullish().catch(null),
});
export type WireProject = z.output<typeof PROJECT>;

export const OWN_ACCOUNT = z.object({ id: z.int() });

export const TOKEN_SELF = z.object({
  scopes: z.array(z.string()).nullish(),
  active: z.boolean().nullish(),
  revoked: z.boolean().nullish(),
  expires_at: z.string().nullish(),
});
export type WireToken = z.output<typeof TOKEN_SELF>;
