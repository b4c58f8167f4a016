import { z } from 'zod';
import { REACTION_KINDS } from '../../domain/model/settings.ts';
import type { ReactionProgress, Watch } from '../../domain/model/watch.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
import { jsonColumn, schemaOf, toJson } from './json-column.ts';
import { defineTable } from './table.ts';

const Progress = schemaOf<ReactionProgress>()({
  used: z.number(),
  mark: z.string(),
  given: z.array(z.string()).readonly(),
  escalated: z.boolean(),
  failures: z.number(),
  nextAt: z.number(),
  waitingFor: z.string(),
});

const Columns = z.object({
  ...ISSUE_COLUMNS,
  owner: z.string(),
  repo: z.string(),
  number: z.number(),
  branch: z.string(),
  sha: z.string(),
  armed_at: z.number(),
  attempt: z.number(),
  reactions: jsonColumn(z.partialRecord(z.enum(REACTION_KINDS), Progress)),
});

export const WATCHES = defineTable({
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
