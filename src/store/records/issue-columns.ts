import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { IssueRef } from '../../domain/model/issue.ts';

/** The columns of an issue, the same in every table that names one. */
export const ISSUE_COLUMNS = once(() => ({
  issue_id: z.string(),
  identifier: z.string(),
  display_identifier: z.string().nullable(),
  title: z.string(),
  url: z.string(),
  state: z.string(),
}));

type IssueColumns = z.infer<z.ZodObject<ReturnType<typeof ISSUE_COLUMNS>>>;

export function issueColumns(issue: IssueRef): IssueColumns {
  return {
    issue_id: issue.id,
    identifier: issue.identifier,
    display_identifier: issue.displayIdentifier,
    title: issue.title,
    url: issue.url,
    state: issue.state,
  };
}

export function issueOf(row: IssueColumns): IssueRef {
  return {
    id: row.issue_id,
    identifier: row.identifier,
    displayIdentifier: row.display_identifier,
    title: row.title,
    url: row.url,
    state: row.state,
  };
}
