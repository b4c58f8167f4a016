import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { PARK_REASONS } from '../../domain/model/claim.ts';
import type { Parked } from '../../domain/model/claim.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
import { defineTrackerTable } from './table.ts';

const Columns = once(() =>
  z.object({
    ...ISSUE_COLUMNS(),
    reason: z.enum(PARK_REASONS),
    detail: z.string(),
    parked_at: z.number(),
    state_at_park: z.string().nullable(),
  }),
);

export const PARKED = defineTrackerTable({
  name: 'parked',
  key: 'issue_id',
  columns: Columns,
  toRow: (parked: Parked) => ({
    ...issueColumns(parked.issue),
    reason: parked.reason,
    detail: parked.detail,
    parked_at: parked.parkedAt,
    state_at_park: parked.stateAtPark,
  }),
  fromRow: (row): Parked => ({
    issue: issueOf(row),
    reason: row.reason,
    detail: row.detail,
    parkedAt: row.parked_at,
    stateAtPark: row.state_at_park,
  }),
});
