import { decide, isDrained } from '../domain/decide.ts';
import type { Durable } from '../domain/model/durable.ts';
import type { Decision, Effect } from '../domain/model/effect.ts';
import type { Event } from '../domain/model/event.ts';
import { nextWake } from '../domain/events/on-clock.ts';
import { recover } from '../domain/recover.ts';
import type { Settings } from '../domain/model/settings.ts';
import type { State } from '../domain/model/state.ts';
import type { Clock } from '../ports/runtime.ts';
import type { Store } from '../ports/store.ts';

/** The single writer: one event at a time, decide, store, then do. Nothing slow runs in here. */
export interface Loop {
  state(): State;
  /** Queues an event; never waits. */
  report(event: Event): void;
  /** Begins to work. */
  start(): void;
  /** Resolves when a requested stop has drained, rejects when the store failed for good. */
  readonly done: Promise<void>;
  /** Ends at once, without draining. */
  kill(): void;
}

export interface LoopDeps {
  readonly store: Pick<Store, 'apply'>;
  readonly clock: Clock;
  readonly interpret: (effect: Effect) => void;
  /** Told when storing failed and is tried again. */
  readonly onStoreFault: (fault: unknown, tries: number) => void;
  /** Between two tries of a write; a second unless given. */
  readonly storeRetryMs?: number;
}

/** A store that fails (a full disk) is tried for this long before the daemon gives up and exits for a restart. */
const STORE_TRIES = 30;
const STORE_RETRY_MS = 1_000;
/** Longest stretch of work before other callbacks, such as HTTP answers, get their turn. */
const SLICE_MS = 8;
const MAX_TIMER_MS = 60_000;

export function createLoop(settings: Settings, durable: Durable, instance: string, deps: LoopDeps): Loop {
  const first = recover(settings, durable, instance, deps.clock.now());
  const queue: Event[] = [];
  let finish = (_fault?: unknown): void => {};
  const done = new Promise<void>((resolve, reject) => {
    finish = (fault) => (fault === undefined ? resolve() : reject(fault));
  });
  let current = first.state;
  let pumping = false;
  let ended = true;
  let timer: NodeJS.Timeout | undefined;

  async function pump(opening?: Decision): Promise<void> {
    pumping = true;
    if (opening) await carryOut(opening);
    let sliceStart = performance.now();
    for (let event = queue.shift(); event !== undefined && !ended; event = queue.shift()) {
      await carryOut(decide(current, event, deps.clock.now()));
      if (performance.now() - sliceStart < SLICE_MS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      sliceStart = performance.now();
    }
    pumping = false;
    if (!ended) rest();
  }

  async function carryOut(decision: Decision): Promise<void> {
    if (decision.writes.length > 0) await storeFirst(decision);
    current = decision.state;
    for (const effect of decision.effects) deps.interpret(effect);
  }

  /** What was not stored is not done. */
  async function storeFirst(decision: Decision): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await deps.store.apply(decision.writes);
        return;
      } catch (fault) {
        deps.onStoreFault(fault, tries);
        if (tries >= STORE_TRIES || ended) throw fault;
        await new Promise((resolve) => setTimeout(resolve, deps.storeRetryMs ?? STORE_RETRY_MS));
      }
    }
  }

  /** Nothing to do now: sleep until the next moment something falls due. */
  function rest(): void {
    if (isDrained(current)) {
      end();
      finish();
      return;
    }
    const delay = Math.min(Math.max(nextWake(current) - deps.clock.now(), 1), MAX_TIMER_MS);
    clearTimeout(timer);
    timer = setTimeout(() => report({ type: 'clock' }), delay);
  }

  function report(event: Event): void {
    if (ended) return;
    queue.push(event);
    if (!pumping) run();
  }

  function run(opening?: Decision): void {
    pump(opening).catch((fault: unknown) => {
      end();
      finish(fault);
    });
  }

  function end(): void {
    ended = true;
    clearTimeout(timer);
  }

  return {
    state: () => current,
    report,
    start() {
      ended = false;
      queue.push({ type: 'clock' });
      run(first);
    },
    done,
    kill() {
      end();
      finish();
    },
  };
}
