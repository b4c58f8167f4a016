import { decide, isDrained, isRetired } from '../domain/decide.ts';
import type { Durable, Write } from '../domain/model/durable.ts';
import type { Decision, Effect } from '../domain/model/effect.ts';
import type { Event } from '../domain/model/event.ts';
import { nextWake } from '../domain/events/on-clock.ts';
import { recover, type Elsewhere } from '../domain/recover.ts';
import type { Settings } from '../domain/model/settings.ts';
import type { State } from '../domain/model/state.ts';
import type { SteadyClock } from '../ports/runtime.ts';
import { createStorePace, SLICE_MS, type StorePace } from './store-pace.ts';
import { createStoreWriter, type StoreWriter, type StoreWriterDeps } from './store-writer.ts';

/** The single writer: events in order, decide, store, then do. Nothing slow runs in here. */
export interface Loop {
  state(): State;
  /** Queues an event; never waits. */
  report(event: Event): void;
  /** Begins to work, with these events first. */
  start(...first: readonly Event[]): void;
  /** Resolves when a requested stop has drained, rejects when the store failed for good. */
  readonly done: Promise<void>;
  /** Why the store does not take what is to be stored; null while it does. */
  storeFault(): string | null;
  /** Ends at once, without draining. */
  kill(): void;
}

export interface LoopDeps extends StoreWriterDeps {
  readonly clock: SteadyClock;
  readonly interpret: (effect: Effect) => void;
  /** What may still go on under the leader before; nothing unless given. */
  readonly elsewhere?: Elsewhere;
  /** When the service began, which may have watched another tracker before; now unless given. */
  readonly startedAt?: number;
}

const MAX_TIMER_MS = 60_000;
/** Something that is due and yet changes nothing is looked at again after this, never in a circle. */
const NOTHING_CHANGED_MS = 1_000;
/** A jump of the wall clock smaller than this is drift. */
const JUMP_MS = 1_000;
/** How often the loop notes that its process runs. */
const BEAT_MS = 500;
/** A note that comes this much late: the process was suspended, or had no processor. */
const LATE_MS = 1_000;
/** A stopping daemon waits this long for a store that fails. */
const STOPPING_STORE_MS = 10_000;

/** What the loop works on. */
interface Work {
  current: State;
  readonly queue: Event[];
  readonly writer: StoreWriter;
  readonly deps: LoopDeps;
  readonly pace: StorePace;
  pumping: boolean;
  ended: boolean;
  /** Whether the last clock event changed nothing. */
  idle: boolean;
  /** The moment that was decided for last. */
  decidedAt: number;
  /** The last moment for which all that fell due was looked at. */
  clockedAt: number;
  timer: NodeJS.Timeout | undefined;
  /** When the process was last seen to run. */
  aliveAt: number;
  beat: NodeJS.Timeout | undefined;
  /** How far the clock had been moved when it was last looked at. */
  adoptedMs: number;
}

export function createLoop(settings: Settings, durable: Durable, instance: string, deps: LoopDeps): Loop {
  const recovered = recover(settings, durable, instance, deps.clock.now(), deps.elsewhere);
  const { state } = recovered;
  const first = { ...recovered, state: { ...state, startedAt: deps.startedAt ?? state.startedAt } };
  const work = workFrom(first.state, deps);
  const { writer } = work;
  let finish = (_fault?: unknown): void => {};
  const done = new Promise<void>((resolve, reject) => {
    finish = (fault) => (fault === undefined ? resolve() : reject(fault));
  });

  function end(fault?: unknown): void {
    work.ended = true;
    writer.hurry(0);
    clearTimeout(work.timer);
    clearInterval(work.beat);
    finish(fault);
  }

  function report(event: Event): void {
    if (work.ended) return;
    if (event.type === 'stop-requested') writer.hurry(STOPPING_STORE_MS);
    work.queue.push(event);
    if (work.pumping) return;
    work.pumping = true;
    // What else comes in the same turn goes along.
    setImmediate(run);
  }

  function run(opening?: Decision): void {
    work.pumping = true;
    pump(work, opening)
      .then(() => {
        if (!work.ended) rest(work, report, end);
      })
      .catch(end);
  }

  return {
    state: () => work.current,
    report,
    start(...opening) {
      work.ended = false;
      work.aliveAt = performance.now();
      work.beat = setInterval(() => {
        if (isAway(work)) report({ type: 'clock' });
        else noteAlive(work);
      }, BEAT_MS).unref();
      work.queue.push(...opening, { type: 'clock' });
      run(first);
    },
    done,
    storeFault: writer.fault,
    kill: () => end(),
  };
}

/** Nothing is queued yet, and nothing is until the start. */
function workFrom(current: State, deps: LoopDeps): Work {
  const writer = createStoreWriter(deps);
  return {
    current,
    queue: [],
    writer,
    deps,
    pace: createStorePace(),
    pumping: false,
    ended: true,
    idle: false,
    decidedAt: 0,
    clockedAt: 0,
    timer: undefined,
    aliveAt: 0,
    beat: undefined,
    adoptedMs: deps.clock.adopted(),
  };
}

/** Works off the queue, in slices. */
async function pump(work: Work, opening?: Decision): Promise<void> {
  if (opening) await carryOut(work, opening);
  let sliceStart = performance.now();
  while (work.queue.length > 0 && !work.ended) {
    const restMs = work.pace.restMs();
    if (restMs > 0) {
      await new Promise((resolve) => setTimeout(resolve, restMs));
      sliceStart = performance.now();
      if (work.ended) break;
    }
    const awayMs = noteAlive(work);
    if (awayMs > 0) work.queue.unshift({ type: 'woke-late', byMs: awayMs });
    await followWallClock(work);
    await carryOut(work, decideTogether(work, sliceStart + work.pace.sliceMs()));
    if (performance.now() - sliceStart < SLICE_MS) continue;
    await new Promise((resolve) => setImmediate(resolve));
    sliceStart = performance.now();
  }
  work.pumping = false;
}

/**
 * What has come in meanwhile becomes one unit of work: waiting for the disk once for many events is what a busy daemon
 * gains most by. None of its effects begins before all of it is stored.
 */
function decideTogether(work: Work, until: number): Decision {
  const [writes, effects]: [Write[], Effect[]] = [[], []];
  const before = work.current;
  let state = before;
  let onlyClock = true;
  for (let event = work.queue.shift(); event !== undefined; event = work.queue.shift()) {
    work.decidedAt = work.deps.clock.now();
    const decision = decide(state, event, work.decidedAt);
    state = decision.state;
    for (const write of decision.writes) writes.push(write);
    for (const effect of decision.effects) effects.push(effect);
    if (event.type === 'clock') work.clockedAt = work.decidedAt;
    else onlyClock = false;
    if (performance.now() >= until) break;
  }
  work.idle = onlyClock && state === before;
  return { state, writes, effects };
}

/** Somebody set the clock: what is measured from a moment moves along, so that intervals stay as long as they were. */
async function followWallClock(work: Work): Promise<void> {
  const { clock } = work.deps;
  if (Math.abs(clock.drift()) >= JUMP_MS) clock.adopt();
  const byMs = clock.adopted() - work.adoptedMs;
  if (byMs === 0) return;
  work.adoptedMs += byMs;
  work.clockedAt += byMs;
  await carryOut(work, decide(work.current, { type: 'clock-jumped', byMs }, clock.now()));
}

/** What was not stored is not done. */
async function carryOut(work: Work, decision: Decision): Promise<void> {
  if (decision.writes.length > 0) await work.pace.time(() => work.writer.store(decision.writes));
  work.current = decision.state;
  for (const effect of decision.effects) work.deps.interpret(effect);
}

/** How long the process surely did not run since it was last seen to, or 0. Whatever comes first asks. */
function noteAlive(work: Work): number {
  const awayMs = isAway(work) ? performance.now() - work.aliveAt - BEAT_MS : 0;
  work.aliveAt = performance.now();
  return awayMs;
}

function isAway({ aliveAt }: Work): boolean {
  return performance.now() - aliveAt >= BEAT_MS + LATE_MS;
}

/** Nothing to do now: sleep until the next moment something falls due. */
function rest(work: Work, report: (event: Event) => void, end: () => void): void {
  // Not by the time that it is: what the end of the grace cuts off is told first.
  if (isDrained(work.current, work.clockedAt) || isRetired(work.current)) {
    end();
    return;
  }
  const now = work.deps.clock.now();
  const wake = nextWake(work.current);
  // A timer may ring a moment early: then nothing was due yet, and nothing is wrong.
  const least = work.idle && wake <= work.decidedAt ? NOTHING_CHANGED_MS : 1;
  const delay = Math.min(Math.max(wake - now, least), MAX_TIMER_MS);
  clearTimeout(work.timer);
  work.timer = setTimeout(() => report({ type: 'clock' }), delay);
}
