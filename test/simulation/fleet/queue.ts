import type { RunPlan } from '../../../src/domain/model/effect.ts';
import type { Event, RunExit } from '../../../src/domain/model/event.ts';
import { WORKER_LOST_MS } from '../../../src/domain/model/lease-times.ts';
import type { Database, WordRow } from './database.ts';
import type { Actor, Timeline } from './timeline.ts';
import type { Wire } from './wire.ts';

/** The leader's side of the queue: gives runs to workers, hears what they say, takes back what is lost. */
export interface Queue {
  start(plan: RunPlan): void;
  stop(runId: string, issueId: string): void;
  look(): void;
}

export interface QueueDeps {
  readonly timeline: Timeline;
  readonly database: Database;
  readonly wire: Wire;
  readonly daemon: Actor;
  readonly epoch: number;
  readonly report: (event: Event) => void;
  /** Another one leads. */
  readonly lose: () => void;
}

interface Given {
  readonly plan: RunPlan;
  worker: string | null;
  givenAt: number;
  heard: number;
  isEnding: boolean;
}

const LOOK_MS = 500;
const SLOTS = 2;

export function createQueue(deps: QueueDeps): Queue {
  const { timeline, database, wire, daemon, epoch, report, lose } = deps;
  const runs = new Map<string, Given>();
  let heard: readonly WordRow[] = [];

  /** Asks under the epoch, until it is heard. */
  function under(atServer: () => boolean, then: () => void): void {
    wire.askUntilHeard(daemon, atServer, (isDone) => (isDone ? then() : lose()));
  }

  /** Its worker can store nothing for it from here on: that comes first. */
  function end(run: Given, exit: RunExit): void {
    if (run.isEnding) return;
    run.isEnding = true;
    const { runId, issue } = run.plan;
    under(
      () => database.revoke(epoch, runId),
      () => {
        runs.delete(runId);
        report({ type: 'run-exited', issueId: issue.id, runId, exit });
      },
    );
  }

  function hear(rows: readonly WordRow[]): void {
    heard = rows;
    for (const { runId, number, event } of rows.toSorted((a, b) => a.number - b.number)) {
      const run = runs.get(runId);
      if (run === undefined || run.isEnding || number <= run.heard) continue;
      run.heard = number;
      if (event.type === 'run-exited') end(run, event.exit);
      else report(event);
    }
  }

  function endLost(workers: ReadonlyMap<string, number>): void {
    const now = timeline.now();
    for (const run of runs.values()) {
      if (run.worker === null) continue;
      const seen = workers.get(run.worker);
      const isSilent = seen === undefined || now - seen > WORKER_LOST_MS;
      const hasNotBegun = run.heard === 0 && now - run.givenAt > 2 * WORKER_LOST_MS;
      if (isSilent || hasNotBegun) end(run, exitOf('worker_lost'));
    }
    for (const [worker, seen] of workers)
      if (now - seen > WORKER_LOST_MS)
        under(
          () => database.forgetWorker(epoch, worker),
          () => {},
        );
  }

  function give(workers: ReadonlyMap<string, number>): void {
    for (const run of runs.values()) {
      if (run.worker !== null || run.isEnding) continue;
      const free = [...workers].find(([id, seen]) => timeline.now() - seen < 5_000 && runsOf(id) < SLOTS);
      if (free === undefined) return;
      const [worker] = free;
      Object.assign(run, { worker, givenAt: timeline.now() });
      under(
        () => database.give(epoch, run.plan, worker),
        () => {},
      );
    }
  }

  function runsOf(worker: string): number {
    return [...runs.values()].filter((run) => run.worker === worker).length;
  }

  function look(): void {
    wire.ask(
      daemon,
      () => ({ words: database.words(epoch, heard), workers: database.workers() }),
      (answer) => {
        timeline.after(LOOK_MS, daemon, look);
        if (!answer.ok) return;
        const { words, workers } = answer.value;
        if (words === null) return lose();
        hear(words);
        endLost(workers);
        give(workers);
      },
    );
  }

  return {
    look,
    start: (plan) => void runs.set(plan.runId, { plan, worker: null, givenAt: 0, heard: 0, isEnding: false }),
    stop(runId, issueId) {
      const run = runs.get(runId);
      if (run === undefined) return report({ type: 'run-exited', issueId, runId, exit: exitOf('internal_error') });
      if (run.worker === null) return end(run, { ...exitOf('turn_cancelled'), kind: 'cancelled' });
      under(
        () => database.tellStop(epoch, runId),
        () => {},
      );
    },
  };
}

function exitOf(kind: 'worker_lost' | 'internal_error' | 'turn_cancelled'): RunExit {
  return { kind: 'error', turns: 0, fault: { kind, message: kind, consequence: 'back-off' }, status: null, scm: null };
}
