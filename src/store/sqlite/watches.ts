import { z } from 'zod';
import type { Watch } from '../../domain/model/watch.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
import { jsonColumn, toJson } from './json-column.ts';
import { ReactionsSchema } from './reaction-progress.ts';
import { defineTrackerTable } from './table.ts';

const Columns = z.object({
  ...ISSUE_COLUMNS,
  owner: z.string(),
  repo: z.string(),
  number: z.number(),
  branch: z.string(),
  sha: z.string(),
  armed_at: z.number(),
  attempt: z.number(),
  reactions: jsonColumn(ReactionsSchema),
});

export const WATCHES = defineTrackerTable({
  name: 'watches',
  key: 'issue_id',
  columns: Columns,
  toRow: (watch: Watch) => ({
    ...issueColumns(watch.issue),
    owner: watch.mergeRequest.owner,
    repo: watch.mergeRequest.repo,
    number: watch.mergeRequest.number,
    branch: watch.mergeRequest.branch,
    sha: watch.mergeRequest.sha,
    armed_at: watch.armedAt,
    attempt: watch.attempt,
    reactions: toJson(watch.reactions),
  }),
  fromRow: (row): Watch => ({
    issue: issueOf(row),
    mergeRequest: { owner: row.owner, repo: row.repo, number: row.number, branch: row.branch, sha: row.sha },
    armedAt: row.armed_at,
    attempt: row.attempt,
    reactions: row.reactions,
  }),
});
