import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { jobLibrary, silentLogger } from './job-pool.ts';
import { hushJobLibrary } from './hush-job-library.ts';

export interface JobTaker {
  readonly pool: Pool;
  readonly task: string;
  /** How many jobs at the same time. */
  readonly atOnce: number;
  readonly work: (id: string) => Promise<void>;
  /** What the server said, in words for an operator. */
  readonly explain: (error: unknown) => Error;
}

const AGAIN_MS = 1_000;
/** A runner whose server is lost may wait for it in vain. */
const STOPS_WITHIN_MS = 25_000;

/**
 * Takes jobs until it is drained. The queue's own runner gives up for good where the server is lost at the wrong moment;
 * another one takes its place then, while what runs goes on.
 */
export async function takeJobs(given: JobTaker): Promise<{ drain(): Promise<void> }> {
  const draining = new AbortController();
  const working = new Set<Promise<void>>();
  let taking: { drain(): Promise<void> };

  /** Known here, whichever runner took it. */
  async function work(id: string): Promise<void> {
    const going = given.work(id);
    working.add(going);
    await going.finally(() => working.delete(going));
  }
  const taker = { ...given, work };

  async function replace(): Promise<void> {
    while (!draining.signal.aborted) {
      await delay(AGAIN_MS, undefined, { signal: draining.signal }).catch(() => {});
      if (draining.signal.aborted) return;
      const next = await startRunner(taker, () => void replace()).catch(() => null);
      if (next === null) continue;
      taking = next;
      if (draining.signal.aborted) await next.drain();
      return;
    }
  }

  try {
    taking = await startRunner(taker, () => void replace());
  } catch (error) {
    throw taker.explain(error);
  }
  return {
    async drain() {
      draining.abort();
      const stopped = taking.drain();
      await Promise.allSettled(working);
      await Promise.race([stopped, delay(STOPS_WITHIN_MS, undefined, { ref: false })]);
      await Promise.allSettled(working);
    },
  };
}

/** Starts the queue's runner. `onEnd` hears once that it takes no more, whatever the cause. */
async function startRunner({ pool, task, atOnce, work }: JobTaker, onEnd: () => void): Promise<{ drain(): Promise<void> }> {
  const { run } = await jobLibrary();
  hushJobLibrary();
  const events = new EventEmitter();
  const runner = await run({
    pgPool: pool,
    concurrency: atOnce,
    noHandleSignals: true,
    pollInterval: 1_000,
    logger: await silentLogger(),
    // Otherwise it looks for a file of the name crontab.
    parsedCronItems: [],
    events,
    // Otherwise a job that cannot be marked as done ends the whole process; so it ends the runner.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
    taskList: { [task]: (payload) => work((payload as { runId: string }).runId) },
  });
  let isOver = false;
  const end = (): void => {
    if (!isOver) onEnd();
    isOver = true;
  };
  const stop = (): Promise<void> => runner.stop().catch(() => {});
  events.once('pool:gracefulShutdown', end);
  events.once('stop', end);
  runner.promise.then(end, end);
  onManyFailures(events, FAILURES * atOnce, () => void stop());
  return {
    async drain() {
      isOver = true;
      await stop();
    },
  };
}

/** Every second each of them looks for a job. */
const FAILURES = 3;

/** A failure of its first look is remembered by the runner for all time: after so many in a row it is of no more use. */
function onManyFailures(events: EventEmitter, most: number, then: () => void): void {
  let failures = 0;
  for (const sound of ['worker:getJob:empty', 'job:start']) events.on(sound, () => (failures = 0));
  events.on('worker:getJob:error', () => {
    failures += 1;
    if (failures === most) then();
  });
}
