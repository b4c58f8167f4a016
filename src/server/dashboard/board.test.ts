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
import { createMetrics } from '../metrics.ts';
import { createApp } from '../routes.ts';

async function load(path: string, daemon: FakeDaemon) {
  const response = await createApp(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
  ).request(path);
  return { status: response.status, type: response.headers.get('content-type'), page: await response.text() };
}

async function dashboard(changes: Partial<Snapshot> = {}, more: Parameters<typeof createFakeDaemon>[0] = {}) {
  const { page } = await load('/', createFakeDaemon({ current: aSnapshot(changes), ...more }));
  return { page, text: textOf(page) };
}

/** One panel of the page, by its heading's id. */
function panelOf(page: string, id: string): string {
  return textOf(page.split(`data-key="panel-${id}"`)[1]?.split('</section>')[0] ?? '');
}

describe('the dashboard', () => {
  it('is a page of its own, with the script and the reload for those without', async () => {
    const { status, type, page } = await load('/', createFakeDaemon());
    expect(status).toBe(200);
    expect(type).toBe('text/html; charset=UTF-8');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).toContain('<noscript><meta http-equiv="refresh" content="5" /></noscript>');
    expect(page).toContain('<script type="module" src="/assets/dashboard.js"></script>');
  });

  it('has no inline script, style or handler, which the policy would block', async () => {
    const { page } = await dashboard({ running: [aRunning('ENG-1')] });
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script>/i);
  });

  it('shows each running session: identifier, state, turns, duration, last event, tokens and more', async () => {
    const { page } = await dashboard({
      running: [
        aRunning('ENG-1', {
          state: 'In Progress',
          turnCount: 7,
          attempt: 2,
          lastMessage: 'Looking at it',
          modelName: 'model-x',
          costUsd: 1.25,
          tokens: { inputTokens: 12_000, outputTokens: 345, totalTokens: 12_345, cacheReadTokens: 0 },
        }),
      ],
    });
    const panel = panelOf(page, 'running');
    for (const shown of [
      'ENG-1',
      'Title of ENG-1',
      'In Progress',
      ' 7 ',
      'attempt 2',
      '1m 05s',
      'turn completed',
      '5s ago',
      'Looking at it',
      '12.3k',
      'model-x',
      '$1.25',
    ]) {
      expect(panel).toContain(shown);
    }
  });

  it('marks a state that no label carries, and no other', async () => {
    const hold = { issue: anIssue('ENG-3', { stateAssumed: true }), reason: 'no_global_slot', detail: '', since: NOON } as const;
    const { page } = await dashboard({
      running: [aRunning('ENG-1', { stateAssumed: true }), aRunning('ENG-2', { state: 'doing' })],
      holds: [hold],
    });
    expect(panelOf(page, 'running')).toContain('todo (assumed)');
    expect(panelOf(page, 'running')).not.toContain('doing (assumed)');
    expect(panelOf(page, 'holds')).toContain('todo (assumed)');
    const current = aSnapshot({ running: [aRunning('ENG-1', { stateAssumed: true })] });
    expect(textOf((await load('/issues/ENG-1', createFakeDaemon({ current }))).page)).toContain('todo (assumed)');
  });

  it('shows the retry queue: identifier, attempt, time until due, error', async () => {
    const { page } = await dashboard({ retrying: [aRetry('ENG-2', { attempt: 3 })] });
    const panel = panelOf(page, 'retrying');
    for (const shown of ['ENG-2', ' 3 ', 'in 20s', 'agent: turn_failed: it did not work']) expect(panel).toContain(shown);
  });

  it('shows the summary cards, uptime, version and totals', async () => {
    const { text } = await dashboard({
      running: [aRunning('ENG-1')],
      retrying: [aRetry('ENG-2'), aRetry('ENG-3')],
      slots: { max: 10, available: 9 },
      totals: {
        tokens: { inputTokens: 900_000, outputTokens: 100_000, totalTokens: 1_000_000, cacheReadTokens: 5000 },
        secondsRunning: 7384,
        costUsd: 3.5,
      },
    });
    for (const shown of [
      'Running 1',
      'Available slots 9 of 10',
      'Retrying 2 next in 20s',
      'Total tokens 1M 900k in · 100k out · 5k cached',
      'Agent time 2h 03m since start',
      'Cost today $0.00 $0.00 in 7 days · no limit set',
      'Uptime 1h 00m',
      'Version 1.2.3',
      'Tracker file',
      'Agent mock',
    ]) {
      expect(text).toContain(shown);
    }
  });

  it('shows parked issues with the reason, since when and how to release them', async () => {
    const parked = (identifier: string) => ({
      issue: anIssue(identifier),
      reason: 'out_of_attempts' as const,
      detail: 'five failed runs',
      parkedAt: NOON - 120_000,
      stateAtPark: null,
    });
    const { page } = await dashboard({ parked: [parked('ENG-4'), parked("it's #5")] });
    const panel = panelOf(page, 'parked');
    for (const shown of [
      'ENG-4',
      'out of attempts',
      'five failed runs',
      '2m ago',
      'foray unpark ENG-4',
      `foray unpark 'it'\\''s #5'`,
    ]) {
      expect(panel).toContain(shown);
    }
  });

  it('shows why candidates are held, by reason, leaving out what other panels show', async () => {
    const hold = (identifier: string, reason: 'blocked_by' | 'no_global_slot' | 'running') => ({
      issue: anIssue(identifier),
      reason,
      detail: `because of ${reason}`,
      since: NOON - 1000,
    });
    const { page } = await dashboard({
      holds: [hold('A-1', 'blocked_by'), hold('A-2', 'no_global_slot'), hold('A-3', 'running')],
    });
    const panel = panelOf(page, 'holds');
    expect(panel).toContain('Not dispatched, and why 2');
    expect(panel).toContain('blocked by 1 no global slot 1');
    expect(panel).toContain('because of no_global_slot');
    expect(panel).not.toContain('A-3');
  });

  it('says what keeps everything back', async () => {
    const { text } = await dashboard({
      lifecycle: 'draining',
      preflightProblem: 'agent command "claude" was not found',
      pauses: [{ agentKind: 'claude-code', until: NOON + 60_000, reason: 'Usage limit.' }],
      poll: {
        last: { at: NOON - 4000, durationMs: 5, candidates: 0, error: 'connection refused' },
        nextAt: NOON,
        inFlight: false,
      },
    });
    for (const shown of [
      'Draining',
      'Stopping. Sessions are being ended',
      'The last poll failed. connection refused ( 4s ago )',
      'Nothing is dispatched. agent command "claude" was not found',
      'claude-code is paused. Usage limit. It goes on in 1m 00s',
    ]) {
      expect(text).toContain(shown);
    }
  });

  it('shows watched merge requests, and no empty panel without any', async () => {
    const progress = {
      used: 2,
      mark: NO_MARK,
      escalated: true,
      failures: 0,
      nextAt: NOON + 9000,
      waitingFor: 'a green pipeline',
    };
    const watch = {
      issue: anIssue('ENG-6'),
      mergeRequest: { owner: 'acme', repo: 'shop', number: 12, branch: 'fix-6', sha: '0123456789abcdef' },
      armedAt: NOON,
      facts: NOTHING_KNOWN,
      attempt: 0,
      reading: {
        at: NOON,
        headSha: 'fedcba9876543210',
        url: 'https://forge.example/12',
        mergeability: 'clean',
        decision: 'CHANGES_REQUESTED',
        ci: 'failure',
        merged: false,
        draft: false,
      },
      reactions: { ci_failure: progress },
    };
    const panel = panelOf((await dashboard({ watches: [watch] })).page, 'merge-requests');
    for (const shown of [
      'ENG-6',
      'acme/shop',
      '#12',
      'fix-6',
      'fedcba98',
      'CI failure',
      'ci failure',
      'escalated',
      'a green pipeline',
      '2 used',
      'next check in 9s',
    ]) {
      expect(panel).toContain(shown);
    }
    expect((await dashboard()).text).not.toContain('Watched merge requests');
  });

  it('shows the last 25 runs with a link to each, and the sums of all', async () => {
    const runs = Array.from({ length: 40 }, (_, index) => aRun(`r/${index}`, { costUsd: 0.5, issue: anIssue(`ENG-${index}`) }));
    const { page, text } = await dashboard({}, { runs });
    expect(page.match(/data-key="run-/g)).toHaveLength(25);
    expect(page).toContain('href="/runs/r%2F24"');
    expect(text).toContain('All time: 40 runs, 60k tokens, 3h 20m, est. $20.00');
  });

  it('stands when history cannot be read', async () => {
    const daemon = createFakeDaemon();
    daemon.history.listRuns = () => Promise.reject(new Error('disk on fire'));
    const { status, page } = await load('/', daemon);
    expect(status).toBe(200);
    expect(page).toContain('History could not be read');
    expect(daemon.logged).toContainEqual({
      level: 'warn',
      message: 'history read failed',
      attributes: { error: 'Error: disk on fire' },
    });
  });

  it('is 503 and says so when there is no snapshot', async () => {
    const daemon = createFakeDaemon();
    daemon.current = null;
    const { status, page } = await load('/', daemon);
    expect(status).toBe(503);
    expect(page).toContain('The state of the service could not be read.');
    expect(page).toContain('id="live"');
  });

  it.each([
    ['idle', {}, 'running', 'Nothing runs. Next poll in 12s .'],
    ['polling', { poll: { last: null, nextAt: NOON, inFlight: true } }, 'running', 'Nothing runs. A poll is under way.'],
    [
      'before the first poll',
      { poll: { last: null, nextAt: NOON + 1000, inFlight: false } },
      'holds',
      'No poll has finished yet. Next poll in 1s .',
    ],
    ['no candidates', {}, 'holds', 'The last poll found no issue in an active state.'],
    ['no retries', {}, 'retrying', 'No issue waits for another try.'],
    ['none parked', {}, 'parked', 'No issue waits for a person.'],
    ['no history', {}, 'history', 'No run yet.'],
  ] as const)('empty, %s: says what happens next', async (_, changes, id, shown) => {
    expect(panelOf((await dashboard(changes)).page, id)).toContain(shown);
  });

  it('shows a qualified identifier where the tracker has one', async () => {
    const { text } = await dashboard({ running: [aRunning('7', { displayIdentifier: 'acme/shop#7' })] });
    expect(text).toContain('acme/shop#7');
  });

  it('shows unknown tokens as unknown', async () => {
    const { page } = await dashboard({ running: [aRunning('ENG-1', { tokensMeasured: false })] });
    expect(panelOf(page, 'running')).toContain('–');
  });

  it('folds long text away', async () => {
    const { page } = await dashboard({ retrying: [aRetry('ENG-2', { error: `${'😀'.repeat(200)}\nlast line` })] });
    expect(page).toMatch(/<details data-key="error-id-ENG-2">\s*<summary><bdi>(?:😀){160}…<\/bdi>/u);
    expect(page).toContain('\nlast line</bdi></pre>');
  });
});

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
          issue: anIssue(name),
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

describe('search, filter and sort', () => {
  const current = aSnapshot({
    running: [
      aRunning('ENG-156'),
      aRunning('ENG-16', { title: 'Pay the <bank>' }),
      aRunning('ENG-2', { displayIdentifier: 'x#2' }),
    ],
    parked: [{ issue: anIssue('ENG-9'), reason: 'blocked', detail: 'needs a key', parkedAt: NOON, stateAtPark: null }],
  });
  const order = (page: string) => [...page.matchAll(/data-key="running-id-(ENG-\d+)"/g)].map(([, name]) => name);

  it.each([
    ['', ['ENG-156', 'ENG-16', 'ENG-2']],
    ['?sort=identifier', ['ENG-2', 'ENG-16', 'ENG-156']],
    ['?q=BANK', ['ENG-16']],
    ['?q=x%232', ['ENG-2']],
    ['?show=person', []],
    ['?show=nonsense&sort=nonsense', ['ENG-156', 'ENG-16', 'ENG-2']],
  ] as const)('"%s" gives %j', async (query, wanted) => {
    const { page } = await load(`/${query}`, createFakeDaemon({ current }));
    expect(order(page)).toEqual(wanted);
  });

  it('finds recent runs by their issue, outcome and error too', async () => {
    const runs = [
      aRun('r-1', { status: 'failed', error: 'no route to the bank' }),
      aRun('r-2', { issue: anIssue('ENG-9'), startedAt: NOON - 900_000 }),
    ];
    const shown = async (query: string) =>
      [...(await load(`/${query}`, createFakeDaemon({ runs }))).page.matchAll(/data-key="run-(r-\d)"/g)].map(([, id]) => id);
    expect(await shown('?q=bank')).toEqual(['r-1']);
    expect(await shown('?q=succeeded')).toEqual(['r-2']);
    expect(await shown('?q=eng-9')).toEqual(['r-2']);
    expect(await shown('?sort=oldest')).toEqual(['r-2', 'r-1']);
    const { page } = await load('/?q=nothing', createFakeDaemon({ runs }));
    expect(panelOf(page, 'history')).toContain('Recent runs 0 found Nothing here contains what you look for.');
  });

  it('keeps the counts of what there is, and says what was found', async () => {
    const { page } = await load('/?q=key', createFakeDaemon({ current }));
    expect(panelOf(page, 'running')).toContain('Running sessions 3 0 found');
    expect(panelOf(page, 'parked')).toContain('needs a key');
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

describe('the page of a run', () => {
  const run = aRun('r-1', {
    status: 'failed',
    error: 'it broke',
    costUsd: 0.5,
    model: 'model-x',
    trigger: 'ci_failure',
    attempt: 2,
  });
  const event = (second: number, text: string) => ({
    runId: 'r-1',
    at: run.startedAt + second * 1000,
    type: 'tool_started',
    text,
  });

  it('shows the run and its events', async () => {
    const { page } = await load(
      '/runs/r-1',
      createFakeDaemon({ runs: [run], runEvents: [event(1, 'npm test'), event(75, 'git push')] }),
    );
    const text = textOf(page);
    for (const shown of [
      'ENG-1',
      'failed',
      'it broke',
      'ci failure',
      'Attempt 2',
      'Turns 3',
      '$0.50',
      'model-x',
      'mock-session-1',
      '+1s tool started npm test',
      '+1m 15s',
      'git push',
    ]) {
      expect(text).toContain(shown);
    }
    expect(page).toContain('href="/api/v2/runs/r-1"');
  });

  it('keeps the end of a long transcript', async () => {
    const runEvents = Array.from({ length: 700 }, (_, index) => event(index, `line ${index}`));
    const { page } = await load('/runs/r-1', createFakeDaemon({ runs: [run], runEvents }));
    expect(textOf(page)).toContain('550 earlier rows');
    expect(page).toContain('line 699');
    expect(page).not.toContain('line 549<');
    const earlier = await load('/runs/r-1/rows?before=550', createFakeDaemon({ runs: [run], runEvents }));
    expect(earlier.page).toContain('line 549');
    expect(earlier.page).toContain('data-earlier="400"');
  });

  it('is a 404 page when there is none', async () => {
    const { status, type, page } = await load('/runs/nope', createFakeDaemon());
    expect(status).toBe(404);
    expect(type).toContain('text/html');
    expect(page).toContain('There is no such run.');
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
    const text = await board({ quotas: [quota], postponedPoll: { until: NOON + 600_000, resource: 'core', reason } });
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
