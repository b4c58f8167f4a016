import type { RunPlan } from '../../domain/model/effect.ts';
import type { HostView, RunListener, Runner } from '../../ports/runner.ts';
import type { RunQueue } from '../../ports/run-queue.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { LOST_AFTER_MS } from './choose.ts';
import { createGivenRuns, type GivenRun, type RunParts } from './given-runs.ts';
import { createKnownWorkers } from './known-workers.ts';

export interface QueueRunnerDeps {
  readonly queue: RunQueue;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What marks of workspaces are signed with. */
  readonly markKey: string;
  readonly killed: AbortSignal;
  /** 30 s unless given. */
  readonly lostAfterMs?: number;
}

/** Runs on workers that take them from the queue. They wait here while no worker has a slot for them. */
export interface QueueRunner extends Pick<Runner, 'stop'> {
  start(plan: RunPlan, parts: RunParts, hear: RunListener): void;
  hosts(): readonly HostView[];
  /** Why no worker could take a run with these labels, or null. */
  problemOf(labels: readonly string[]): string | null;
  /** Whether a run is given to workers. */
  knows(runId: string): boolean;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 250;
const IDLE_MS = 2_000;

export function createQueueRunner(deps: QueueRunnerDeps): QueueRunner {
  const { queue, logger, lostAfterMs = LOST_AFTER_MS } = deps;
  const runs = new Map<string, GivenRun>();
  const runsOf = (workerId: string): number => [...runs.values()].filter(({ worker }) => worker?.id === workerId).length;
  const workers = createKnownWorkers({ ...deps, lostAfterMs, runsOf });
  const given = createGivenRuns(runs, deps);
  const stopping = new AbortController();
  let wake = new AbortController();

  async function look(): Promise<void> {
    await given.listen();
    if (runs.size > 0) await given.serve();
    await given.endLost(await workers.meet(), lostAfterMs);
    for (const run of runs.values()) {
      const { holder, settings } = run.plan;
      const worker = run.worker === null ? workers.choose({ labels: settings.agent.runOn ?? [], holder }) : null;
      if (worker !== null) await given.give(run, worker);
    }
  }

  async function goOn(): Promise<void> {
    await queue.revokeAll();
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) => logger.warn('the queue could not be read, trying again', { error: String(error) }));
      wake = new AbortController();
      await pause(runs.size > 0 ? LOOK_EVERY_MS : IDLE_MS, AbortSignal.any([stopping.signal, wake.signal]));
    }
  }

  const going = goOn().catch((error: unknown) => logger.error('the queue failed', { error: String(error) }));
  return {
    start(plan, parts, hear) {
      runs.set(plan.runId, { ...parts, plan, hear, worker: null, heard: 0 });
      wake.abort();
    },
    problemOf: workers.problemOf,
    knows: (runId) => runs.has(runId),
    stop: given.stop,
    hosts: workers.hosts,
    async close() {
      stopping.abort();
      await going;
      await queue.close();
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
  });
}
