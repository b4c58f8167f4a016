import { z } from 'zod';
import { readable } from '../shared/records.ts';

/** A label of an issue or a catalog. */
export const LABEL = z.object({ id: z.number().int().catch(0), name: z.string() });
export type WireLabel = z.infer<typeof LABEL>;

const LOGIN = z.object({ login: z.string() });

/** An issue in lists, alone and among dependencies. The last may show one of number 0: a blocker the token may not see. */
export const ISSUE = z.object({
  number: z.number().int().nonnegative(),
  title: z.string().nullish(),
  body: z.string().nullish(),
  state: z.string().nullish(),
  ref: z.string().nullish(),
  html_url: z.string().nullish(),
  labels: readable(LABEL),
  assignees: readable(LOGIN),
  user: LOGIN.nullish().catch(null),
  /** Present on pull requests only, which share the numbers of issues. */
  pull_request: z.unknown().optional(),
  repository: z.object({ full_name: z.string().nullish() }).nullish().catch(null),
  created_at: z.string().nullish(),
  updated_at: z.string().nullish(),
});
export type WireIssue = z.infer<typeof ISSUE>;

export const ISSUES = z.array(ISSUE);

export const COMMENT = z.object({
  id: z.number().int(),
  user: LOGIN.nullish().catch(null),
  body: z.string().nullish(),
  created_at: z.string().nullish(),
});
export type WireComment = z.infer<typeof COMMENT>;

export const USER = z.object({ login: z.string().nullish() });

/** What a user may do in a repository: `owner`, `admin`, `write`, `read` or `none`. */
export const COLLABORATION = z.object({ permission: z.string().nullish() });

export const REPOSITORY = z.object({
  private: z.boolean().nullish().catch(null),
  archived: z.boolean().nullish(),
  has_issues: z.boolean().nullish(),
  permissions: z.object({ push: z.boolean().nullish() }).nullish().catch(null),
  internal_tracker: z.object({ enable_issue_dependencies: z.boolean().nullish() }).nullish().catch(null),
});
