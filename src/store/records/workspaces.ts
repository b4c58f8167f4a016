import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { WorkspaceRecord } from '../../domain/model/claim.ts';
import { defineTrackerTable } from './table.ts';

const Columns = once(() =>
  z.object({
    path: z.string(),
    issue_id: z.string(),
    identifier: z.string(),
    title: z.string(),
    last_used_at: z.number(),
  }),
);

export const WORKSPACES = defineTrackerTable({
  name: 'workspaces',
  key: 'path',
  columns: Columns,
  toRow: (workspace: WorkspaceRecord) => ({
    path: workspace.path,
    issue_id: workspace.issueId,
    identifier: workspace.identifier,
    title: workspace.title,
    last_used_at: workspace.lastUsedAt,
  }),
  fromRow: (row): WorkspaceRecord => ({
    path: row.path,
    issueId: row.issue_id,
    identifier: row.identifier,
    title: row.title,
    lastUsedAt: row.last_used_at,
  }),
});
