import { describe, expect, it } from 'vitest';
import { busyAfternoon } from '../../../test/browser/scene.ts';
import { aRun, anIssue, createFakeDaemon, NOON, type FakeDaemon } from '../../../test/support/fake-daemon.ts';
import { textOf } from '../../../test/support/page-text.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createApp } from '../routes.ts';

const DAY_MS = 86_400_000;

async function load(path: string, daemon: FakeDaemon = busyAfternoon()) {
  const app = createApp(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
  );
  const page = await (await app.request(path)).text();
  /** What one who does not see a chart is told instead of it. */
  const told = (id: string) => textOf(new RegExp(`id="chart-${id}-text">([^<]*)<`).exec(page)?.[1] ?? '');
  return { page, text: textOf(page), told, app };
}

describe('charts', () => {
  it('each have a name and the same in words', async () => {
    const { page, told } = await load('/statistics');
    const ids = ['outcomes', 'tokens', 'cost', 'sessions', 'polls', 'quota'];
    for (const id of ids) expect(page, id).toContain(`role="img" aria-labelledby="chart-${id} chart-${id}-text"`);
    expect(told('outcomes')).toContain('2026-03-01: 3 succeeded, 1 failed, 1 blocked');
    expect(told('tokens')).toContain('2026-03-01: claude-code 4.94M');
    expect(told('cost')).toContain('2026-03-01: claude-code $6.41');
    expect(told('sessions')).toMatch(/^at the last poll \d running and \d waiting$/);
    expect(told('polls')).toMatch(/^\d+ polls, the slowest took \d+ ms, 1 failed$/);
    expect(told('quota')).toBe('requests: 58,210 of 65,000');
  });

  it('have a place for every day, also for one without a run, and days that can be read', async () => {
    const runs = [aRun('r-1'), aRun('r-2', { startedAt: NOON - 3 * DAY_MS, endedAt: NOON - 3 * DAY_MS + 1 })];
    const { page, told } = await load('/statistics?days=7', createFakeDaemon({ runs }));
    const outcomes = page.slice(page.indexOf('data-key="chart-outcomes"'), page.indexOf('data-key="chart-tokens"'));
    const labels = [...outcomes.matchAll(/<title>([^:<]+): (\d+)<\/title>/g)].map(([, day, count]) => `${day} ${count}`);
    expect(labels).toEqual(['02-22 0', '02-23 0', '02-24 0', '02-25 0', '02-26 1', '02-27 0', '02-28 0', '03-01 1']);
    expect(told('outcomes')).toBe('2026-02-26: 1 succeeded; 2026-03-01: 1 succeeded');
    const long = (await load('/statistics?days=90', createFakeDaemon({ runs }))).page;
    const shown = long.slice(long.indexOf('data-key="chart-outcomes"'), long.indexOf('data-key="chart-tokens"'));
    const named = [...shown.matchAll(/text-anchor="middle">(\d\d-\d\d)</g)].length;
    expect(named).toBeGreaterThan(3);
    expect(named).toBeLessThanOrEqual(9);
  });

  it('say so where there is nothing to draw', async () => {
    const { text } = await load('/statistics', createFakeDaemon());
    expect(text).toContain('Nothing to draw yet.');
    expect(text).toContain('The tracker does not say how many requests are left.');
    expect(text).toContain('No run in this time.');
  });
});

describe('the table', () => {
  it.each(['day', 'agent', 'state', 'issue'] as const)('by %s has the numbers of the API', async (by) => {
    const { text, app } = await load(`/statistics?by=${by}`);
    const { rows } = (await (await app.request(`/api/v2/statistics?by=${by}`)).json()) as {
      rows: readonly { key: string; runs: number; cost_usd: number }[];
    };
    expect(rows.length).toBeGreaterThan(0);
    const table = text.slice(text.lastIndexOf(`By ${by}`));
    for (const { key, runs, cost_usd } of rows) {
      const row = table.slice(table.indexOf(` ${key} `));
      expect(row).toMatch(new RegExp(`^ ${key} ${runs} `));
      expect(row).toContain(`$${cost_usd.toFixed(2)}`);
    }
  });

  it('says what has no price', async () => {
    const runs = [
      aRun('r-1'),
      aRun('r-2'),
      aRun('r-3', { costUsd: 0.5, agentKind: 'other' }),
      aRun('r-4', { agentKind: 'other' }),
    ];
    const { text, told, app } = await load('/statistics?by=agent', createFakeDaemon({ runs }));
    expect(text).toContain('3k unknown other 2');
    expect(text).toContain('3k $0.50 + 1 run without a price');
    expect(told('cost')).toBe('2026-03-01: mock unknown, other $0.50 + 1 run without a price');
    const { rows } = (await (await app.request('/api/v2/statistics?by=agent')).json()) as { rows: readonly object[] };
    expect(rows).toMatchObject([
      { key: 'mock', cost_usd: 0, unpriced_runs: 2 },
      { key: 'other', cost_usd: 0.5, unpriced_runs: 1 },
    ]);
  });

  it('pages, and leads to the issues', async () => {
    const runs = Array.from({ length: 150 }, (_, index) => aRun(`r-${index}`, { issue: anIssue(`ENG-${index}`) }));
    const { page, text } = await load('/statistics?by=issue&page=2', createFakeDaemon({ runs }));
    expect(text).toContain('Previous 101 to 150 of 150');
    expect(page).toContain('href="/issues/ENG-149"');
  });
});
