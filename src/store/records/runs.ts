import { z } from 'zod';
import { once } from '../../lib/once.ts';
import { addCosts, type CostSum } from '../../domain/model/cost.ts';
import type { Run, RunEvent, RunStatus } from '../../domain/model/run.ts';
import type { LifetimeTotals, RunQuery, RunSelection } from '../../ports/store.ts';
import { ISSUE_COLUMNS, issueOf } from './issue-columns.ts';
import { eventsOfRun } from './run-events.ts';
import { defineTable } from './table.ts';
import { TriggerSchema } from './reactions.ts';
import { all, get, records, run as runSql, type Row, type Work } from './work.ts';

const Status = once(() =>
  z.enum({
    running: 'running',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'cancelled',
    interrupted: 'interrupted',
    budget_stopped: 'budget_stopped',
    blocked: 'blocked',
  } satisfies { [K in RunStatus]: K }),
);

const Columns = once(() =>
  z.object({
    id: z.string(),
    tracker: z.string(),
    ...ISSUE_COLUMNS(),
    attempt: z.number(),
    trigger: TriggerSchema(),
    agent_kind: z.string(),
    status: Status(),
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
  }),
);

export const RUNS = defineTable({ name: 'runs', key: 'id', columns: Columns, toRow: rowOf, fromRow: runOf });

/** Newest first; of runs that started in the same millisecond, by id. */
export function* listRuns(query: RunQuery): Work<readonly Run[]> {
  const conditions = [
    ...(yield* conditionsOf(query)),
    ...(query.before === undefined ? [] : [{ sql: 'started_at < ?', values: [query.before] }]),
    ...(query.after === undefined ? [] : [{ sql: '(started_at, id) < (?, ?)', values: [query.after.startedAt, query.after.id] }]),
  ];
  const { where, values } = whereOf(conditions);
  const sql = `SELECT * FROM runs ${where} ORDER BY started_at DESC, id DESC LIMIT ?`;
  return yield* records(RUNS.read, sql, ...values, query.limit);
}

interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** What the runs that are meant have in common. */
export function* conditionsOf({ tracker, identifier: given, anyCase, mostly }: RunSelection): Work<readonly Condition[]> {
  const identifier = given === undefined || anyCase !== true ? given : yield* spellingOf(given);
  return [
    ...(tracker === undefined ? [] : [{ sql: 'tracker = ?', values: [tracker] }]),
    ...(identifier === undefined ? [] : [{ sql: 'identifier = ?', values: [identifier] }]),
    ...(identifier === undefined || mostly === undefined ? [] : [ofOneTracker(identifier, mostly)]),
  ];
}

export function whereOf(conditions: readonly Condition[]): { where: string; values: readonly (string | number)[] } {
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`;
  return { where, values: conditions.flatMap(({ values }) => values) };
}

/** Issues of one tracker may differ in case alone: the name as it was given comes first. The databases lower ASCII letters only. */
function* spellingOf(given: string): Work<string> {
  const lower = given.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const order = 'CASE WHEN identifier = ? THEN 0 ELSE 1 END, started_at DESC, id DESC';
  const row = yield* get(`SELECT identifier FROM runs WHERE lower(identifier) = ? ORDER BY ${order} LIMIT 1`, lower, given);
  return row ? String(row.identifier) : given;
}

/** Trackers may have issues of the same name: those of one are no history of another. */
function ofOneTracker(identifier: string, tracker: string) {
  const own = 'SELECT max(tracker) FROM runs WHERE identifier = ? AND tracker = ?';
  const last = 'SELECT tracker FROM runs WHERE identifier = ? ORDER BY started_at DESC, id DESC LIMIT 1';
  return { sql: `tracker = coalesce((${own}), (${last}))`, values: [identifier, tracker, identifier] };
}

/** Ends the runs of a daemon that is gone. */
export function interruptRuns(tracker: string, at: number): Work<void> {
  return runSql("UPDATE runs SET status = 'interrupted', ended_at = ? WHERE status = 'running' AND tracker = ?", at, tracker);
}

/** The same for all trackers, with the words by which they are found again. */
export function interruptAllRuns(error: string, at: number): Work<void> {
  return runSql("UPDATE runs SET status = 'interrupted', ended_at = ?, error = ? WHERE status = 'running'", at, error);
}

/** The issues whose runs were ended with these words since then, and when. */
export function* interruptedSince(tracker: string, error: string, since: number): Work<ReadonlyMap<string, number>> {
  const sql =
    "SELECT issue_id, max(ended_at) AS at FROM runs WHERE ended_at > ? AND status = 'interrupted' AND error = ? AND tracker = ? GROUP BY issue_id";
  const rows = yield* all(sql, since, error, tracker);
  return new Map(rows.map((row) => [String(row.issue_id), Number(row.at)]));
}

export function* findRun(id: string): Work<Run | null> {
  const row = yield* get('SELECT * FROM runs WHERE id = ?', id);
  return row ? RUNS.read(row) : null;
}

/** The run with its events. */
export function* findRunWithEvents(id: string): Work<{ readonly run: Run; readonly events: readonly RunEvent[] } | null> {
  const run = yield* findRun(id);
  return run && { run, events: yield* eventsOfRun(id) };
}

/** Tokens of unknown price. */
export const UNPRICED = 'cost_usd IS NULL AND total_tokens > 0';

/** A sum over nothing is NULL, and an unknown cost counts as none. Whole numbers would end at 64 bits, with an error. */
const TOTALS = `
  SELECT count(*) AS runs, coalesce(sum(1.0 * input_tokens), 0) AS input_tokens, coalesce(sum(1.0 * output_tokens), 0) AS output_tokens,
    coalesce(sum(1.0 * total_tokens), 0) AS total_tokens, coalesce(sum(1.0 * cache_read_tokens), 0) AS cache_read_tokens,
    coalesce(sum(ended_at - started_at), 0) / 1000 AS seconds, coalesce(sum(cost_usd), 0) AS cost_usd, count(*) FILTER (WHERE ${UNPRICED}) AS unpriced_runs
  FROM runs WHERE ended_at IS NOT NULL`;

export function* totals(): Work<LifetimeTotals> {
  const kept = (yield* get(TOTALS)) ?? {};
  const forgotten = (yield* get('SELECT * FROM forgotten_runs')) ?? {};
  return {
    runs: Number(kept.runs) + Number(forgotten.runs),
    inputTokens: Number(kept.input_tokens) + Number(forgotten.input_tokens),
    outputTokens: Number(kept.output_tokens) + Number(forgotten.output_tokens),
    totalTokens: Number(kept.total_tokens) + Number(forgotten.total_tokens),
    cacheReadTokens: Number(kept.cache_read_tokens) + Number(forgotten.cache_read_tokens),
    seconds: Number(kept.seconds) + Number(forgotten.seconds),
    ...addCosts(costsOf(kept), costsOf(forgotten)),
  };
}

/** A service of an older version that is at work keeps no count. */
function costsOf({ cost_usd: costUsd, unpriced_runs: unpricedRuns = 0 }: Row): CostSum {
  return { costUsd: Number(costUsd), unpricedRuns: Number(unpricedRuns) };
}

function rowOf({ run, tracker }: { run: Run; tracker: string }): z.input<ReturnType<typeof Columns>> {
  return {
    id: run.id,
    tracker,
    // Written out, as a row is made for every step of a session: an object that copies another costs several times as much.
    issue_id: run.issue.id,
    identifier: run.issue.identifier,
    display_identifier: run.issue.displayIdentifier,
    title: run.issue.title,
    url: run.issue.url,
    state: run.issue.state,
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

function runOf(row: z.infer<ReturnType<typeof Columns>>): Run {
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
