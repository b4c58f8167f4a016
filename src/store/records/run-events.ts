import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { RunEvent, RunEventDetails } from '../../domain/model/run.ts';
import { jsonColumn, toJson } from './json-column.ts';
import { defineTable } from './table.ts';
import { all, get, records, run, type Work } from './work.ts';

const TEXT_LIMIT = 4096;
/** What a row takes besides its texts. */
const ROW_BYTES = 64;
/** Trimming makes some room at once, so that a run at its limit is not trimmed with every write. */
const TRIM_TO = 0.9;

const tokens = once(() =>
  z.object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    totalTokens: z.number(),
    cacheReadTokens: z.number(),
  }),
);
const call = once(() => ({ toolId: z.string(), name: z.string(), input: z.string() }));
const Details = once((): z.ZodType<RunEventDetails> =>
  z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('turn'), turn: z.number(), prompt: z.string().exactOptional() }),
    z.object({ kind: z.literal('call'), ...call() }),
    z.object({
      kind: z.literal('result'),
      ...call(),
      ok: z.boolean(),
      durationMs: z.number().nullable(),
      output: z.string(),
    }),
    z.object({ kind: z.literal('usage'), tokens: tokens(), costUsd: z.number().nullable(), requests: z.number() }),
    z.object({ kind: z.literal('left-out'), events: z.number(), bytes: z.number() }),
  ]),
);

const Columns = once(() =>
  z.object({
    run_id: z.string(),
    at: z.number(),
    type: z.string(),
    text: z.string(),
    details: jsonColumn(Details()).nullable(),
    bytes: z.number(),
  }),
);

const EVENTS = defineTable({
  name: 'run_events',
  key: 'seq',
  columns: Columns,
  toRow: (event: RunEvent) => ({
    run_id: event.runId,
    at: event.at,
    type: event.type,
    text: cutText(event.text),
    details: event.details === undefined ? null : toJson(event.details),
    bytes: bytesOf(event),
  }),
  fromRow: ({ run_id: runId, at, type, text, details }): RunEvent => ({
    runId,
    at,
    type,
    text,
    ...(details === null ? {} : { details }),
  }),
});

/** Adds events; of a run that exceeds the bytes the oldest are dropped and counted. */
export function* addRunEvents(events: readonly RunEvent[], maxBytes: number): Work<void> {
  for (const event of events) yield* EVENTS.put(event);
  for (const runId of new Set(events.map((event) => event.runId))) {
    const added = events.filter((event) => event.runId === runId).reduce((sum, event) => sum + bytesOf(event), 0);
    const sums = yield* get(ADD_BYTES, runId, added);
    if (Number(sums?.bytes) > maxBytes) yield* trim(runId, maxBytes);
  }
}

const ADD_BYTES = `INSERT INTO run_event_sums (run_id, bytes) VALUES (?, ?)
  ON CONFLICT (run_id) DO UPDATE SET bytes = run_event_sums.bytes + excluded.bytes RETURNING bytes`;

/** The kept events, oldest first, after a note of what was left out. */
export function* eventsOfRun(runId: string): Work<RunEvent[]> {
  const kept = yield* records(EVENTS.read, 'SELECT * FROM run_events WHERE run_id = ? ORDER BY seq', runId);
  const sums = yield* get(
    'SELECT left_out_events AS events, left_out_bytes AS bytes FROM run_event_sums WHERE run_id = ?',
    runId,
  );
  return withLeftOut(runId, kept, { events: Number(sums?.events ?? 0), bytes: Number(sums?.bytes ?? 0) });
}

function* trim(runId: string, maxBytes: number): Work<void> {
  const rows = yield* all('SELECT seq, bytes FROM run_events WHERE run_id = ? ORDER BY seq', runId);
  const { count, bytes } = oldestToDrop(
    rows.map((row) => Number(row.bytes)),
    maxBytes,
  );
  if (count === 0) return;
  yield* run('DELETE FROM run_events WHERE run_id = ? AND seq <= ?', runId, Number(rows[count - 1]?.seq));
  yield* run(
    'UPDATE run_event_sums SET bytes = bytes - ?, left_out_events = left_out_events + ?, left_out_bytes = left_out_bytes + ? WHERE run_id = ?',
    bytes,
    count,
    bytes,
    runId,
  );
}

/** How many of the oldest go once the limit is exceeded. The newest always stays. */
export function oldestToDrop(sizes: readonly number[], maxBytes: number): { readonly count: number; readonly bytes: number } {
  const excess = sizes.reduce((sum, size) => sum + size, 0) - maxBytes * TRIM_TO;
  let count = 0;
  let bytes = 0;
  while (bytes < excess && count < sizes.length - 1) bytes += sizes[count++] ?? 0;
  return { count, bytes };
}

export function withLeftOut(
  runId: string,
  kept: readonly RunEvent[],
  leftOut: { readonly events: number; readonly bytes: number },
): RunEvent[] {
  if (leftOut.events === 0) return [...kept];
  const text = `${leftOut.events} earlier events (${leftOut.bytes} bytes) were left out, see agent.max_recorded_bytes`;
  return [{ runId, at: kept[0]?.at ?? 0, type: 'left_out', text, details: { kind: 'left-out', ...leftOut } }, ...kept];
}

/** What an event counts for. */
export function bytesOf({ text, details }: RunEvent): number {
  return ROW_BYTES + Buffer.byteLength(cutText(text)) + (details === undefined ? 0 : Buffer.byteLength(JSON.stringify(details)));
}

/** Cuts without splitting a surrogate pair. */
export function cutText(text: string): string {
  if (text.length <= TEXT_LIMIT) return text;
  const cut = text.slice(0, TEXT_LIMIT);
  return /[\uD800-\uDBFF]$/.test(cut) ? cut.slice(0, -1) : cut;
}
