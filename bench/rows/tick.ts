import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Effect } from '../../src/domain/model/effect.ts';
import { createSteadyClock } from '../../src/lib/steady-clock.ts';
import { inOrder } from '../../src/orchestrator/in-order.ts';
import { createLoop, type Loop } from '../../src/orchestrator/loop.ts';
import { NOTHING_DURABLE } from '../../src/ports/store.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { issueWith } from '../../test/support/issues.ts';
import { alike, atMost, type Row } from '../table.ts';

const SIZES = [100, 1_000, 10_000, 100_000];
const FREE_SLOTS = 10;

/** One tick of the loop over many candidates: what it costs each, and how long it keeps others waiting. */
export async function tickRows(): Promise<Row[]> {
  const costs = new Map<number, number>();
  let longestStall = 0;
  // Compiled code first: a small list would pay for what the large ones have.
  await measure(20_000);
  // What a tick costs with the running sessions alone is no cost of a candidate that waits.
  const { tickUs: bareUs } = await measure(FREE_SLOTS);
  for (const size of SIZES) {
    const { tickUs, stallMs } = await measure(size);
    costs.set(size, (tickUs - bareUs) / (size - FREE_SLOTS));
    longestStall = Math.max(longestStall, stallMs);
  }
  return [
    ...alike('one tick, cost per candidate (best of many)', 'µs', costs, 1.3),
    atMost('longest stall of the event loop in a tick over 100,000 candidates', 'ms', longestStall, 50),
  ];
}

/** As trackers list them: the oldest first. */
function createdAt(index: number): string {
  return new Date(1_700_000_000_000 + index * 60_000).toISOString();
}

interface Reading {
  /** Processor time, from the poll to its end. */
  readonly tickUs: number;
  readonly stallMs: number;
}

/** Costs are taken without the monitor of stalls, which works as well. */
async function measure(size: number): Promise<Reading> {
  const rounds = Math.max(12, Math.min(300, 200_000 / size));
  const watched = watchTicks(size);
  await watched.ticks(rounds);
  globalThis.gc?.();
  const times = await watched.ticks(rounds);
  globalThis.gc?.();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await watched.ticks(rounds);
  delays.disable();
  watched.end();
  return { tickUs: Math.min(...times), stallMs: delays.max / 1e6 };
}

/** The real loop over a tracker that answers at once with the same candidates, and is asked again at once. */
function watchTicks(size: number) {
  const candidates = Array.from({ length: size }, (_, index) =>
    issueWith({ id: `${index}`, identifier: `T-${index}`, title: `Issue ${index}`, createdAt: createdAt(index) }),
  );
  const settings = settingsWith({ agent: { maxConcurrentAgents: FREE_SLOTS }, rest: { polling: { intervalMs: 1 } } });
  let begun = process.cpuUsage();
  let ended = (_us: number): void => {};
  const interpret = (effect: Effect): void => {
    if (effect.do === 'poll') {
      begun = process.cpuUsage();
      const states = { ok: true, value: new Map(effect.lookups.map((id) => [id, 'todo'])) } as const;
      void inOrder(candidates).then((value) =>
        loop.report({ type: 'poll-answered', candidates: { ok: true, value }, states, preflightProblem: null }),
      );
    }
    if (effect.do === 'go-on') setImmediate(() => loop.report({ type: 'went-on' }));
    if (effect.do !== 'announce' || effect.notice.name !== 'poll:tick:completed') return;
    const { user, system } = process.cpuUsage(begun);
    ended(user + system);
  };
  const loop: Loop = createLoop(settings, NOTHING_DURABLE, 'bench', {
    store: { apply: async () => {} },
    clock: createSteadyClock(),
    interpret,
    onStoreFault: () => {},
  });
  loop.start();
  return {
    /** What each of the next ticks costs, in microseconds. */
    async ticks(count: number): Promise<readonly number[]> {
      const times: number[] = [];
      while (times.length < count) times.push(await new Promise<number>((resolve) => (ended = resolve)));
      return times;
    },
    end: () => loop.kill(),
  };
}
