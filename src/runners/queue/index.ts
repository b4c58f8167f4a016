import type { RunPlan } from '../../domain/model/effect.ts';
import { faultOf, type Fault } from '../../domain/model/errors.ts';
import type { RunExit } from '../../domain/model/event.ts';
import { NO_SETTINGS } from '../../domain/model/no-settings.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { HostView, RunListener, Runner } from '../../ports/runner.ts';
import type { RunAnswer, RunJob, RunQueue, RunRequest, WorkerRow } from '../../ports/run-queue.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { isMoved, located, movedText } from '../on-host.ts';
import { chooseWorker, isCompatible, LOST_AFTER_MS, skewText } from './choose.ts';

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

/** What goes with a plan and stays with the leader, but for the template. */
export interface RunParts {
  readonly tracker: Tracker;
  readonly template: RunJob['template'];
}

interface Given extends RunParts {
  readonly plan: RunPlan;
  readonly hear: RunListener;
  worker: WorkerRow | null;
  heard: number;
}

const LOOK_EVERY_MS = 250;
const IDLE_MS = 2_000;

export function createQueueRunner(deps: QueueRunnerDeps): QueueRunner {
  const { queue, version, logger, lostAfterMs = LOST_AFTER_MS } = deps;
  const runs = new Map<string, Given>();
  let workers: readonly WorkerRow[] = [];
  const told = new Map<string, string | null>();
  const stopping = new AbortController();
  let wake = new AbortController();
  const runsOf = (workerId: string): number => [...runs.values()].filter(({ worker }) => worker?.id === workerId).length;

  async function give(run: Given): Promise<void> {
    const { plan } = run;
    const wish = { labels: plan.settings.agent.runOn ?? [], holder: plan.holder };
    const worker = chooseWorker(workers, runsOf, wish, version);
    if (worker === null) return;
    run.worker = worker;
    const ids = { issueId: plan.issue.id, runId: plan.runId };
    const moves = isMoved(plan, worker.name);
    run.hear.report({ type: 'workspace-chosen', ...ids, workspacePath: '', host: worker.name });
    if (moves) run.hear.report({ type: 'agent-spoke', ...ids, event: { type: 'notice', text: movedText(plan, worker.name) } });
    const sent = { ...plan, settings: settingsForWorker(plan.settings), ...(moves ? { resumeSessionId: null } : {}) };
    await queue.give(plan.runId, worker.id, { plan: sent, template: run.template, markKey: deps.markKey });
  }

  /** From here on the worker can store nothing for it: that comes first. */
  async function end(run: Given, exit: RunExit): Promise<void> {
    const { plan, hear, worker } = run;
    if (worker !== null) await queue.revoke(plan.runId);
    if (!runs.delete(plan.runId)) return;
    hear.report({ type: 'run-exited', issueId: plan.issue.id, runId: plan.runId, exit });
  }

  async function listen(): Promise<void> {
    for (const { runId, number, words } of await queue.takeWords()) {
      const run = runs.get(runId);
      if (run === undefined || number <= run.heard) continue;
      run.heard = number;
      for (const word of words) {
        if ('notice' in word) run.hear.announce(word.notice);
        else if (word.report.type === 'run-exited') await end(run, word.report.exit);
        else run.hear.report(located(word.report, run.worker?.name ?? ''));
      }
    }
  }

  async function serve(): Promise<void> {
    for (const { id, runId, request } of await queue.takeRequests()) {
      const run = runs.get(runId);
      if (run === undefined) continue;
      void answer(run, request, deps.killed)
        .then((found) => queue.answer(id, found))
        .catch((error: unknown) => logger.warn('a worker was not answered', { run_id: runId, error: String(error) }));
    }
  }

  async function meet(): Promise<void> {
    workers = await queue.workers();
    for (const { id, name, version: theirs, silentMs } of workers) {
      const why = isCompatible(theirs, version) ? null : skewText(theirs, version);
      if (told.get(id) !== why) {
        if (why !== null) logger.warn('worker refused', { worker: name, reason: why });
        await queue.refuse(id, why);
        told.set(id, why);
      }
      if (silentMs <= lostAfterMs) continue;
      logger.warn('worker lost', { worker: name, silent_ms: Math.round(silentMs) });
      await queue.forgetWorker(id);
      told.delete(id);
    }
    const here = new Set(workers.filter(({ silentMs }) => silentMs <= lostAfterMs).map(({ id }) => id));
    for (const run of runs.values()) {
      if (run.worker !== null && !here.has(run.worker.id)) await end(run, exitOf(lostFault(run.worker.name, lostAfterMs)));
    }
  }

  async function look(): Promise<void> {
    await listen();
    if (runs.size > 0) await serve();
    await meet();
    for (const run of runs.values()) if (run.worker === null) await give(run);
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
    problemOf(labels) {
      const able = workers.filter((worker) => isCompatible(worker.version, version) && !worker.draining);
      if (able.some((worker) => labels.every((label) => worker.labels.includes(label)))) return null;
      const wanted = labels.length === 0 ? '' : ` with the labels ${labels.join(', ')}`;
      return `no worker${wanted} is there: start one with "foray worker"`;
    },
    knows: (runId) => runs.has(runId),
    stop(runId, reason) {
      const run = runs.get(runId);
      if (run === undefined) return 'unknown';
      const cancelled = {
        ...exitOf({ kind: 'turn_cancelled', message: `stopped: ${reason}`, consequence: 'back-off' }),
        kind: 'cancelled',
      } as const;
      if (run.worker === null) void end(run, cancelled);
      else
        void queue
          .tellStop(runId, reason)
          .catch((error: unknown) => logger.warn('a worker was not told to stop', { run_id: runId, error: String(error) }));
      return 'told';
    },
    hosts: () =>
      workers.map(({ id, name, labels, slots, version: theirs, load, heardAt, silentMs, draining }) => {
        const silent = silentMs > lostAfterMs ? 'it is not heard of any more' : null;
        const skew = isCompatible(theirs, version) ? null : skewText(theirs, version);
        const problem = skew ?? silent ?? (draining ? 'it takes no more runs' : null);
        return { name, kind: 'worker', labels, slots, running: runsOf(id), load, version: theirs, heardAt, problem };
      }),
    async close() {
      stopping.abort();
      await going;
      await queue.close();
    },
  };
}

/** The same rules as for a run on this machine: its own issue and nothing else. */
async function answer({ plan, tracker }: Given, request: RunRequest, signal: AbortSignal): Promise<RunAnswer> {
  const { id } = plan.issue;
  try {
    switch (request.ask) {
      case 'issue':
        return { ok: true, value: await tracker.fetchIssueById(id, signal) };
      case 'state':
        return { ok: true, value: (await tracker.fetchIssueStatesByIds([id], signal)).get(id) ?? null };
      case 'move':
        if (request.state !== plan.settings.tracker.inProgressState) return { ok: false, fault: notAllowed(request.state) };
        await tracker.transitionIssue(id, request.state, signal);
        return { ok: true, value: null };
    }
  } catch (error) {
    return { ok: false, fault: faultOf(error) };
  }
}

function notAllowed(state: string): Fault {
  const message = `a run may move its issue to tracker.in_progress_state alone, not to ${state}`;
  return { kind: 'tracker_payload_error', message, consequence: 'back-off-at-cap' };
}

/** What a worker is told: what a run works with, and no credential of tracker, forge, server or repository. */
function settingsForWorker({ tracker, agent, agentOptions, hooks, selfReview, workspace }: Settings): Settings {
  const { kind, identity, activeStates, terminalStates, handoffState, inProgressState } = tracker;
  return {
    ...NO_SETTINGS,
    tracker: { ...NO_SETTINGS.tracker, kind, identity, activeStates, terminalStates, handoffState, inProgressState },
    workspace: { ...NO_SETTINGS.workspace, removedDays: workspace.removedDays },
    agent,
    agentOptions,
    hooks,
    selfReview,
  };
}

function lostFault(name: string, afterMs: number): Fault {
  const message = `worker_lost: ${name} was not heard of for ${afterMs / 1_000} s; the run is tried again elsewhere`;
  return { kind: 'worker_lost', message, consequence: 'back-off' };
}

function exitOf(fault: Fault): RunExit {
  return { kind: 'error', turns: 0, fault, status: null, scm: null };
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
