import { z } from 'zod';
import { usualIssue } from './usual-issue.ts';

/** Only the fields that are used. What the remote may leave out or send as null is allowed to be missing. */

export const nullableText = z
  .string()
  .nullish()
  .transform((value) => value ?? '');

const givenText = z.string().nullish();

/**
 * A label is an object, or a bare name. Labels decide the state, so that an issue whose labels cannot be read is left out:
 * without them it would count as waiting for work.
 */
const givenLabels = z.array(z.union([z.object({ name: givenText }), z.string()])).nullish();

/** Their names. */
export const labels = givenLabels.transform(labelNames);

function labelNames(found: z.output<typeof givenLabels>): string[] {
  return (found ?? []).map((label) => (typeof label === 'string' ? label : (label.name ?? ''))).filter((name) => name !== '');
}

/** Decorations: a strange one is taken as absent rather than losing the issue. */
const assignees = z
  .array(z.object({ login: givenText }))
  .nullish()
  .catch(null);
/** Null when the account is gone. */
const user = z.object({ login: givenText }).nullish().catch(null);
const association = givenText.catch(null);
const issueType = z.object({ name: givenText }).nullish().catch(null);
const dependencies = z.object({ total_blocked_by: z.number().nullish() }).nullish().catch(null);

const GIVEN_ISSUE = z.object({
  number: z.int().positive(),
  title: givenText,
  body: givenText,
  /** `open` or `closed`. */
  state: givenText,
  html_url: givenText,
  labels: givenLabels,
  assignees,
  user,
  /** What the author is to the repository. */
  author_association: association,
  type: issueType,
  created_at: givenText,
  updated_at: givenText,
  repository_url: givenText,
  /** Present on pull requests, which share numbers and lists with issues. */
  pull_request: z.unknown().optional(),
  issue_dependencies_summary: dependencies,
});

/** What is missing is filled in. */
export const FULL_ISSUE = GIVEN_ISSUE.transform((issue) => ({
  number: issue.number,
  title: issue.title ?? '',
  body: issue.body ?? '',
  state: issue.state ?? '',
  html_url: issue.html_url ?? '',
  labels: labelNames(issue.labels),
  assignees: issue.assignees,
  user: issue.user,
  author_association: issue.author_association ?? '',
  type: issue.type,
  created_at: issue.created_at ?? '',
  updated_at: issue.updated_at ?? '',
  repository_url: issue.repository_url ?? '',
  pull_request: issue.pull_request,
  issue_dependencies_summary: issue.issue_dependencies_summary,
}));
export type WireIssue = z.output<typeof FULL_ISSUE>;

/** Issues come by the ten thousand in every poll: the usual ones are read by hand, which takes a tenth of the time. */
export const ISSUE = z.unknown().transform((entry, context): WireIssue => {
  const usual = usualIssue(entry);
  if (usual !== undefined) return usual;
  const read = FULL_ISSUE.safeParse(entry);
  if (read.success) return read.data;
  for (const { message, path } of read.error.issues) context.addIssue({ code: 'custom', message, path });
  return z.NEVER;
});

export const COMMENT = z.object({
  id: z.union([z.int(), z.string()]).transform(String),
  user,
  author_association: association,
  body: nullableText,
  created_at: nullableText,
});
export type WireComment = z.output<typeof COMMENT>;

export const SEARCH_PAGE = z.object({
  total_count: z.number().nullish(),
  incomplete_results: z.boolean().nullish(),
  items: z.array(z.unknown()),
});

export const ACCOUNT_LOGIN = z.object({ login: nullableText });

export const REPOSITORY_FACTS = z.object({
  full_name: nullableText,
  private: z.boolean().nullish().catch(null),
  visibility: z.string().nullish().catch(null),
  permissions: z
    .object({ pull: z.boolean().nullish(), push: z.boolean().nullish(), triage: z.boolean().nullish() })
    .nullish()
    .catch(null),
});
export type WireRepository = z.output<typeof REPOSITORY_FACTS>;
