import type { RunPlan } from '../../domain/model/effect.ts';
import type { Fault } from '../../domain/model/errors.ts';
import type { RunExit } from '../../domain/model/event.ts';
import type { RunListener, Runner } from '../../ports/runner.ts';
import type { RunJob, RunQueue, RunWord, WorkerRow } from '../../ports/run-queue.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { isMoved, located, movedText } from '../on-host.ts';
import { answerRun } from './answer.ts';
import { planForWorker } from './job.ts';

/** What goes with a plan and stays with the leader, but for the template. */
export interface RunParts {
  readonly tracker: Tracker;
  readonly template: RunJob['template'];
}

export interface GivenRun extends RunParts {
  readonly plan: RunPlan;
  readonly hear: RunListener;
  /** Null while it waits for one. */
  worker: WorkerRow | null;
  /** The number of the last batch of words. */
  heard: number;
}

export interface GivenRunsDeps {
  readonly queue: RunQueue;
  readonly logger: Logger;
  /** What marks of workspaces are signed with. */
  readonly markKey: string;
  readonly killed: AbortSignal;
}

/** Carries runs to their workers, and back what the workers say and ask. */
export interface GivenRuns {
  give(run: GivenRun, worker: WorkerRow): Promise<void>;
  /** Takes what the workers said to those who listen. */
  listen(): Promise<void>;
  /** Answers what the workers asked. */
  serve(): Promise<void>;
  /** Ends the runs of workers that are not there any more. */
  endLost(here: ReadonlySet<string>, lostAfterMs: number): Promise<void>;
  readonly stop: Runner['stop'];
}

export function createGivenRuns(runs: Map<string, GivenRun>, { queue, logger, markKey, killed }: GivenRunsDeps): GivenRuns {
  /** From here on the worker can store nothing for it: that comes first. */
  async function end({ plan, hear, worker }: GivenRun, exit: RunExit): Promise<void> {
    if (worker !== null) await queue.revoke(plan.runId);
    if (!runs.delete(plan.runId)) return;
    hear.report({ type: 'run-exited', issueId: plan.issue.id, runId: plan.runId, exit });
  }

  return {
    async give(run, worker) {
      const { plan, template } = run;
      run.worker = worker;
      tellPlace(run, worker.name);
      await queue.give(plan.runId, worker.id, { plan: planForWorker(plan, isMoved(plan, worker.name)), template, markKey });
    },
    async listen() {
      for (const { runId, number, words } of await queue.takeWords()) {
        const run = runs.get(runId);
        if (run === undefined || number <= run.heard) continue;
        run.heard = number;
        for (const word of words) await passOn(run, word, end);
      }
    },
    async serve() {
      for (const { id, runId, request } of await queue.takeRequests()) {
        const run = runs.get(runId);
        if (run === undefined) continue;
        void answerRun(run, request, killed)
          .then((found) => queue.answer(id, found))
          .catch((error: unknown) => logger.warn('a worker was not answered', { run_id: runId, error: String(error) }));
      }
    },
    async endLost(here, lostAfterMs) {
      for (const run of runs.values()) {
        if (run.worker !== null && !here.has(run.worker.id)) await end(run, exitOf(lostFault(run.worker.name, lostAfterMs)));
      }
    },
    stop(runId, reason) {
      const run = runs.get(runId);
      if (run === undefined) return 'unknown';
      if (run.worker === null) void end(run, cancelledExit(reason));
      else
        void queue
          .tellStop(runId, reason)
          .catch((error: unknown) => logger.warn('a worker was not told to stop', { run_id: runId, error: String(error) }));
      return 'told';
    },
  };
}

/** Tells where a run goes, and that its workspace does not come along. */
function tellPlace({ plan, hear }: GivenRun, host: string): void {
  const ids = { issueId: plan.issue.id, runId: plan.runId };
  hear.report({ type: 'workspace-chosen', ...ids, workspacePath: '', host });
  if (!isMoved(plan, host)) return;
  hear.report({ type: 'agent-spoke', ...ids, event: { type: 'notice', text: movedText(plan, host) } });
}

/** One word of a run to those who listen; the last one ends it. */
async function passOn(run: GivenRun, word: RunWord, end: (run: GivenRun, exit: RunExit) => Promise<void>): Promise<void> {
  if ('notice' in word) run.hear.announce(word.notice);
  else if (word.report.type === 'run-exited') await end(run, word.report.exit);
  else run.hear.report(located(word.report, run.worker?.name ?? ''));
}

function lostFault(name: string, afterMs: number): Fault {
  const message = `worker_lost: ${name} was not heard of for ${afterMs / 1_000} s; the run is tried again elsewhere`;
  return { kind: 'worker_lost', message, consequence: 'back-off' };
}

function cancelledExit(reason: string): RunExit {
  const fault: Fault = { kind: 'turn_cancelled', message: `stopped: ${reason}`, consequence: 'back-off' };
  return { ...exitOf(fault), kind: 'cancelled' };
}

function exitOf(fault: Fault): RunExit {
  return { kind: 'error', turns: 0, fault, status: null, scm: null };
}
