import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { OutboxEntry } from '../../domain/model/claim.ts';
import { NOTIFICATION_EVENTS } from '../../domain/model/notification.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
import { defineTrackerTable } from './table.ts';

type OutboxWrite = OutboxEntry['write'];

const Columns = once(() =>
  z.object({
    id: z.string(),
    ...ISSUE_COLUMNS(),
    kind: z.enum(['comment', 'label', 'notification']),
    content: z.string(),
    tries: z.number(),
    due_at: z.number(),
  }),
);

/** What a message for people is kept as. */
const Message = once(() =>
  z.object({
    target: z.string(),
    event: z.enum(NOTIFICATION_EVENTS),
    over: z.boolean(),
    at: z.number(),
    text: z.string(),
    page: z.string(),
    error: z.string(),
  }),
);

export const OUTBOX = defineTrackerTable({
  name: 'outbox',
  key: 'id',
  columns: Columns,
  toRow: (entry: OutboxEntry) => ({
    id: entry.id,
    ...issueColumns(entry.issue),
    kind: entry.write.kind,
    content: contentOf(entry.write),
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

function contentOf(write: OutboxWrite): string {
  if (write.kind === 'comment') return write.text;
  if (write.kind === 'label') return write.label;
  const { kind: _kind, ...message } = write;
  return JSON.stringify(message);
}

function writeOf({ kind, content }: z.infer<ReturnType<typeof Columns>>): OutboxWrite {
  if (kind === 'comment') return { kind, text: content };
  if (kind === 'label') return { kind, label: content };
  return { kind, ...Message().parse(JSON.parse(content)) };
}
