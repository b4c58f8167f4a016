import { addCosts, costOfRun, replaceCost, type CostSum } from '../../domain/model/cost.ts';
import type { Run } from '../../domain/model/run.ts';
import type { RunningView } from '../../domain/views/running-view.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { Daemon } from '../../ports/daemon.ts';
import type { LifetimeTotals, StatisticsRow } from '../../ports/store.ts';

/** How many runs the board lists. */
export const HISTORY_LENGTH = 25;
/** Sums over many runs are read now and then, and whenever a run began or ended. */
const SUMS_KEPT_MS = 5_000;
const DAY_MS = 86_400_000;

/** What is known of the past, sessions that run included. */
export interface Past {
  readonly runs: readonly Run[];
  readonly totals: LifetimeTotals;
  /** Of seven days, today included. */
  readonly days: readonly StatisticsRow[];
}

interface Sums extends Past {
  readonly at: number;
  readonly key: string;
}

/**
 * Reads the past so that it agrees with the snapshot: the database is some seconds behind a session that runs, so the
 * session's own figures stand in for it everywhere.
 */
export function createPast({ history, clock }: Daemon): (snapshot: Snapshot) => Promise<Past> {
  let known: Sums | null = null;
  return async (snapshot) => {
    const runs = await history.listRuns({ limit: HISTORY_LENGTH });
    const key = keyOf(runs, snapshot.running);
    if (known === null || known.key !== key || clock.now() - known.at >= SUMS_KEPT_MS) {
      const days = await history.statistics({ since: weekBegins(clock.now()), by: 'day' });
      known = { at: clock.now(), key, runs, totals: await history.totals(), days };
    }
    const ended = new Set(runs.flatMap(({ id, endedAt }) => (endedAt === null ? [] : [id])));
    const live = snapshot.running.filter(({ runId }) => !ended.has(runId));
    return { runs, totals: withLive(known.totals, live, snapshot.generatedAt), days: withLiveCost(known, live) };
  };
}

/** Changes when a run begins or ends. */
function keyOf(runs: readonly Run[], running: readonly RunningView[]): string {
  return [...runs.map(({ id, endedAt }) => `${id} ${endedAt}`), ...running.map(({ runId }) => runId)].join('\n');
}

/** The stored sums are those of finished runs. */
function withLive(totals: LifetimeTotals, live: readonly RunningView[], now: number): LifetimeTotals {
  return live.reduce(
    (sum, { tokens, costUsd, startedAt }) => ({
      runs: sum.runs + 1,
      inputTokens: sum.inputTokens + tokens.inputTokens,
      outputTokens: sum.outputTokens + tokens.outputTokens,
      totalTokens: sum.totalTokens + tokens.totalTokens,
      cacheReadTokens: sum.cacheReadTokens + tokens.cacheReadTokens,
      seconds: sum.seconds + Math.max(0, now - startedAt) / 1000,
      ...addCosts(sum, costOfRun({ tokens, costUsd })),
    }),
    totals,
  );
}

/** The stored sums hold the cost of a session as it was when they were read. */
function withLiveCost({ runs, days }: Sums, live: readonly RunningView[]): readonly StatisticsRow[] {
  const costs = new Map<string, CostSum>(days.map((row) => [row.key, row]));
  for (const run of runs) {
    const session = live.find(({ runId }) => runId === run.id);
    const cost = costs.get(dayOf(run.startedAt));
    if (session !== undefined && cost !== undefined)
      costs.set(dayOf(run.startedAt), replaceCost(cost, costOfRun(run), costOfRun(session)));
  }
  return days.map((row) => ({ ...row, ...costs.get(row.key) }));
}

/** The first of seven days, today included. */
function weekBegins(now: number): number {
  return (Math.floor(now / DAY_MS) - 6) * DAY_MS;
}

/** `2026-03-01`, of UTC. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
