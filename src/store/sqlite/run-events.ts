import { z } from 'zod';
import type { RunEvent } from '../../domain/model/run.ts';
import type { Sqlite } from './sqlite.ts';
import { defineTable } from './table.ts';

/** A run that talks without end must not fill the disk: its newest events are kept. */
export const EVENTS_PER_RUN = 500;
const TEXT_LIMIT = 4096;

const Columns = z.object({ run_id: z.string(), at: z.number(), type: z.string(), text: z.string() });

const EVENTS = defineTable({
  name: 'run_events',
  key: 'seq',
  columns: Columns,
  toRow: (event: RunEvent) => ({ run_id: event.runId, at: event.at, type: event.type, text: cutText(event.text) }),
  fromRow: (row): RunEvent => ({ runId: row.run_id, at: row.at, type: row.type, text: row.text }),
});

/** The oldest beyond this one are dropped. */
const NEWEST_DROPPED = `SELECT seq FROM run_events WHERE run_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ${EVENTS_PER_RUN}`;

export function addRunEvents(db: Sqlite, events: readonly RunEvent[]): void {
  for (const event of events) EVENTS.put(db, event);
  for (const runId of new Set(events.map((event) => event.runId))) {
    db.run(`DELETE FROM run_events WHERE run_id = ? AND seq <= (${NEWEST_DROPPED})`, runId, runId);
  }
}

export function eventsOfRun(db: Sqlite, runId: string): RunEvent[] {
  return db.all('SELECT * FROM run_events WHERE run_id = ? ORDER BY seq', runId).map((row) => EVENTS.read(db, row));
}

/** Cuts without splitting a surrogate pair. */
export function cutText(text: string): string {
  if (text.length <= TEXT_LIMIT) return text;
  const cut = text.slice(0, TEXT_LIMIT);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
