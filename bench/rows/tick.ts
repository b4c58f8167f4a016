import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Effect } from '../../src/domain/model/effect.ts';
import { createSteadyClock } from '../../src/lib/steady-clock.ts';
import { createLoop, type Loop } from '../../src/orchestrator/loop.ts';
import { NOTHING_DURABLE } from '../../src/ports/store.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { issueWith } from '../../test/support/issues.ts';
import { alike, atMost, median, type Row } from '../table.ts';

const SIZES = [100, 1_000, 10_000, 100_000];
const FREE_SLOTS = 10;

/** One tick of the loop over many candidates: what it costs each, and how long it keeps others waiting. */
export async function tickRows(): Promise<Row[]> {
  const costs = new Map<number, number>();
  let longestStall = 0;
  // What a tick costs without any candidate is no cost of a candidate.
  const { tickUs: bareUs } = await measure(0);
  for (const size of SIZES) {
    const { tickUs, stallMs } = await measure(size);
    costs.set(size, (tickUs - bareUs) / size);
    longestStall = Math.max(longestStall, stallMs);
  }
  return [
    ...alike('one tick, cost per candidate', 'µs', costs, 1.3),
    atMost('longest stall of the event loop in a tick over 100,000 candidates', 'ms', longestStall, 50),
  ];
}

interface Reading {
  /** Processor time. */
  readonly tickUs: number;
  readonly stallMs: number;
}

/** The real loop over a tracker that answers at once with the same candidates. */
async function measure(size: number): Promise<Reading> {
  const candidates = Array.from({ length: size }, (_, index) =>
    issueWith({ id: `${index}`, identifier: `T-${index}`, title: `Issue ${index}` }),
  );
  const settings = settingsWith({ agent: { maxConcurrentAgents: FREE_SLOTS }, rest: { polling: { intervalMs: 3_600_000 } } });
  let answered = (): void => {};
  const interpret = (effect: Effect): void => {
    if (effect.do === 'poll') {
      const states = new Map(effect.lookups.map((id) => [id, 'todo']));
      setImmediate(() =>
        loop.report({
          type: 'poll-answered',
          candidates: { ok: true, value: candidates },
          states: { ok: true, value: states },
          preflightProblem: null,
        }),
      );
    }
    if (effect.do === 'announce' && effect.notice.name === 'poll:tick:completed') answered();
  };
  const loop: Loop = createLoop(settings, NOTHING_DURABLE, 'bench', {
    store: { apply: async () => {} },
    clock: createSteadyClock(),
    interpret,
    onStoreFault: () => {},
  });
  const tick = async (): Promise<number> => {
    const done = new Promise<void>((resolve) => (answered = resolve));
    const begin = process.cpuUsage();
    loop.report({ type: 'refresh-requested' });
    await done;
    const { user, system } = process.cpuUsage(begin);
    return user + system;
  };
  const first = new Promise<void>((resolve) => (answered = resolve));
  loop.start();
  await first;
  const rounds = Math.max(5, Math.min(60, 200_000 / Math.max(size, 1)));
  for (let round = 0; round < Math.min(rounds, 20); round += 1) await tick();
  globalThis.gc?.();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await tick());
  delays.disable();
  loop.kill();
  return { tickUs: median(times), stallMs: delays.max / 1e6 };
}
