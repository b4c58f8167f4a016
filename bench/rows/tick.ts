import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Effect } from '../../src/domain/model/effect.ts';
import { createSteadyClock } from '../../src/lib/steady-clock.ts';
import { createOrdering } from '../../src/orchestrator/in-order.ts';
import { createLoop, type Loop } from '../../src/orchestrator/loop.ts';
import { NOTHING_DURABLE } from '../../src/ports/store.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { issueWith } from '../../test/support/issues.ts';
import { alike, atMost, type Row } from '../table.ts';

const SIZES = [100, 1_000, 10_000, 100_000];
const FREE_SLOTS = 10;

/** Candidates that are looked at for one figure, at every size alike: each then pays for as much garbage collection. */
const LOOKED_AT = 100_000;
/** In turns, and the best of each size counts: what else the machine does then falls on all of them alike. */
const TURNS = 3;

/** One tick of the loop over many candidates: what it costs each, and how long it keeps others waiting. */
export async function tickRows(): Promise<Row[]> {
  // Compiled code first: a small list would pay for what the large ones have.
  await meanTickUs(20_000, 10);
  const ticks = new Map<number, number>();
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const size of [FREE_SLOTS, ...SIZES]) {
      const us = await meanTickUs(size, LOOKED_AT / Math.max(size, SIZES[0] ?? size));
      ticks.set(size, Math.min(us, ticks.get(size) ?? Infinity));
    }
  }
  // What a tick costs with the running sessions alone is no cost of a candidate that waits.
  const bareUs = ticks.get(FREE_SLOTS) ?? 0;
  const costs = new Map(SIZES.map((size) => [size, ((ticks.get(size) ?? 0) - bareUs) / (size - FREE_SLOTS)]));
  return [
    ...alike(`one tick, mean cost per candidate (best of ${TURNS} means)`, 'µs', costs, 1.3),
    atMost('longest stall of the event loop in a tick over 100,000 candidates', 'ms', await longestStallMs(), 50),
  ];
}

/** As trackers list them: the oldest first. */
function createdAt(index: number): string {
  return new Date(1_700_000_000_000 + index * 60_000).toISOString();
}

/** Processor time of a tick, from the poll to its end, garbage collection included. */
async function meanTickUs(size: number, rounds: number): Promise<number> {
  const watched = watchTicks(size);
  await watched.ticks(WARM_TICKS);
  globalThis.gc?.();
  const times = await watched.ticks(rounds);
  watched.end();
  return times.reduce((sum, us) => sum + us, 0) / times.length;
}

/** Taken apart from the costs: the monitor works as well. */
async function longestStallMs(): Promise<number> {
  const watched = watchTicks(Math.max(...SIZES));
  await watched.ticks(WARM_TICKS);
  globalThis.gc?.();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await watched.ticks(WATCHED_TICKS);
  delays.disable();
  watched.end();
  return delays.max / 1e6;
}

/** The first ones note every hold anew, the later ones find it as it was. */
const WARM_TICKS = 3;
const WATCHED_TICKS = 12;

/** The real loop over a tracker that answers at once with the same candidates, and is asked again at once. */
function watchTicks(size: number) {
  const candidates = Array.from({ length: size }, (_, index) =>
    issueWith({ id: `${index}`, identifier: `T-${index}`, title: `Issue ${index}`, createdAt: createdAt(index) }),
  );
  const settings = settingsWith({ agent: { maxConcurrentAgents: FREE_SLOTS }, rest: { polling: { intervalMs: 1 } } });
  const inOrder = createOrdering();
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
