import { faultOf } from '../../domain/model/fault.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import { failedExit, type RunExit } from '../../domain/model/event.ts';
import type { RunAdapters, RunListener, Runner } from '../../ports/runner.ts';
import { runAttempt } from './attempt.ts';

export interface LocalRunnerDeps {
  /** The adapters that a plan's settings were made into. */
  readonly adaptersOf: (plan: RunPlan) => RunAdapters;
  /** Aborts even what a stopped run still does to leave things tidy. */
  readonly killed: AbortSignal;
}

/** Runs on this machine, inside this process. */
export function createLocalRunner({ adaptersOf, killed }: LocalRunnerDeps): Runner {
  const running = new Map<string, AbortController>();
  // One listener for all: a signal made of two for each run costs more than the rest of its start.
  killed.addEventListener('abort', () => {
    for (const controller of running.values()) controller.abort(killed.reason);
  });

  async function run(plan: RunPlan, hear: RunListener, signal: AbortSignal): Promise<void> {
    const exit = await attempt(plan, hear, signal).catch((error: unknown) => failedExit(faultOf(error)));
    running.delete(plan.runId);
    hear.report({ type: 'run-exited', issueId: plan.issue.id, runId: plan.runId, exit });
  }

  async function attempt(plan: RunPlan, { report, announce }: RunListener, signal: AbortSignal): Promise<RunExit> {
    return runAttempt(plan, { report, announce, adapters: adaptersOf(plan), killed }, signal);
  }

  return {
    start(plan, hear) {
      const controller = new AbortController();
      if (killed.aborted) controller.abort(killed.reason);
      running.set(plan.runId, controller);
      void run(plan, hear, controller.signal);
    },
    stop(runId, reason) {
      const controller = running.get(runId);
      controller?.abort(new Error(`stopped: ${reason}`));
      return controller ? 'told' : 'unknown';
    },
  };
}
