import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { Approval } from '../../domain/model/claim.ts';
import { defineTrackerTable } from './table.ts';

const Columns = once(() =>
  z.object({
    issue_id: z.string(),
    label: z.string(),
    digest: z.string(),
    labelling: z.string(),
    seen_at: z.number(),
  }),
);

export const APPROVALS = defineTrackerTable({
  name: 'approvals',
  key: 'issue_id',
  columns: Columns,
  toRow: (approval: Approval) => ({
    issue_id: approval.issueId,
    label: approval.label,
    digest: approval.digest,
    labelling: approval.labelling,
    seen_at: approval.seenAt,
  }),
  fromRow: (row): Approval => ({
    issueId: row.issue_id,
    label: row.label,
    digest: row.digest,
    labelling: row.labelling,
    seenAt: row.seen_at,
  }),
});
