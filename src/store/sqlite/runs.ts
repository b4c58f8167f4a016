import { z } from 'zod';
import type { Run, RunStatus } from '../../domain/model/run.ts';
import type { LifetimeTotals, RunQuery } from '../../ports/store.ts';
import { ISSUE_COLUMNS, issueColumns, issueOf } from './issue-columns.ts';
import type { Sqlite } from './sqlite.ts';
import { defineTable } from './table.ts';
import { TriggerSchema } from './trigger.ts';

const Status = z.enum({
  running: 'running',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
  budget_stopped: 'budget_stopped',
  blocked: 'blocked',
} satisfies { [K in RunStatus]: K });

const Columns = z.object({
  id: z.string(),
  tracker: z.string(),
  ...ISSUE_COLUMNS,
  attempt: z.number(),
  trigger: TriggerSchema,
  agent_kind: z.string(),
  status: Status,
  started_at: z.number(),
  ended_at: z.number().nullable(),
  turns: z.number(),
  session_id: z.string(),
  workspace_path: z.string(),
  model: z.string().nullable(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_tokens: z.number(),
  cache_read_tokens: z.number(),
  tokens_measured: z.number(),
  cost_usd: z.number().nullable(),
  error: z.string().nullable(),
});

export const RUNS = defineTable({ name: 'runs', key: 'id', columns: Columns, toRow: rowOf, fromRow: runOf });

/** Newest first; of runs that started in the same millisecond, by id. */
export function listRuns(db: Sqlite, query: RunQuery): Run[] {
  const conditions = [
    ...(query.tracker === undefined ? [] : [{ sql: 'tracker = ?', values: [query.tracker] }]),
    ...(query.identifier === undefined ? [] : [{ sql: 'identifier = ?', values: [query.identifier] }]),
    ...(query.before === undefined ? [] : [{ sql: 'started_at < ?', values: [query.before] }]),
    ...(query.after === undefined ? [] : [{ sql: '(started_at, id) < (?, ?)', values: [query.after.startedAt, query.after.id] }]),
  ];
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map((condition) => condition.sql).join(' AND ')}`;
  const values = conditions.flatMap((condition) => condition.values);
  const rows = db.all(`SELECT * FROM runs ${where} ORDER BY started_at DESC, id DESC LIMIT ?`, ...values, query.limit);
  return rows.map((row) => RUNS.read(db, row));
}

/** Ends the runs of a daemon that is gone. */
export function interruptRuns(db: Sqlite, tracker: string, at: number): void {
  db.run("UPDATE runs SET status = 'interrupted', ended_at = ? WHERE status = 'running' AND tracker = ?", at, tracker);
}

export function findRun(db: Sqlite, id: string): Run | null {
  const row = db.get('SELECT * FROM runs WHERE id = ?', id);
  return row ? RUNS.read(db, row) : null;
}

/** total() is 0.0 where sum() would be NULL, and an unknown cost counts as none. */
const TOTALS = `
  SELECT count(*) AS runs, total(input_tokens) AS inputTokens, total(output_tokens) AS outputTokens,
    total(total_tokens) AS totalTokens, total(cache_read_tokens) AS cacheReadTokens,
    total(ended_at - started_at) / 1000 AS seconds, total(cost_usd) AS costUsd
  FROM runs WHERE ended_at IS NOT NULL`;

export function totals(db: Sqlite): LifetimeTotals {
  const [kept, forgotten] = [db.get(TOTALS) ?? {}, db.get('SELECT * FROM forgotten_runs') ?? {}];
  return {
    runs: Number(kept.runs) + Number(forgotten.runs),
    inputTokens: Number(kept.inputTokens) + Number(forgotten.input_tokens),
    outputTokens: Number(kept.outputTokens) + Number(forgotten.output_tokens),
    totalTokens: Number(kept.totalTokens) + Number(forgotten.total_tokens),
    cacheReadTokens: Number(kept.cacheReadTokens) + Number(forgotten.cache_read_tokens),
    seconds: Number(kept.seconds) + Number(forgotten.seconds),
    costUsd: Number(kept.costUsd) + Number(forgotten.cost_usd),
  };
}

const OLD = 'SELECT id FROM runs WHERE ended_at < ? ORDER BY ended_at LIMIT ?';
const ADD_TO_FORGOTTEN = `
  UPDATE forgotten_runs AS sums SET runs = sums.runs + 1, input_tokens = sums.input_tokens + run.input_tokens,
    output_tokens = sums.output_tokens + run.output_tokens, total_tokens = sums.total_tokens + run.total_tokens,
    cache_read_tokens = sums.cache_read_tokens + run.cache_read_tokens,
    seconds = sums.seconds + (run.ended_at - run.started_at) / 1000, cost_usd = sums.cost_usd + coalesce(run.cost_usd, 0)
  FROM (SELECT * FROM runs WHERE id = ?) AS run`;

/** Deletes finished runs and their events, the oldest first; their sums stay. Returns how many went. */
export function forgetRuns(db: Sqlite, endedBefore: number, limit: number): number {
  const ids = db.all(OLD, endedBefore, limit).map((row) => String(row.id));
  db.transaction(() => {
    for (const id of ids) {
      db.run(ADD_TO_FORGOTTEN, id);
      db.run('DELETE FROM run_events WHERE run_id = ?', id);
      db.run('DELETE FROM run_event_sums WHERE run_id = ?', id);
      db.run('DELETE FROM runs WHERE id = ?', id);
    }
  });
  return ids.length;
}

function rowOf({ run, tracker }: { run: Run; tracker: string }): z.input<typeof Columns> {
  return {
    id: run.id,
    tracker,
    ...issueColumns(run.issue),
    attempt: run.attempt,
    trigger: run.trigger,
    agent_kind: run.agentKind,
    status: run.status,
    started_at: run.startedAt,
    ended_at: run.endedAt,
    turns: run.turns,
    session_id: run.sessionId,
    workspace_path: run.workspacePath,
    model: run.model,
    input_tokens: run.tokens.inputTokens,
    output_tokens: run.tokens.outputTokens,
    total_tokens: run.tokens.totalTokens,
    cache_read_tokens: run.tokens.cacheReadTokens,
    tokens_measured: run.tokensMeasured ? 1 : 0,
    cost_usd: run.costUsd,
    error: run.error,
  };
}

function runOf(row: z.infer<typeof Columns>): Run {
  return {
    id: row.id,
    issue: issueOf(row),
    attempt: row.attempt,
    trigger: row.trigger,
    agentKind: row.agent_kind,
    status: row.status,
    startedAt: row.started_at,
    endedAt: row.ended_at,
    turns: row.turns,
    sessionId: row.session_id,
    workspacePath: row.workspace_path,
    model: row.model,
    tokens: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      totalTokens: row.total_tokens,
      cacheReadTokens: row.cache_read_tokens,
    },
    tokensMeasured: row.tokens_measured === 1,
    costUsd: row.cost_usd,
    error: row.error,
  };
}
