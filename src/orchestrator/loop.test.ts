import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { issueWith } from '../../test/support/issues.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { NOTHING_DURABLE, type Write } from '../domain/model/durable.ts';
import type { Effect } from '../domain/model/effect.ts';
import type { Event } from '../domain/model/event.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';
import { createLoop, type Loop } from './loop.ts';

const PATIENCE = { timeout: 15_000 };

/** A loop over a store that fails as often as told, answering polls with one issue. */
function startLoop(failures: number, storePatienceMs = 60_000) {
  const order: string[] = [];
  const faults: number[] = [];
  let left = 0;
  const loop: Loop = createLoop(settingsWith(), NOTHING_DURABLE, 'i', {
    clock: createSteadyClock(),
    storePatienceMs,
    onStoreFault: (_fault, tries) => void faults.push(tries),
    store: {
      apply(writes: readonly Write[]) {
        const isClaim = writes.some((write) => write.write === 'claim');
        if (isClaim && left < failures) {
          left += 1;
          return Promise.reject(new Error('disk full'));
        }
        order.push(...writes.map((write) => `store ${write.write}`));
        return Promise.resolve();
      },
    },
    interpret(effect: Effect) {
      if (effect.do !== 'announce') order.push(`do ${effect.do}`);
      const answer = ANSWERS[effect.do]?.(effect);
      if (answer) queueMicrotask(() => loop.report(answer));
    },
  });
  loop.start();
  return { loop, order, faults };
}

const ANSWERS: Partial<Record<Effect['do'], (effect: Effect) => Event | null>> = {
  poll: () => ({
    type: 'poll-answered',
    candidates: { ok: true, value: [issueWith({ id: '1' })] },
    states: { ok: true, value: new Map() },
    preflightProblem: null,
  }),
  'start-run': () => ({ type: 'stop-requested' }),
  'stop-run': (effect) =>
    effect.do === 'stop-run'
      ? {
          type: 'run-exited',
          issueId: '1',
          runId: effect.runId,
          exit: { kind: 'cancelled', turns: 0, fault: null, status: null, scm: null },
        }
      : null,
};

/** Something to store each time. */
function asked(index: number): Event {
  const request = index % 2 === 0 ? { kind: 'pause' as const, reason: '' } : { kind: 'resume' as const };
  return { type: 'operator-asked', asked: { id: String(index), request, tracker: '', by: 'rita', hasRuns: false } };
}

describe('the single writer', () => {
  it('stores before it does, and ends when it has drained', async () => {
    const { loop, order } = startLoop(0);
    await loop.done;
    expect(order.indexOf('store claim')).toBeGreaterThan(order.indexOf('do poll'));
    expect(order.indexOf('do start-run')).toBeGreaterThan(order.indexOf('store claim'));
    expect(loop.state().lifecycle).toBe('draining');
  });

  it('does nothing that was not stored: a failing store is tried again first', async () => {
    const { loop, order, faults } = startLoop(3);
    await loop.done;
    expect(faults).toEqual([1]);
    expect(order.filter((step) => step === 'do start-run')).toHaveLength(1);
  });

  it('gives up when the store stays broken, so that a restart can recover', async () => {
    const { loop, order } = startLoop(Infinity, 300);
    await expect(loop.done).rejects.toThrow('disk full');
    expect(order).not.toContain('do start-run');
  });

  it('decides more before each wait where storing takes long', async () => {
    const steady = createSteadyClock();
    let [now, units, stored] = [0, 0, 0];
    const ticking = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const loop = createLoop(settingsWith(), NOTHING_DURABLE, 'i', {
      // Deciding takes its time as well: a millisecond for each event.
      clock: { ...steady, now: () => ((now += 1), steady.now()) },
      onStoreFault: () => {},
      store: {
        async apply(writes) {
          now += 100;
          units += 1;
          stored += writes.length;
        },
      },
      interpret: () => {},
    });
    loop.start();
    for (let index = 0; index < 120; index += 1) loop.report(asked(index));
    while (stored < 120) await new Promise((resolve) => setImmediate(resolve));
    loop.kill();
    ticking.mockRestore();
    expect(units).toBeLessThan(8);
  });

  it('rests while storing takes much of the time, so that what comes one by one is stored together', async () => {
    let [now, units, stored] = [0, 0, 0];
    const ticking = vi.spyOn(performance, 'now').mockImplementation(() => now);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const pass = async (): Promise<void> => {
      now += 1;
      await vi.advanceTimersByTimeAsync(1);
    };
    const loop = createLoop(settingsWith(), NOTHING_DURABLE, 'i', {
      clock: createSteadyClock(),
      onStoreFault: () => {},
      store: {
        async apply(writes) {
          now += 10;
          units += 1;
          stored += writes.length;
        },
      },
      interpret: () => {},
    });
    loop.start();
    for (let index = 0; index < 30; index += 1) {
      loop.report(asked(index));
      await pass();
    }
    while (stored < 60) await pass();
    loop.kill();
    ticking.mockRestore();
    expect(units).toBeLessThan(15);
  });

  it('takes no time for silence in which the process did not run, not even of what waited to be decided', async () => {
    let now = 1_000;
    const ticking = vi.spyOn(performance, 'now').mockImplementation(() => now);
    const did: string[] = [];
    const loop: Loop = createLoop(settingsWith({ agent: { turnTimeoutMs: 1_000 } }), NOTHING_DURABLE, 'i', {
      clock: createSteadyClock(() => now),
      onStoreFault: () => {},
      store: { apply: () => Promise.resolve() },
      interpret(effect) {
        did.push(effect.do);
        if (effect.do === 'start-run')
          loop.report({ type: 'turn-started', issueId: '1', runId: effect.plan.runId, turn: 1, prompt: '' });
        const answer = effect.do === 'poll' ? ANSWERS.poll?.(effect) : null;
        if (answer) loop.report(answer);
      },
    });
    loop.start();
    await vi.waitFor(() => expect(loop.state().live.get('1')?.turn).toBe(1), PATIENCE);
    loop.report({ type: 'clock' });
    now += 60_000;
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    loop.kill();
    ticking.mockRestore();
    expect(did).toContain('start-run');
    expect(did).not.toContain('stop-run');
  });

  it('hears of a clock that was set although another loop of the same clock heard of it first', async () => {
    let wall = 1_700_000_000_000;
    const clock = createSteadyClock(
      () => wall,
      () => 0,
    );
    const deps = { clock, onStoreFault: () => {}, store: { apply: () => Promise.resolve() }, interpret: () => {} };
    const loops = ['one', 'other'].map((instance) => createLoop(settingsWith(), NOTHING_DURABLE, instance, deps));
    for (const loop of loops) loop.start();
    await vi.waitFor(() => expect(loops.every((loop) => loop.state().poll.begunAt > 0)).toBe(true), PATIENCE);
    wall += 3_600_000;
    for (const loop of loops) loop.report({ type: 'clock' });
    await vi.waitFor(() => expect(loops.map((loop) => loop.state().startedAt)).toEqual([wall, wall]), PATIENCE);
    for (const loop of loops) loop.kill();
  });

  it('waits no longer than it must where a timer rings a moment early', async () => {
    const steady = createSteadyClock();
    const begun = steady.now();
    let polls = 0;
    const settings = settingsWith({ rest: { polling: { intervalMs: 100 } } });
    const loop: Loop = createLoop(settings, NOTHING_DURABLE, 'i', {
      // Slower than the timers are.
      clock: { ...steady, drift: () => 0, now: () => begun + Math.round((steady.now() - begun) * 0.9) },
      onStoreFault: () => {},
      store: { apply: async () => {} },
      interpret(effect) {
        if (effect.do !== 'poll') return;
        polls += 1;
        const answered = { candidates: { ok: true, value: [] }, states: { ok: true, value: new Map() } } as const;
        queueMicrotask(() => loop.report({ type: 'poll-answered', ...answered, preflightProblem: null }));
      },
    });
    loop.start();
    // With a second of rest at each they would take more than five.
    await expect.poll(() => polls, { timeout: 4_000 }).toBeGreaterThan(5);
    loop.kill();
  });

  it('tells what the end of the grace cuts off although a timer rings a moment early', async () => {
    const steady = createSteadyClock();
    let time = steady.now();
    const told: string[] = [];
    const loop = createLoop(settingsWith(), NOTHING_DURABLE, 'i', {
      // Every look at the clock takes a millisecond.
      clock: { ...steady, now: () => (time += 1) },
      onStoreFault: () => {},
      store: { apply: () => Promise.resolve() },
      interpret(effect) {
        if (effect.do === 'announce') told.push(effect.notice.name);
        const answer = effect.do === 'poll' ? ANSWERS.poll?.(effect) : null;
        if (answer) queueMicrotask(() => loop.report(answer));
      },
    });
    loop.start();
    await expect.poll(() => loop.state().live.size, PATIENCE).toBe(1);
    loop.report({ type: 'stop-requested' });
    await expect.poll(() => told, PATIENCE).toContain('daemon:drain:started');
    time = (loop.state().drainBy ?? 0) - 1.5;
    loop.report({ type: 'clock' });
    await loop.done;
    expect(told.filter((name) => name === 'daemon:drain:cut')).toHaveLength(1);
  });

  it('ignores what comes after the end', async () => {
    const { loop } = startLoop(0);
    await loop.done;
    const before = loop.state();
    loop.report({ type: 'clock' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(loop.state()).toBe(before);
  });
});
