import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Effect, EffectNamed } from '../../src/domain/model/effect.ts';
import { createSteadyClock } from '../../src/lib/steady-clock.ts';
import { createOrdering } from '../../src/orchestrator/in-order.ts';
import { createLoop, type Loop } from '../../src/orchestrator/loop.ts';
import { NOTHING_DURABLE } from '../../src/ports/store.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { issueWith } from '../../test/support/issues.ts';
import { alike, atMost, type Row } from '../table.ts';

const SIZES = [100, 1_000, 10_000, 100_000];
const FREE_SLOTS = 10;
/** The running ones, and as many that wait: what a tick over them costs is no cost of one candidate more. */
const FEW = 2 * FREE_SLOTS;

/**
 * Candidates that are looked at for one figure, at every size alike: 100,000 in one service, or 100 in each of 1,000. So
 * as much memory is read for each figure. A short list that is walked over and over would stay in the caches of the
 * processor, as none does in a service that polls every few seconds.
 */
const LOOKED_AT = 100_000;
/** All sizes in turns: what else the machine does then falls on all of them alike. */
const TURNS = 24;

/** One tick of the loop over many candidates: what it costs each, and how long it keeps others waiting. */
export async function tickRows(): Promise<Row[]> {
  const fleets = [startFleet(FEW, LOOKED_AT / Math.min(...SIZES)), ...SIZES.map((size) => startFleet(size, LOOKED_AT / size))];
  for (const fleet of fleets) await repeat(WARM_TICKS, fleet.tick);
  globalThis.gc?.();
  await repeat(SETTLING_TICKS, () => inTurn(fleets));
  const turns = await repeat(TURNS, () => inTurn(fleets));
  for (const fleet of fleets) fleet.end();
  const costs = new Map(
    SIZES.map((size, at) => [size, steadyMean(turns.map(([few = 0, ...ticks]) => ((ticks[at] ?? 0) - few) / (size - FEW)))]),
  );
  return [...alike(`one tick, mean cost per candidate (middle half of ${TURNS})`, 'µs', costs, 1.3), ...(await stallRows())];
}

/** Services with so many candidates each. */
function startFleet(size: number, count: number) {
  const services = Array.from({ length: count }, () => startService(size));
  return {
    /** Processor time of a tick in the mean, from the poll to its end, garbage collection included. */
    async tick(): Promise<number> {
      let sum = 0;
      for (const service of services) sum += await service.tick();
      await Promise.all(services.map((service) => service.asked()));
      return sum / services.length;
    },
    end(): void {
      for (const service of services) service.end();
    },
  };
}

/** The mean of each fleet. */
async function inTurn(fleets: readonly ReturnType<typeof startFleet>[]): Promise<readonly number[]> {
  const means: number[] = [];
  for (const fleet of fleets) means.push(await fleet.tick());
  return means;
}

/** Taken apart from the costs: the monitor works as well. */
async function stallRows(): Promise<Row[]> {
  const service = startService(Math.max(...SIZES));
  const first = await longestStallMs(1, service.tick);
  await repeat(WARM_TICKS, service.tick);
  globalThis.gc?.();
  const later = await longestStallMs(WATCHED_TICKS, service.tick);
  service.end();
  const row = 'longest stall of the event loop';
  return [
    atMost(`${row} in the first tick over 100,000 candidates`, 'ms', first, 50),
    atMost(`${row} in a later tick over 100,000 candidates`, 'ms', later, 50),
  ];
}

async function longestStallMs(ticks: number, tick: () => Promise<unknown>): Promise<number> {
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  await repeat(ticks, tick);
  delays.disable();
  return delays.max / 1e6;
}

/** The first ticks note every hold anew and run code that is not compiled yet; the later ones find all as it was. */
const WARM_TICKS = 5;
/** After a collection that was asked for, the collector goes on sweeping beside the next ticks: no cost of theirs. */
const SETTLING_TICKS = 2;
const WATCHED_TICKS = 12;

/** Of the middle half: a turn in which the machine did much else, or nothing, says little. */
function steadyMean(values: readonly number[]): number {
  const quarter = Math.floor(values.length / 4);
  const middle = values.toSorted((a, b) => a - b).slice(quarter, values.length - quarter);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** One after the other. */
async function repeat<T>(times: number, work: () => Promise<T>): Promise<readonly T[]> {
  const results: T[] = [];
  while (results.length < times) results.push(await work());
  return results;
}

/** As trackers list them: the oldest first. */
function createdAt(index: number): string {
  return new Date(1_700_000_000_000 + index * 60_000).toISOString();
}

/** The real loop over a tracker that answers with the same candidates, at once when a tick is wanted. */
function startService(size: number) {
  const candidates = Array.from({ length: size }, (_, index) =>
    issueWith({ id: `${index}`, identifier: `T-${index}`, title: `Issue ${index}`, createdAt: createdAt(index) }),
  );
  const settings = settingsWith({ agent: { maxConcurrentAgents: FREE_SLOTS }, rest: { polling: { intervalMs: 1 } } });
  const inOrder = createOrdering();
  let poll: EffectNamed<'poll'> | null = null;
  let wanted: ((us: number) => void) | null = null;
  let asks = (): void => {};
  let begun = process.cpuUsage();
  const answerIfWanted = (): void => {
    if (poll === null || wanted === null) return;
    begun = process.cpuUsage();
    const states = { ok: true, value: new Map(poll.lookups.map((id) => [id, 'todo'])) } as const;
    poll = null;
    void inOrder(candidates).then((value) =>
      loop.report({ type: 'poll-answered', candidates: { ok: true, value }, states, preflightProblem: null }),
    );
  };
  const interpret = (effect: Effect): void => {
    if (effect.do === 'poll') {
      poll = effect;
      asks();
      answerIfWanted();
    }
    if (effect.do === 'go-on') setImmediate(() => loop.report({ type: 'went-on' }));
    if (effect.do !== 'announce' || effect.notice.name !== 'poll:tick:completed') return;
    const { user, system } = process.cpuUsage(begun);
    wanted?.(user + system);
    wanted = null;
  };
  const loop: Loop = createLoop(settings, NOTHING_DURABLE, 'bench', {
    store: { apply: async () => {} },
    clock: createSteadyClock(),
    interpret,
    onStoreFault: () => {},
  });
  loop.start();
  return {
    /** What the next tick costs, in microseconds. */
    tick: () =>
      new Promise<number>((resolve) => {
        wanted = resolve;
        answerIfWanted();
      }),
    /** When it has asked for the next poll. */
    asked: () => new Promise<void>((resolve) => (poll === null ? (asks = resolve) : resolve())),
    end: () => loop.kill(),
  };
}
