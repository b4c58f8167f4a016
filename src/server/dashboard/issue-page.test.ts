import { describe, expect, it } from 'vitest';
import { NO_TOKENS } from '../../domain/model/agent-event.ts';
import { busyAfternoon } from '../../../test/browser/scene.ts';
import {
  aRetry,
  aRun,
  aRunning,
  anIssue,
  aSnapshot,
  createFakeDaemon,
  NOON,
  type FakeDaemon,
} from '../../../test/support/fake-daemon.ts';
import { textOf } from '../../../test/support/page-text.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createApp } from '../routes.ts';

async function load(path: string, daemon: FakeDaemon = busyAfternoon()) {
  const app = createApp(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
  );
  const response = await app.request(path);
  const page = await response.text();
  return { status: response.status, page, text: textOf(page) };
}

function afternoonWith(...runs: FakeDaemon['runs']): FakeDaemon {
  const daemon = busyAfternoon();
  daemon.runs = [...daemon.runs, ...runs];
  return daemon;
}

const FAILED = aRun('r-1', { issue: anIssue('SHOP-1'), status: 'failed', error: 'it broke' });

describe('the page of an issue', () => {
  it('says what a person can do about what failed', async () => {
    const retrying = [aRetry('A-1', { error: 'workspace: hook after_create: exit status 127: sh: 1: gti: not found' })];
    const { text } = await load('/issues/A-1', createFakeDaemon({ current: aSnapshot({ retrying }) }));
    expect(text).toContain('Mend hooks.after_create of the workflow file. It is tried again by itself');
  });

  it('says what keeps a retry back whose time has come', async () => {
    const retrying = [aRetry('A-1', { dueAt: NOON - 60_000, error: '' })];
    const retryHolds = new Map([['id-A-1', { reason: 'agent_paused', detail: 'usage limit reached' } as const]]);
    const daemon = createFakeDaemon({ current: aSnapshot({ retrying, retryHolds }) });
    const { text } = await load('/issues/A-1', daemon);
    expect(text).toContain('and is held: agent paused. usage limit reached');
    expect(text).toContain("It starts when the limit of the agent's provider lifts, or when somebody retries it.");
    expect(text).not.toContain('by itself when it is due');
    expect((await load('/', daemon)).text).toContain('agent paused');
  });

  it.each([
    ['SHOP-412', 'running', 'A session has run for 22m 12s , turn 4', 'when somebody stops it', ['stop']],
    [
      'SHOP-377',
      'waiting',
      'It waits for another try, in 1m 14s (attempt 2)',
      'tried again by itself when it is due',
      ['retry', 'stop'],
    ],
    [
      'SHOP-351',
      'parked',
      'It needs a person (blocked), 3h 10m ago . The staging credentials',
      'A new state in the tracker',
      ['unpark'],
    ],
    [
      'SHOP-433',
      'held',
      'It is not dispatched: blocked by. blocked by SHOP-412',
      'when the issues it is blocked by are done',
      [],
    ],
    ['SHOP-389', 'watched', 'its merge request is watched', 'A reaction may start another run', []],
    ['SHOP-384', 'handed off', 'Its last run succeeded', 'An active state in the tracker starts it anew', []],
    ['SHOP-1', 'not running', 'Nothing is being done for it', 'An active state in the tracker starts it', []],
  ] as const)('%s is %s: why, what would change it, and what can be asked for', async (name, place, why, change, actions) => {
    const { status, page, text } = await load(`/issues/${name}`, afternoonWith(FAILED));
    expect(status).toBe(200);
    expect(text).toContain(`${name} · ${place} · foray`);
    expect(text).toContain(why);
    expect(text).toContain(change);
    const asked = [...page.matchAll(/action="\/api\/v2\/issues\/[^/"]+\/(\w+)"/g)].map(([, kind]) => kind);
    expect(asked).toEqual(actions);
    expect(page).toContain(`href="https://tracker.example/${name}"`);
  });

  it('shows the merge request with its checks and its review, and links to it', async () => {
    const { page, text } = await load('/issues/SHOP-389');
    expect(page).toContain('href="https://forge.example/acme/shop/1204"');
    for (const shown of ['acme/shop #1204', 'shop-389-retry-payouts', 'pending', 'review required']) {
      expect(text.toLowerCase()).toContain(shown);
    }
  });

  it('tells runs, handoffs, reactions and what people asked for, the newest first', async () => {
    const daemon = busyAfternoon();
    daemon.notices.announce({
      name: 'operator:request:answered',
      facts: {
        id: '1',
        request: { kind: 'retry', identifier: 'SHOP-389' },
        by: 'Ada',
        answer: { outcome: 'taken', message: 'SHOP-389 is released' },
      },
    });
    const { text } = await load('/issues/SHOP-389', daemon);
    const timeline = text.slice(text.indexOf('Timeline'));
    const armed = timeline.indexOf('#1204');
    const handedOff = timeline.indexOf('In Review');
    const run = timeline.indexOf('succeeded run');
    expect(armed).toBeGreaterThan(0);
    expect(handedOff).toBeGreaterThan(armed);
    expect(run).toBeGreaterThan(handedOff);
    expect(timeline).toContain('Ada');
    expect(timeline).toContain('5 turns · 17m 00s · 1.2M tokens · $1.62');
  });

  it('adds up tokens and cost, and leads to the runs that it does not show', async () => {
    const run = (index: number) => aRun(`r-${index}`, { costUsd: 0.5, startedAt: NOON - index * 60_000 });
    const few = await load('/issues/ENG-1', createFakeDaemon({ runs: [run(1), run(2)] }));
    expect(few.text).toContain('Runs 2 Tokens 3k Cost $1.00');
    expect(few.page).not.toContain('/history?identifier=');
    const many = await load('/issues/ENG-1', createFakeDaemon({ runs: Array.from({ length: 60 }, (_, index) => run(index)) }));
    expect(many.text).toContain('Runs 60 Tokens 90k Cost $30.00');
    expect(many.page).toContain('href="/history?identifier=ENG-1"');
  });

  it('takes the figures of a session under way as they are now, and says what has no price', async () => {
    const tokens = { inputTokens: 400, outputTokens: 100, totalTokens: 500, cacheReadTokens: 0 };
    const live = aRun('r-9', { endedAt: null, status: 'running', tokens: NO_TOKENS, costUsd: null });
    const current = aSnapshot({ running: [aRunning('ENG-1', { runId: 'r-9', tokens, costUsd: null })] });
    const runs = [live, aRun('r-1', { costUsd: 0.5 })];
    expect((await load('/issues/ENG-1', createFakeDaemon({ current, runs }))).text).toContain(
      'Runs 2 Tokens 2k Cost $0.50 + 1 run without a price',
    );
    expect((await load('/issues/ENG-1', createFakeDaemon({ current, runs: [live] }))).text).toContain(
      'Runs 1 Tokens 500 Cost unknown',
    );
  });

  it('is a 404 page for an issue nobody has heard of', async () => {
    const { status, text } = await load('/issues/NOPE-1');
    expect(status).toBe(404);
    expect(text).toContain('This service has never heard of this issue. To the board');
  });
});
