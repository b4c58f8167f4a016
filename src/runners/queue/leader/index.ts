import type { RunPlan } from '../../../domain/model/effect.ts';
import { WORKER_LOST_MS } from '../../../domain/model/lease-times.ts';
import type { HostView, RunListener, Runner } from '../../../ports/runner.ts';
import type { KnownOfQueue, RunQueue, WorkerRow } from '../../../ports/run-queue.ts';
import type { Clock, Logger } from '../../../ports/runtime.ts';
import { createGivenRuns, type RunParts } from './given-runs.ts';
import { createKnownWorkers, type KnownWorkers } from './known-workers.ts';
import { createRemovals, type Removals } from './removals.ts';
import { createRequestAnswers } from './requests.ts';

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
  /** Hears that a worker came which others could not stand in for: what waited for it need not wait for the next poll. */
  readonly onJoined?: () => void;
}

/** Runs on workers that take them from the queue. They wait here while no worker has a slot for them. */
export interface QueueRunner extends Pick<Runner, 'stop'> {
  start(plan: RunPlan, parts: RunParts, hear: RunListener): void;
  /** Has the worker that holds a workspace remove it. */
  readonly remove: Removals['remove'];
  hosts(): readonly HostView[];
  /** Why no worker could take a run with these labels, or null. */
  problemOf(labels: readonly string[]): string | null;
  /** Whether a run is given to workers. */
  knows(runId: string): boolean;
  close(): Promise<void>;
}

const LOOK_EVERY_MS = 250;
/** Where something was said or asked, more may follow. */
const TALK_MS = 50;
/** What comes together is looked at together. */
const SOON_MS = 20;
const IDLE_MS = 2_000;

export function createQueueRunner(deps: QueueRunnerDeps): QueueRunner {
  const { queue, logger, lostAfterMs = WORKER_LOST_MS } = deps;
  const given = createGivenRuns({
    ...deps,
    lostAfterMs,
    nameOf: (worker) => workers.nameOf(worker),
    whyWaiting: (labels) => workers.whyWaiting(labels),
    heardExit: (...told) => workers.unfit.heardExit(...told),
    refused: (...told) => workers.refused(...told),
  });
  const removals = createRemovals(deps);
  const requests = createRequestAnswers({ ...deps, find: given.find });
  const workers: KnownWorkers = createKnownWorkers({ ...deps, lostAfterMs, runsOf: given.slots.taken });
  let heard: KnownOfQueue['heard'] = [];
  let isOurs = false;
  let isTalking = false;

  async function look(): Promise<void> {
    if (!isOurs) await queue.revokeAll();
    isOurs = true;
    const lookedAt = performance.now();
    const news = await queue.look({ heard, answering: requests.answering() });
    heard = news.batches.map(({ runId, number }) => ({ runId, number }));
    isTalking = news.batches.length + news.requests.length > 0;
    given.hear(news.batches);
    removals.hear(news.batches);
    const here = await workers.meet(news.workers);
    given.endLost(here);
    removals.endLost(here);
    await given.finish();
    await removals.finish();
    requests.serve(news.requests, lookedAt);
    await given.tellStops();
    await given.give(createChoice(workers.choose));
    await removals.give(workers.named);
  }

  const patienceMs = (): number => (isTalking ? TALK_MS : given.count() + removals.count() > 0 ? LOOK_EVERY_MS : IDLE_MS);
  const looking = lookAgainAndAgain(look, patienceMs, logger);
  /** What was changed is looked at soon. */
  const soon = <T>(value: T): T => {
    looking.wake();
    return value;
  };
  return {
    start: (plan, parts, hear) => soon(given.add(plan, parts, hear)),
    remove: (...args) => soon(removals.remove(...args)),
    problemOf: workers.problemOf,
    knows: (runId) => given.find(runId) !== undefined,
    stop: (runId, reason) => soon(given.stop(runId, reason)),
    hosts: workers.hosts,
    async close() {
      await looking.stop();
      await queue.close();
    },
  };
}

/** Looks until it is stopped, after each pause or when it is woken. A look that fails is followed by another. */
function lookAgainAndAgain(look: () => Promise<void>, patienceMs: () => number, logger: Logger) {
  const stopping = new AbortController();
  let wake = new AbortController();
  let isTold = false;
  async function goOn(): Promise<void> {
    while (!stopping.signal.aborted) {
      wake = new AbortController();
      await look().then(
        () => (isTold = false),
        (error: unknown) => {
          if (!isTold) logger.warn('the queue could not be read, trying again', { error: String(error) });
          isTold = true;
        },
      );
      await pause(SOON_MS, stopping.signal);
      await pause(patienceMs(), AbortSignal.any([stopping.signal, wake.signal]));
    }
  }
  const going = goOn();
  return {
    wake: () => wake.abort(),
    stop(): Promise<void> {
      stopping.abort();
      return going;
    },
  };
}

/** Where nobody could take a run with some labels, nobody can take the next one with them. */
function createChoice(choose: (wish: { labels: readonly string[]; holder: string | null }) => WorkerRow | null) {
  const full = new Set<string>();
  return ({ settings, holder }: RunPlan): WorkerRow | null => {
    const labels = settings.agent.runOn ?? [];
    const key = labels.join(',');
    if (full.has(key)) return null;
    const worker = choose({ labels, holder });
    if (worker === null) full.add(key);
    return worker;
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
  });
}
