import { z } from 'zod';
import type { OutboxEntry, TrackerWrite } from '../../domain/model/claim.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
import { defineTrackerTable } from './table.ts';

const Columns = z.object({
  id: z.string(),
  ...ISSUE_COLUMNS,
  kind: z.enum(['comment', 'label']),
  content: z.string(),
  tries: z.number(),
  due_at: z.number(),
});

export const OUTBOX = defineTrackerTable({
  name: 'outbox',
  key: 'id',
  columns: Columns,
  toRow: (entry: OutboxEntry) => ({
    id: entry.id,
    ...issueColumns(entry.issue),
    kind: entry.write.kind,
    content: entry.write.kind === 'comment' ? entry.write.text : entry.write.label,
    tries: entry.tries,
    due_at: entry.dueAt,
  }),
  fromRow: (row): OutboxEntry => ({
    id: row.id,
    issue: issueOf(row),
    write: writeOf(row),
    tries: row.tries,
    dueAt: row.due_at,
  }),
});

function writeOf(row: z.infer<typeof Columns>): TrackerWrite {
  return row.kind === 'comment' ? { kind: 'comment', text: row.content } : { kind: 'label', label: row.content };
}
