import { addCosts, costText, NO_COST } from '../../domain/model/cost.ts';
import { RUN_STATUSES } from '../../domain/model/run.ts';
import type { StatisticsBy, StatisticsRow } from '../../ports/store.ts';
import { dollars, duration, iso, printJson, printLine, printTable } from '../output.ts';
import { isServiceStopping, tellService, withReading } from '../reading.ts';

export interface StatsSettings {
  readonly workflowPath: string;
  readonly since: number;
  readonly by: StatisticsBy;
  readonly asJson: boolean;
}

/** The runs that started since then, added up: the numbers of the page of statistics. */
export async function showStats({ workflowPath, since, by, asJson }: StatsSettings): Promise<number> {
  const rows = await withReading({ workflowPath, asJson }, async ({ records }) => {
    if (!asJson) tellService(records, await isServiceStopping(records));
    return (await records?.statistics({ since, by })) ?? [];
  });
  if (rows === null) return 1;
  const total = rows.reduce(together, NOTHING);
  if (asJson) {
    printJson({ since: iso(since), by, total: factsOf(total), groups: rows.map((row) => ({ key: row.key, ...factsOf(row) })) });
    return 0;
  }
  printLine(`runs since ${iso(since)}`);
  printTable(
    [by.toUpperCase(), ...HEAD],
    [...rows.map((row) => cellsOf(row.key, row)), ...(rows.length > 1 ? [cellsOf('all', total)] : [])],
    'no runs',
  );
  return 0;
}

const NOTHING: StatisticsRow = {
  key: '',
  runs: 0,
  outcomes: {},
  seconds: 0,
  longestSeconds: 0,
  tokens: { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 },
  ...NO_COST,
};

function together(a: StatisticsRow, b: StatisticsRow): StatisticsRow {
  const outcomes = RUN_STATUSES.map((status) => [status, (a.outcomes[status] ?? 0) + (b.outcomes[status] ?? 0)] as const);
  return {
    key: '',
    runs: a.runs + b.runs,
    outcomes: Object.fromEntries(outcomes),
    seconds: a.seconds + b.seconds,
    longestSeconds: Math.max(a.longestSeconds, b.longestSeconds),
    tokens: {
      inputTokens: a.tokens.inputTokens + b.tokens.inputTokens,
      outputTokens: a.tokens.outputTokens + b.tokens.outputTokens,
      totalTokens: a.tokens.totalTokens + b.tokens.totalTokens,
      cacheReadTokens: a.tokens.cacheReadTokens + b.tokens.cacheReadTokens,
    },
    ...addCosts(a, b),
  };
}

/** Every outcome is named, also one that no run had. */
function factsOf(row: StatisticsRow) {
  return {
    runs: row.runs,
    ...Object.fromEntries(RUN_STATUSES.map((status) => [status, row.outcomes[status] ?? 0])),
    seconds: row.seconds,
    average_seconds: averageOf(row),
    longest_seconds: row.longestSeconds,
    input_tokens: row.tokens.inputTokens,
    output_tokens: row.tokens.outputTokens,
    cache_read_tokens: row.tokens.cacheReadTokens,
    total_tokens: row.tokens.totalTokens,
    cost_usd: row.costUsd,
    unpriced_runs: row.unpricedRuns,
  };
}

/** Runs under way have no length yet. */
function averageOf({ runs, outcomes, seconds }: StatisticsRow): number | null {
  const ended = runs - (outcomes.running ?? 0);
  return ended === 0 ? null : seconds / ended;
}

const HEAD = ['RUNS', 'OK', 'FAILED', 'OTHER', 'TIME', 'AVERAGE', 'LONGEST', 'TOKENS', 'COST'];

function cellsOf(key: string, row: StatisticsRow): readonly string[] {
  const { succeeded = 0, failed = 0 } = row.outcomes;
  const average = averageOf(row);
  return [
    key,
    String(row.runs),
    String(succeeded),
    String(failed),
    String(row.runs - succeeded - failed),
    duration(row.seconds * 1000),
    average === null ? '-' : duration(average * 1000),
    duration(row.longestSeconds * 1000),
    String(row.tokens.totalTokens),
    costText(row, dollars),
  ];
}
