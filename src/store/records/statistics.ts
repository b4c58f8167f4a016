import { addCosts } from '../../domain/model/cost.ts';
import type { StatisticsBy, StatisticsQuery, StatisticsRow } from '../../ports/store.ts';
import { conditionsOf, UNPRICED, whereOf } from './runs.ts';
import { all, type Work } from './work.ts';

/** What runs are gathered by, besides the day. */
const KEYS: Readonly<Record<Exclude<StatisticsBy, 'day'>, string>> = {
  agent: 'agent_kind',
  state: 'state',
  issue: 'identifier',
};

/**
 * Sums of the runs that started since a moment: newest day first, else most runs first. `dayOfStart` is how the database
 * at hand says the day, of UTC, on which a run started.
 */
export function* statistics({ since, by, agent, ...which }: StatisticsQuery, dayOfStart: string): Work<readonly StatisticsRow[]> {
  const { where, values } = whereOf([
    { sql: 'started_at >= ?', values: [since] },
    ...(agent === undefined ? [] : [{ sql: 'agent_kind = ?', values: [agent] }]),
    ...(yield* conditionsOf(which)),
  ]);
  const parts = yield* all(
    `SELECT ${by === 'day' ? dayOfStart : KEYS[by]} AS key, status, count(*) AS runs,
       coalesce(sum(ended_at - started_at), 0) / 1000.0 AS seconds, max(coalesce(ended_at - started_at, 0)) / 1000.0 AS longest,
       sum(1.0 * input_tokens) AS input, sum(1.0 * output_tokens) AS output, sum(1.0 * total_tokens) AS all_tokens,
       sum(1.0 * cache_read_tokens) AS cached, coalesce(sum(cost_usd), 0) AS cost, count(*) FILTER (WHERE ${UNPRICED}) AS unpriced
     FROM runs ${where} GROUP BY key, status`,
    ...values,
  );
  const rows = new Map<string, StatisticsRow>();
  for (const part of parts) {
    const key = String(part.key);
    rows.set(key, add(rows.get(key) ?? noRuns(key), part));
  }
  return [...rows.values()].sort(by === 'day' ? newestFirst : mostRunsFirst);
}

function noRuns(key: string): StatisticsRow {
  const tokens = { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 };
  return { key, runs: 0, outcomes: {}, seconds: 0, longestSeconds: 0, tokens, costUsd: 0, unpricedRuns: 0 };
}

function add(row: StatisticsRow, part: Readonly<Record<string, unknown>>): StatisticsRow {
  const runs = Number(part.runs);
  return {
    key: row.key,
    runs: row.runs + runs,
    outcomes: { ...row.outcomes, [String(part.status)]: runs },
    seconds: row.seconds + Number(part.seconds),
    longestSeconds: Math.max(row.longestSeconds, Number(part.longest)),
    tokens: {
      inputTokens: row.tokens.inputTokens + Number(part.input),
      outputTokens: row.tokens.outputTokens + Number(part.output),
      totalTokens: row.tokens.totalTokens + Number(part.all_tokens),
      cacheReadTokens: row.tokens.cacheReadTokens + Number(part.cached),
    },
    ...addCosts(row, { costUsd: Number(part.cost), unpricedRuns: Number(part.unpriced) }),
  };
}

function newestFirst(a: StatisticsRow, b: StatisticsRow): number {
  return b.key.localeCompare(a.key);
}

function mostRunsFirst(a: StatisticsRow, b: StatisticsRow): number {
  return b.runs - a.runs || a.key.localeCompare(b.key, 'en', { numeric: true });
}
