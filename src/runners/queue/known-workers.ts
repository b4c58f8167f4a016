import type { HostView } from '../../ports/runner.ts';
import type { RunQueue, WorkerRow } from '../../ports/run-queue.ts';
import type { Logger } from '../../ports/runtime.ts';
import { LOST_AFTER_MS, chooseWorker, isCompatible, mayBeAsked, skewText, type Wish } from './choose.ts';

export interface KnownWorkersDeps {
  readonly queue: RunQueue;
  readonly version: string;
  readonly logger: Logger;
  readonly lostAfterMs: number;
  /** How many runs a worker has. */
  readonly runsOf: (workerId: string) => number;
}

/** The workers of the queue, as they were last seen. */
export interface KnownWorkers {
  /** Takes note of who is there: who may not work here is told so, who is lost is forgotten. Gives the ids of the others. */
  meet(rows: readonly WorkerRow[]): Promise<ReadonlySet<string>>;
  choose(wish: Wish): WorkerRow | null;
  /** The worker of this name, where it can be asked for something. */
  named(name: string): WorkerRow | null;
  problemOf(labels: readonly string[]): string | null;
  hosts(): readonly HostView[];
}

export function createKnownWorkers(deps: KnownWorkersDeps): KnownWorkers {
  const { queue, version, logger, lostAfterMs, runsOf } = deps;
  const told = new Map<string, string | null>();
  let workers: readonly WorkerRow[] = [];

  /** Once for each change of mind. */
  async function tellSkew({ id, name, version: theirs }: WorkerRow): Promise<void> {
    const why = skewOf(theirs, version);
    if (told.get(id) === why) return;
    if (why !== null) logger.warn('worker refused', { worker: name, reason: why });
    await queue.refuse(id, why);
    told.set(id, why);
  }

  async function forget({ id, name, silentMs }: WorkerRow): Promise<void> {
    logger.warn('worker lost', { worker: name, silent_ms: Math.round(silentMs) });
    await queue.forgetWorker(id);
    told.delete(id);
  }

  return {
    async meet(rows) {
      workers = rows;
      for (const worker of workers) {
        await tellSkew(worker);
        if (worker.silentMs > lostAfterMs) await forget(worker);
      }
      return new Set(workers.filter(({ silentMs }) => silentMs <= lostAfterMs).map(({ id }) => id));
    },
    choose: (wish) => chooseWorker(workers, runsOf, wish, version),
    named: (name) => workers.find((worker) => worker.name === name && mayBeAsked(worker, version)) ?? null,
    problemOf: (labels) => problemOf(workers, labels, version),
    hosts: () => workers.map((worker) => hostViewOf(worker, runsOf(worker.id), version, lostAfterMs)),
  };
}

function skewOf(theirs: string, version: string): string | null {
  return isCompatible(theirs, version) ? null : skewText(theirs, version);
}

/** Why none of the workers could take a run with these labels, or null. */
function problemOf(workers: readonly WorkerRow[], labels: readonly string[], version: string): string | null {
  const able = workers.filter((worker) => isCompatible(worker.version, version) && !worker.draining);
  if (able.some((worker) => labels.every((label) => worker.labels.includes(label)))) return null;
  const wanted = labels.length === 0 ? '' : ` with the labels ${labels.join(', ')}`;
  return `no worker${wanted} is there: start one with "foray worker"`;
}

/** A worker as it is shown, and why it gets no runs. */
export function hostViewOf(worker: WorkerRow, running: number, version: string, lostAfterMs = LOST_AFTER_MS): HostView {
  const { name, labels, slots, version: theirs, load, heardAt, silentMs, draining } = worker;
  const silent = silentMs > lostAfterMs ? 'it is not heard of any more' : null;
  const problem = skewOf(theirs, version) ?? silent ?? (draining ? 'it takes no more runs' : null);
  return { name, kind: 'worker', labels, slots, running, load, version: theirs, heardAt, problem };
}
