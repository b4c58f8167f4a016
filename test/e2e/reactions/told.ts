import { eventually, type RunningDaemon } from '../../support/daemon.ts';
import type { RecordedRequest } from '../../support/http-server.ts';

/** The one merge request that the API shows; undefined when there is none. */
export async function mergeRequestOf(daemon: RunningDaemon): Promise<Record<string, unknown> | undefined> {
  const { merge_requests: all } = (await daemon.json('/api/v2/merge-requests')) as { merge_requests: Record<string, unknown>[] };
  return all[0];
}

/** What each reaction waits for. */
export async function waitsOf(daemon: RunningDaemon): Promise<Record<string, string>> {
  const reactions = ((await mergeRequestOf(daemon))?.['reactions'] ?? []) as { kind: string; waiting_for: string }[];
  return Object.fromEntries(reactions.map(({ kind, waiting_for: what }) => [kind, what]));
}

/** Runs by what started them, newest first. */
export async function runsBy(daemon: RunningDaemon, trigger: string): Promise<readonly Record<string, unknown>[]> {
  const { runs } = (await daemon.json('/api/v2/runs')) as { runs: Record<string, unknown>[] };
  return runs.filter((run) => run['trigger'] === trigger);
}

/** Until a run that this started has succeeded. */
export async function runEnded(daemon: RunningDaemon, trigger: string): Promise<void> {
  await eventually(
    () => runsBy(daemon, trigger),
    (runs) => runs.some(({ status }) => status === 'succeeded'),
    `a run by ${trigger}`,
  );
}

/** The value of the series that has these labels; 0 when there is none. */
export function metricOf(metrics: string, name: string, labels: Readonly<Record<string, string>>): number {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  const line = metrics
    .split('\n')
    .find((one) => /^[^{ ]*/.exec(one)?.[0] === name && wanted.every((label) => one.includes(label)));
  return Number(line?.split(' ').at(-1) ?? 0);
}

/** One line for each route and how often it was asked, most asked first. Numbers and commits in a path count as one route. */
export function requestsByRoute(requests: readonly RecordedRequest[]): string {
  const counts = new Map<string, number>();
  for (const { method, path } of requests) {
    const route = `${method} ${path.replaceAll(/\/[0-9a-f]{40}(?=\/|$)/g, '/:sha').replaceAll(/\/\d+(?=\/|$)/g, '/:n')}`;
    counts.set(route, (counts.get(route) ?? 0) + 1);
  }
  const lines = [...counts].sort(([, a], [, b]) => b - a).map(([route, count]) => `${String(count).padStart(6)} ${route}`);
  return [...lines, `${String(requests.length).padStart(6)} in all`].join('\n');
}
