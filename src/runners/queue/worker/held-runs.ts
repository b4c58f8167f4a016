import type { RunPlan } from '../../../domain/model/effect.ts';
import type { StopReason } from '../../../domain/model/run.ts';
import type { Carrier } from '../../../ports/carrier.ts';
import type { RunAdapters, Runner, ToolCalls } from '../../../ports/runner.ts';
import type { RemovalJob, RunJob, WorkerConnection } from '../../../ports/run-queue.ts';
import type { Logger } from '../../../ports/runtime.ts';
import type { Tracker } from '../../../ports/tracker.ts';
import type { Removal } from '../../../ports/workspace.ts';
import { createLocalRunner } from '../../local/index.ts';
import { createLeaderCarrier } from './leader-carrier.ts';
import { createLeaderTools } from './leader-tools.ts';
import { createLeaderTracker } from './leader-tracker.ts';
import { createAsk, retryWhileAway, type Ask } from './asking.ts';
import { createRunMessages, type MessageFaults, type RunMessages } from './run-messages.ts';
import { toldAnswer } from '../wire-errors.ts';
import { errorText } from '../../../lib/error-text.ts';

/** What the leader does for a run, on request. */
export interface AskedOfLeader {
  readonly tracker: Tracker;
  readonly toolCalls: ToolCalls;
  readonly carrier: Carrier;
}

export interface HeldRunsDeps {
  readonly connection: WorkerConnection;
  readonly logger: Logger;
  /** What a job works with on this machine. */
  readonly adaptersFor: (job: RunJob, asked: AskedOfLeader) => RunAdapters;
  /** Removes a workspace of this machine. */
  readonly remove: (job: RemovalJob, signal: AbortSignal) => Promise<Removal>;
  readonly killed: AbortSignal;
  /** Hears of a run that was given up here and may still be this worker's. */
  readonly onGivenUp: (runId: string, why: string) => void;
}

/** The jobs that a worker works on. */
export interface HeldRuns {
  ids(): Iterable<string>;
  /** Works on a job until it has ended and everything it said is stored, or may not be. Never twice on the same one. */
  work(id: string): Promise<void>;
  /** Those of the jobs of this worker that it never began. */
  notBegun(given: Iterable<string>): readonly string[];
  stop(runId: string, reason: StopReason): void;
  /** The job is another's now, or nobody's: its agent stops and nothing more is written. */
  lose(id: string, why: string): void;
}

export const GIVEN_AWAY = 'it was given to another';

export function createHeldRuns({ connection, logger, adaptersFor, remove, killed, onGivenUp }: HeldRunsDeps): HeldRuns {
  const leases = new Map<string, AbortController>();
  /** Ended here, though they may still be this worker's. */
  const ended = new Set<string>();
  const jobs = new Map<string, RunAdapters>();
  const runner = createLocalRunner({ adaptersOf: ({ runId }) => jobs.get(runId)!, killed });

  function lose(id: string, why: string): void {
    const lease = leases.get(id);
    if (lease === undefined || lease.signal.aborted) return;
    logger.warn('run given up', { run_id: id, reason: why });
    lease.abort(new Error(why));
    runner.abandon(id, why);
  }

  async function work(id: string): Promise<void> {
    if (leases.has(id) || ended.has(id)) return;
    const lease = new AbortController();
    leases.set(id, lease);
    try {
      const job = await retryWhileAway(() => connection.jobOf(id), AbortSignal.any([lease.signal, killed]));
      if (job === null) return;
      const messages = createRunMessages(connection, id, lease.signal, faultsOf(id, { logger, lose, onGivenUp }));
      if ('removal' in job)
        messages.add({ removed: await toldAnswer(() => remove(job, AbortSignal.any([lease.signal, killed]))) });
      else await workOn(job, createAsk(connection, id, lease.signal), messages);
      await messages.finish();
      logger.info('run ended', { run_id: id, told: !lease.signal.aborted });
    } finally {
      leases.delete(id);
      remember(ended, id);
    }
  }

  async function workOn(job: RunJob, ask: Ask, messages: RunMessages): Promise<void> {
    const { runId, issue } = job.plan;
    logger.info('run taken', { run_id: runId, issue_id: issue.id, issue_identifier: issue.identifier });
    try {
      const asked = {
        tracker: createLeaderTracker(ask, job.plan),
        toolCalls: createLeaderTools(ask),
        carrier: createLeaderCarrier(ask),
      };
      jobs.set(runId, adaptersFor(job, asked));
      await runToEnd(runner, job.plan, messages);
    } finally {
      jobs.delete(runId);
    }
  }

  return {
    ids: () => leases.keys(),
    work,
    notBegun: (given) => [...given].filter((id) => !leases.has(id) && !ended.has(id)),
    stop: (runId, reason) => void runner.stop(runId, reason),
    lose,
  };
}

/** What follows when the database does not take what a run says. */
function faultsOf(
  id: string,
  { logger, lose, onGivenUp }: Pick<HeldRuns, 'lose'> & Pick<HeldRunsDeps, 'logger' | 'onGivenUp'>,
): MessageFaults {
  return {
    onLost: () => lose(id, GIVEN_AWAY),
    onRefused: (error) =>
      logger.error('the database refuses what a run says, trying again', { run_id: id, error: errorText(error) }),
    onGivenUp(error) {
      lose(id, errorText(error));
      onGivenUp(id, errorText(error));
    },
  };
}

/** More than any worker has at once, so that the leader has long taken the oldest back. */
const MAX_REMEMBERED = 10_000;

function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MAX_REMEMBERED && oldest !== undefined) ids.delete(oldest);
}

/** Starts a run, passes on what it says, and waits for its exit. */
function runToEnd(runner: Runner, plan: RunPlan, messages: RunMessages): Promise<void> {
  return new Promise((resolve) => {
    runner.start(plan, {
      announce: (notice) => messages.add({ notice }),
      report(report) {
        messages.add({ report });
        if (report.type === 'run-exited') resolve();
      },
    });
  });
}
