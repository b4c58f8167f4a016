import { NO_TOKENS } from '../../domain/model/agent-event.ts';
import { NOTHING_KNOWN } from '../../domain/model/watch.ts';
import { NO_MARK } from '../../domain/model/reaction.ts';
import { describe, expect, it } from 'vitest';
import {
  aRetry,
  aRun,
  aRunning,
  aSnapshot,
  anIssue,
  createFakeDaemon,
  NOON,
  type FakeDaemon,
} from '../../../test/support/fake-daemon.ts';
import { textOf } from '../../../test/support/page-text.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createApp } from '../routes.ts';
import { load, dashboard, panelOf } from '../../../test/support/dashboard.ts';

describe('nasty values', () => {
  const NASTY = [
    `<script>alert(1)</script>`,
    `"><img src=x onerror=alert(1)>`,
    `' onmouseover='alert(1)`,
    `</title><h1>`,
    `\u202Egnp.exe`,
    `مرحبا`,
    `&lt;b&gt;`,
  ];

  it.each(NASTY)('%s shows as it is, everywhere', async (nasty) => {
    const issue = anIssue(nasty, { id: nasty, title: nasty, url: nasty, state: nasty, displayIdentifier: nasty });
    const entry = { issueId: nasty, title: nasty, url: nasty, displayIdentifier: nasty };
    const progress = { used: 0, mark: NO_MARK, escalated: false, failures: 0, nextAt: NOON, waitingFor: nasty };
    const run = aRun(nasty, { issue, error: nasty, model: nasty, sessionId: nasty, workspacePath: nasty, agentKind: nasty });
    const daemon = createFakeDaemon({
      runs: [run],
      runEvents: [{ runId: nasty, at: NOON, type: nasty, text: nasty }],
      current: aSnapshot({
        trackerName: nasty,
        agentKind: nasty,
        running: [aRunning(nasty, { ...entry, state: nasty, lastEvent: nasty, lastMessage: nasty, modelName: nasty })],
        retrying: [aRetry(nasty, { ...entry, error: nasty.repeat(30) })],
        parked: [{ issue, reason: 'blocked', detail: nasty, parkedAt: NOON, stateAtPark: null }],
        holds: [{ issue, reason: 'blocked_by', detail: nasty, since: NOON }],
        pauses: [{ agentKind: nasty, until: NOON, reason: nasty }],
        watches: [
          {
            issue,
            mergeRequest: { owner: nasty, repo: nasty, number: 1, branch: nasty, sha: nasty },
            armedAt: NOON,
            facts: NOTHING_KNOWN,
            attempt: 0,
            reading: {
              at: NOON,
              headSha: nasty,
              url: nasty,
              mergeability: nasty,
              decision: nasty,
              ci: nasty,
              merged: false,
              draft: true,
            },
            reactions: { ci_failure: progress },
          },
        ],
        preflightProblem: nasty,
        poll: { last: { at: NOON, durationMs: 1, candidates: 1, error: nasty }, nextAt: NOON, inFlight: false },
      }),
    });
    for (const path of ['/', `/runs/${encodeURIComponent(nasty)}`]) {
      const { status, page } = await load(path, daemon);
      expect(status).toBe(200);
      expect(page).not.toMatch(/<script>|<img|<h1>alert|onerror=alert\(1\)>|' onmouseover=/);
      expect(textOf(page)).toContain(nasty);
    }
  });

  it('a title without end is cut on every page', async () => {
    const issue = anIssue('ENG-1', { title: 'x'.repeat(100_000) });
    const daemon = createFakeDaemon({
      runs: [aRun('r-1', { issue })],
      current: aSnapshot({
        running: [aRunning('ENG-1', { title: issue.title })],
        holds: [{ issue, reason: 'blocked_by', detail: '', since: NOON }],
      }),
    });
    for (const path of ['/', '/history', '/runs/r-1', '/issues/ENG-1']) {
      const { status, page } = await load(path, daemon);
      expect(status, path).toBe(200);
      expect(page, path).toContain(`${'x'.repeat(499)}…`);
      expect(page, path).not.toContain('x'.repeat(500));
    }
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', '//evil.example', ' javascript:alert(1)', ''])(
    '"%s" never becomes a link',
    async (url) => {
      const { page } = await dashboard({ running: [aRunning('ENG-1', { url })] });
      expect(page).toContain('<a class="issue" href="/issues/ENG-1"><bdi>ENG-1</bdi></a>');
      expect(page).not.toContain('class="outside"');
    },
  );

  it('text of either direction is kept to itself', async () => {
    const { page } = await dashboard({ running: [aRunning('ENG-1', { title: 'a \u202E b' })] });
    expect(page).toContain('<bdi>a \u202E b</bdi>');
  });
});
describe('a large house', () => {
  it('shows a part of each list, says how much more there is, and is quick', async () => {
    const many = <T>(count: number, make: (name: string) => T) =>
      Array.from({ length: count }, (_, index) => make(`ENG-${index}`));
    const daemon = createFakeDaemon({
      current: aSnapshot({
        running: many(100, (name) => aRunning(name)),
        retrying: many(500, (name) => aRetry(name)),
        holds: many(5000, (name) => ({
          issue: anIssue(`HELD-${name}`),
          reason: 'no_global_slot' as const,
          detail: 'all taken',
          since: NOON,
        })),
      }),
    });
    await load('/', daemon);
    const before = performance.now();
    const { page } = await load('/', daemon);
    expect(performance.now() - before).toBeLessThan(3_000);
    expect(page.match(/data-key="running-/g)).toHaveLength(50);
    expect(page.match(/data-key="retry-/g)).toHaveLength(50);
    expect(panelOf(page, 'retrying')).toContain('1 to 50 of 500 Next');
    expect(panelOf(page, 'holds')).toContain('1 to 50 of 5000 Next');
    expect(page.length).toBeLessThan(250_000);
    const second = await load('/?retrying=2&q=eng&sort=identifier', daemon);
    expect(panelOf(second.page, 'retrying')).toContain('Previous 51 to 100 of 500 Next');
    expect(second.page).toContain('href="/?q=eng&amp;sort=identifier&amp;retrying=3#retrying"');
    const last = await load('/?retrying=999', daemon);
    expect(panelOf(last.page, 'retrying')).toContain('Previous 451 to 500 of 500');
  });

  it('is under 60 kB for a first view, style and script included', async () => {
    const daemon = createFakeDaemon({
      current: aSnapshot({ running: Array.from({ length: 1000 }, (_, index) => aRunning(`ENG-${index}`)) }),
    });
    const app = createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    const sizes = await Promise.all(
      ['/', '/assets/dashboard.css', '/assets/dashboard.js'].map(async (path) => {
        const response = await app.request(path, { headers: { 'accept-encoding': 'gzip' } });
        expect(response.headers.get('content-encoding')).toBe('gzip');
        return (await response.arrayBuffer()).byteLength;
      }),
    );
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000);
  });
});
describe('two panels', () => {
  it('show the same figures of a session that runs, though the database is behind', async () => {
    const behind = aRun('run-ENG-1', { status: 'running', endedAt: null, turns: 1, costUsd: 0.1 });
    const live = aRunning('ENG-1', {
      turnCount: 7,
      costUsd: 2.5,
      tokens: { inputTokens: 9_000_000, outputTokens: 0, totalTokens: 9_000_000, cacheReadTokens: 0 },
    });
    const { page } = await load('/', createFakeDaemon({ current: aSnapshot({ running: [live] }), runs: [behind] }));
    expect(panelOf(page, 'history')).toContain(' 7 9M $2.50');
    expect(panelOf(page, 'history')).toContain('All time: 1 run, 9M tokens, 1m 05s, est. $2.50');
    expect(textOf(page)).toContain('Cost today $2.50');
  });

  it('say that the price of a run is not known, also of one under way', async () => {
    const behind = aRun('run-ENG-1', { status: 'running', endedAt: null, tokens: NO_TOKENS });
    const tokens = { ...NO_TOKENS, totalTokens: 900 };
    const current = aSnapshot({ running: [aRunning('ENG-1', { tokens, costUsd: null })] });
    const cost = async (...runs: FakeDaemon['runs']) => textOf((await load('/', createFakeDaemon({ current, runs }))).page);
    const unknown = await cost(behind);
    expect(unknown).toContain('Cost today unknown unknown in 7 days');
    expect(unknown).toContain('All time: 1 run, 900 tokens, 1m 05s, cost unknown');
    const some = await cost(behind, aRun('r-1', { costUsd: 0.5 }));
    expect(some).toContain('Cost today $0.50 + 1 run without a price · $0.50 + 1 run without a price in 7 days');
    expect(some).toContain('est. $0.50 + 1 run without a price');
  });

  it('agree when a run has just ended, though sums are kept for a while', async () => {
    const daemon = createFakeDaemon({ current: aSnapshot({ running: [aRunning('ENG-1', { costUsd: 1 })] }) });
    const app = createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    const look = async () => textOf(await (await app.request('/')).text());
    daemon.runs = [aRun('run-ENG-1', { status: 'running', endedAt: null, costUsd: 0.1 })];
    expect(await look()).toContain('All time: 1 run, 1.5k tokens, 1m 05s, est. $1.00');
    daemon.runs = [aRun('run-ENG-1', { costUsd: 1.2 })];
    expect(await look(), 'the snapshot is a moment older').toContain('All time: 1 run, 1.5k tokens, 5m 00s, est. $1.20');
    daemon.current = aSnapshot();
    expect(await look()).toContain('All time: 1 run, 1.5k tokens, 5m 00s, est. $1.20');
    expect(await look()).toContain('Cost today $1.20');
  });
});
describe('the quota of the tracker', () => {
  const quota = {
    kind: 'repoissues',
    resource: 'core',
    rule: 'hold',
    limit: 5000,
    remaining: 812,
    resetAt: NOON + 600_000,
    pollCost: 3,
  } as const;

  it('is a tile that names the scarcest budget first', async () => {
    const text = await board({ quotas: [{ ...quota, resource: 'search', limit: 30, remaining: 28 }, quota] });
    expect(text).toContain('Requests left');
    expect(text).toMatch(/812\s+of 5k core · 28 search · full\s+in 10m 00s/);
  });

  it('that cannot pay for a poll turns the page amber and says until when', async () => {
    const reason = `the tracker's quota "core" cannot pay for a poll: 812 of 5000 are left, and 20 % are kept for people`;
    const text = await board({ quotas: [quota], postponedPoll: { until: NOON + 600_000, reason } });
    expect(text).toContain('Serving, but polls wait');
    expect(text).toContain('The next poll waits.');
    expect(text).toContain('812 of 5000 are left, and 20 % are kept for people');
  });

  it('is no tile where the tracker does not tell', async () => {
    expect(await board({})).not.toContain('Requests left');
  });

  async function board(changes: Partial<Snapshot>): Promise<string> {
    const daemon = createFakeDaemon({ current: aSnapshot(changes) });
    const app = createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    const page = await (await app.request('/')).text();
    return page
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll(/\s+/g, ' ');
  }
});
