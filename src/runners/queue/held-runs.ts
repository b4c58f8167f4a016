import type { RunAdapters, Runner } from '../../ports/runner.ts';
import type { RunJob, WorkerSeat } from '../../ports/run-queue.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { StopReason } from '../../domain/model/run.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { createLocalRunner } from '../local/index.ts';
import { createAskedTracker } from './asked-tracker.ts';
import { createWords, type Words } from './words.ts';

export interface HeldRunsDeps {
  readonly seat: WorkerSeat;
  readonly logger: Logger;
  /** What a job works with on this machine; the tracker is asked of the leader. */
  readonly adaptersFor: (job: RunJob, tracker: Tracker) => RunAdapters;
  readonly killed: AbortSignal;
}

/** The runs that a worker works on. */
export interface HeldRuns {
  ids(): Iterable<string>;
  /** Works on a run until it has ended and everything it said is stored, or may not be. */
  work(runId: string): Promise<void>;
  stop(runId: string, reason: StopReason): void;
  /** The run is another's now, or nobody's: its agent stops and nothing more is written. */
  lose(runId: string, why: string): void;
}

export const GIVEN_AWAY = 'it was given to another';

export function createHeldRuns({ seat, logger, adaptersFor, killed }: HeldRunsDeps): HeldRuns {
  const leases = new Map<string, AbortController>();
  const jobs = new Map<string, RunAdapters>();
  const runner = createLocalRunner({ adaptersOf: ({ runId }) => jobs.get(runId)!, killed });

  function lose(runId: string, why: string): void {
    const lease = leases.get(runId);
    if (lease === undefined || lease.signal.aborted) return;
    logger.warn('run given up', { run_id: runId, reason: why });
    lease.abort(new Error(why));
    runner.stop(runId, 'shutdown');
  }

  async function work(runId: string): Promise<void> {
    const job = await seat.jobOf(runId);
    if (job === null) return;
    const lease = new AbortController();
    leases.set(runId, lease);
    const { issue } = job.plan;
    logger.info('run taken', { run_id: runId, issue_id: issue.id, issue_identifier: issue.identifier });
    const words = createWords(seat, runId, lease.signal, () => lose(runId, GIVEN_AWAY));
    jobs.set(runId, adaptersFor(job, createAskedTracker(seat, job.plan, lease.signal)));
    await runToEnd(runner, job.plan, words);
    await words.finish();
    jobs.delete(runId);
    leases.delete(runId);
    logger.info('run ended', { run_id: runId, issue_identifier: issue.identifier, told: !lease.signal.aborted });
  }

  return { ids: () => leases.keys(), work, stop: (runId, reason) => void runner.stop(runId, reason), lose };
}

/** Starts a run, passes on what it says, and waits for its exit. */
function runToEnd(runner: Runner, plan: RunPlan, words: Words): Promise<void> {
  return new Promise((resolve) => {
    runner.start(plan, {
      announce: (notice) => words.add({ notice }),
      report(report) {
        words.add({ report });
        if (report.type === 'run-exited') resolve();
      },
    });
  });
}
