import { faultOf } from '../../domain/model/fault.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import { failedExit, type RunExit } from '../../domain/model/event.ts';
import type { RunAdapters, RunListener, Runner } from '../../ports/runner.ts';
import { createWholeMoves } from '../whole-moves.ts';
import { runAttempt } from './attempt.ts';

export interface LocalRunnerDeps {
  /** The adapters that a plan's settings were made into. */
  readonly adaptersOf: (plan: RunPlan) => RunAdapters;
  /** Aborts even what a stopped run still does to leave things tidy. */
  readonly killed: AbortSignal;
}

export interface LocalRunner extends Runner {
  /** The run is no longer ours: it ends wherever it is. */
  abandon(runId: string, why: string): void;
}

/** What ends a run. */
interface Ends {
  readonly turns: AbortController;
  /** Ends what follows the turns too. */
  readonly finishing: AbortController;
  /** Ends even a move of the issue that was begun. */
  readonly moves: AbortController;
  readonly stopGraceMs: number;
}

/** So long, after `agent.stop_grace_ms`, a service that stops lets a run finish; then there is time left for its last hook. */
const FINISH_MS = 5_000;

/** Runs on this machine, inside this process. */
export function createLocalRunner({ adaptersOf, killed }: LocalRunnerDeps): LocalRunner {
  const running = new Map<string, Ends>();
  /** Those that finish while the service stops. */
  const late = new Map<string, NodeJS.Timeout>();
  // One listener for all: a signal made of two for each run costs more than the rest of its start.
  killed.addEventListener('abort', () => {
    for (const ends of running.values()) endAtOnce(ends, killed.reason);
  });

  async function run(plan: RunPlan, hear: RunListener, ends: Ends): Promise<void> {
    const exit = await attempt(plan, hear, ends).catch((error: unknown) => failedExit(faultOf(error)));
    running.delete(plan.runId);
    clearTimeout(late.get(plan.runId));
    late.delete(plan.runId);
    hear.report({ type: 'run-exited', issueId: plan.issue.id, runId: plan.runId, exit });
  }

  async function attempt(plan: RunPlan, { report, announce }: RunListener, { turns, finishing, moves }: Ends): Promise<RunExit> {
    const adapters = adaptersOf(plan);
    const { tracker, settled } = createWholeMoves(adapters.tracker, moves.signal);
    const deps = { report, announce, adapters: { ...adapters, tracker }, finishing: finishing.signal, killed };
    try {
      return await runAttempt(plan, deps, turns.signal);
    } finally {
      await settled();
    }
  }

  return {
    start(plan, hear) {
      const { stopGraceMs } = plan.settings.agent;
      const [turns, finishing, moves] = [new AbortController(), new AbortController(), new AbortController()];
      const ends = { turns, finishing, moves, stopGraceMs };
      if (killed.aborted) endAtOnce(ends, killed.reason);
      running.set(plan.runId, ends);
      void run(plan, hear, ends);
    },
    stop(runId, reason) {
      const ends = running.get(runId);
      if (!ends) return 'unknown';
      const why = new Error(`stopped: ${reason}`);
      if (reason !== 'shutdown') endAll(ends, why);
      else if (!ends.turns.signal.aborted) {
        // A service that stops waits for a while: what an agent has finished need not be paid for again.
        ends.turns.abort(why);
        late.set(runId, setTimeout(() => endAtOnce(ends, why), ends.stopGraceMs + FINISH_MS).unref());
      }
      return 'told';
    },
    abandon(runId, why) {
      const ends = running.get(runId);
      if (ends) endAtOnce(ends, new Error(why));
    },
  };
}

function endAll({ turns, finishing }: Ends, why: unknown): void {
  turns.abort(why);
  finishing.abort(why);
}

/** Nobody waits for what a move would make of the issue. */
function endAtOnce(ends: Ends, why: unknown): void {
  endAll(ends, why);
  ends.moves.abort(why);
}
