import type { Run, RunStatus } from '../domain/model/run.ts';
import { duration, iso, printJson, printLine, printTable } from './output.ts';
import { openReading } from './reading.ts';

export interface StatsSettings {
  readonly workflowPath: string;
  readonly since: number;
  readonly by: 'day' | 'agent' | 'state' | 'issue';
  readonly asJson: boolean;
}

/** All runs that started since then, in groups. */
export async function showStats(settings: StatsSettings): Promise<number> {
  const reading = await openReading(settings.workflowPath);
  if (reading === null) return 1;
  const { records } = reading;
  const runs = records === null ? [] : await runsSince(records.listRuns, settings.since).finally(() => records.close());
  const groups = groupsOf(runs, settings.by);
  if (settings.asJson) {
    printJson({
      since: iso(settings.since),
      by: settings.by,
      total: sumsOf(runs),
      groups: groups.map(([key, part]) => ({ key, ...sumsOf(part) })),
    });
    return 0;
  }
  printLine(`runs since ${iso(settings.since)}`);
  printTable(
    HEAD.map((word) => (word === 'KEY' ? settings.by.toUpperCase() : word)),
    [...groups.map(([key, part]) => rowOf(key, part)), ...(groups.length > 1 ? [rowOf('all', runs)] : [])],
    'no runs',
  );
  return 0;
}

const PAGE = 500;

type ListRuns = (query: { limit: number; before?: number }) => Promise<readonly Run[]>;

/** Page by page; runs of one millisecond at the edge of a page are read again and counted once. */
async function runsSince(listRuns: ListRuns, since: number): Promise<readonly Run[]> {
  const found = new Map<string, Run>();
  for (let before = Infinity, limit = PAGE; ;) {
    const page = await listRuns(before === Infinity ? { limit } : { limit, before });
    const known = found.size;
    for (const run of page) if (run.startedAt >= since) found.set(run.id, run);
    const last = page.at(-1);
    if (last === undefined || page.length < limit || last.startedAt < since) return [...found.values()];
    if (found.size === known) limit *= 2;
    before = last.startedAt + 1;
  }
}

const KEYS: Readonly<Record<StatsSettings['by'], (run: Run) => string>> = {
  day: (run) => new Date(run.startedAt).toISOString().slice(0, 10),
  agent: (run) => run.agentKind,
  state: (run) => run.issue.state,
  issue: (run) => run.issue.identifier,
};

function groupsOf(runs: readonly Run[], by: StatsSettings['by']): readonly (readonly [string, readonly Run[]])[] {
  const groups = new Map<string, Run[]>();
  for (const run of runs) {
    const key = KEYS[by](run);
    groups.set(key, [...(groups.get(key) ?? []), run]);
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const STATUSES: readonly RunStatus[] = [
  'succeeded',
  'failed',
  'cancelled',
  'interrupted',
  'budget_stopped',
  'blocked',
  'running',
];

function sumsOf(runs: readonly Run[]) {
  const count = (status: RunStatus): number => runs.filter((run) => run.status === status).length;
  const sum = (part: (run: Run) => number): number => runs.reduce((total, run) => total + part(run), 0);
  const ended = runs.filter((run) => run.endedAt !== null);
  const seconds = ended.reduce((total, run) => total + ((run.endedAt ?? run.startedAt) - run.startedAt) / 1000, 0);
  return {
    runs: runs.length,
    ...Object.fromEntries(STATUSES.map((status) => [status, count(status)])),
    issues: new Set(runs.map((run) => run.issue.id)).size,
    turns: sum((run) => run.turns),
    seconds,
    average_seconds: ended.length === 0 ? null : seconds / ended.length,
    input_tokens: sum((run) => run.tokens.inputTokens),
    output_tokens: sum((run) => run.tokens.outputTokens),
    total_tokens: sum((run) => run.tokens.totalTokens),
    cost_usd: sum((run) => run.costUsd ?? 0),
  };
}

const HEAD = ['KEY', 'RUNS', 'OK', 'FAILED', 'OTHER', 'TURNS', 'TIME', 'AVERAGE', 'TOKENS', 'COST'];

function rowOf(key: string, runs: readonly Run[]): readonly string[] {
  const { turns, seconds, average_seconds: average, total_tokens: tokens, cost_usd: cost } = sumsOf(runs);
  const [ok, failed] = (['succeeded', 'failed'] as const).map((status) => runs.filter((run) => run.status === status).length);
  return [
    key,
    String(runs.length),
    String(ok),
    String(failed),
    String(runs.length - (ok ?? 0) - (failed ?? 0)),
    String(turns),
    duration(seconds * 1000),
    average === null ? '-' : duration(average * 1000),
    String(tokens),
    `$${cost.toFixed(2)}`,
  ];
}
