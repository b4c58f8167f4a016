import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Spent } from '../../domain/model/run.ts';
import { defineTrackerTable } from './table.ts';

const Columns = once(() => z.object({ issue_id: z.string(), sessions: z.number(), tokens: z.number(), cost_usd: z.number() }));

export const SPENT = defineTrackerTable({
  name: 'spent',
  key: 'issue_id',
  columns: Columns,
  toRow: (spent: Spent) => ({
    issue_id: spent.issueId,
    sessions: spent.sessions,
    tokens: spent.tokens,
    cost_usd: spent.costUsd,
  }),
  fromRow: (row): Spent => ({
    issueId: row.issue_id,
    sessions: row.sessions,
    tokens: row.tokens,
    costUsd: row.cost_usd,
  }),
});
