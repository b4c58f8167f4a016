import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { NOTHING_KNOWN, type RequestFacts, type Watch } from '../../domain/model/watch.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
import { jsonColumn, schemaOf, toJson } from './json-column.ts';
import { ReactionsSchema } from './reactions.ts';
import { defineTrackerTable } from './table.ts';

/** A request that an earlier version watched is checked at the next look. */
const FactsSchema = once(() =>
  z.preprocess(
    (stored) => ({ ...NOTHING_KNOWN, ...(stored as object) }),
    schemaOf<RequestFacts>()({
      standing: z.union([
        z.object({ is: z.enum(['unread', 'managed']) }),
        z.object({ is: z.literal('unmanaged'), cause: z.enum(['project', 'branch', 'fork']), reason: z.string() }),
      ]),
      forge: z.string().nullable(),
      head: z.object({ sha: z.string(), runs: z.number() }).nullable(),
      runs: z.number(),
      missing: z.number(),
      closedAt: z.number().nullable(),
      mergedByOthers: z.boolean(),
    }),
  ),
);

const Columns = once(() =>
  z.object({
    ...ISSUE_COLUMNS(),
    owner: z.string(),
    repo: z.string(),
    number: z.number(),
    branch: z.string(),
    sha: z.string(),
    armed_at: z.number(),
    attempt: z.number(),
    facts: jsonColumn(FactsSchema()),
    reactions: jsonColumn(ReactionsSchema()),
  }),
);

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
    facts: toJson(watch.facts),
    reactions: toJson(watch.reactions),
  }),
  fromRow: (row): Watch => ({
    issue: issueOf(row),
    mergeRequest: { owner: row.owner, repo: row.repo, number: row.number, branch: row.branch, sha: row.sha },
    armedAt: row.armed_at,
    attempt: row.attempt,
    facts: row.facts,
    reactions: row.reactions,
  }),
});
