import { z } from 'zod';

/** Only the fields that are used. What the remote may leave out or send as null is allowed to be missing. */

export const nullableText = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

/**
 * A label is an object, or a bare name. Labels decide the state, so that an issue whose labels cannot be read is left out:
 * without them it would count as waiting for work.
 */
const label = z.union([z.string(), z.object({ name: nullableText }).transform(({ name }) => name)]);

/** Their names. */
export const labels = z
  .array(label)
  .nullish()
  .transform((names) => (names ?? []).filter((name) => name !== ''));

/** Decorations: a strange one is taken as absent rather than losing the issue. */
const assignees = z
  .array(z.object({ login: nullableText }))
  .nullish()
  .catch(null);
const issueType = z.object({ name: nullableText }).nullish().catch(null);
const dependencies = z.object({ total_blocked_by: z.number().nullish() }).nullish().catch(null);

export const ISSUE = z.object({
  number: z.int().positive(),
  title: nullableText,
  body: nullableText,
  /** `open` or `closed`. */
  state: nullableText,
  html_url: nullableText,
  labels,
  assignees,
  type: issueType,
  created_at: nullableText,
  updated_at: nullableText,
  repository_url: nullableText,
  /** Present on pull requests, which share numbers and lists with issues. */
  pull_request: z.unknown().optional(),
  issue_dependencies_summary: dependencies,
});
export type WireIssue = z.output<typeof ISSUE>;

export const COMMENT = z.object({
  id: z.union([z.int(), z.string()]).transform(String),
  /** Null when the account is gone. */
  user: z.object({ login: nullableText }).nullish().catch(null),
  body: nullableText,
  created_at: nullableText,
});
export type WireComment = z.output<typeof COMMENT>;

export const SEARCH_PAGE = z.object({
  total_count: z.number().nullish(),
  incomplete_results: z.boolean().nullish(),
  items: z.array(z.unknown()),
});
