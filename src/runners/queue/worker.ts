import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { TrackerError, type Fault, type TrackerErrorKind } from '../../domain/model/errors.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { Issue } from '../../domain/model/issue.ts';
import type { RunAdapters } from '../../ports/runner.ts';
import type { RunJob, RunRequest, RunWord, WorkerSeat } from '../../ports/run-queue.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { createLocalRunner } from '../local/index.ts';

export interface WorkerDeps {
  readonly seat: WorkerSeat;
  readonly logger: Logger;
  /** What a job works with on this machine; the tracker is asked of the leader. */
  readonly adaptersFor: (job: RunJob, tracker: Tracker) => RunAdapters;
  readonly loadNow: () => number;
}

export interface RunningWorker {
  /** Takes nothing new and lets what runs end. */
  drain(): void;
  /** Ends what runs at once, telling nobody. */
  kill(): void;
  readonly done: Promise<void>;
}

const BEAT_MS = 2_000;
/** Without an answer of the database for this long the leader gives our runs to others: they are ended before that. */
const CUT_OFF_MS = 25_000;
const SAY_EVERY_MS = 200;
const ANSWER_EVERY_MS = 150;

/** Takes runs from the queue and works on them here. */
export async function startWorker({ seat, logger, adaptersFor, loadNow }: WorkerDeps): Promise<RunningWorker> {
  const killed = new AbortController();
  const over = new AbortController();
  const leases = new Map<string, AbortController>();
  const jobs = new Map<string, RunAdapters>();
  const runner = createLocalRunner({ adaptersOf: ({ runId }) => jobs.get(runId)!, killed: killed.signal });
  let draining = false;
  let heardAt = performance.now();
  let refused: string | null = null;

  /** The run is another's now, or nobody's: its agent stops and nothing more is written. */
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
    const words = createWords(seat, runId, lease.signal, () => lose(runId, 'it was given to another'));
    jobs.set(runId, adaptersFor(job, createAskedTracker(seat, job.plan, lease.signal)));
    await new Promise<void>((resolve) => {
      runner.start(job.plan, {
        announce: (notice) => words.add({ notice }),
        report(report) {
          words.add({ report });
          if (report.type === 'run-exited') resolve();
        },
      });
    });
    await words.finish();
    jobs.delete(runId);
    leases.delete(runId);
    logger.info('run ended', { run_id: runId, issue_identifier: issue.identifier, told: !lease.signal.aborted });
  }

  async function beat(): Promise<void> {
    const begun = performance.now();
    const news = await seat.beat({ load: loadNow(), draining });
    heardAt = begun;
    if (news.refused !== refused && news.refused !== null) logger.error('this worker gets no runs', { reason: news.refused });
    refused = news.refused;
    for (const runId of leases.keys()) {
      const stop = news.runs.get(runId);
      if (stop === undefined) lose(runId, 'it was given to another');
      else if (stop !== null) runner.stop(runId, stop);
    }
  }

  async function beatOn(): Promise<void> {
    while (!over.signal.aborted) {
      await beat().catch((error: unknown) => logger.warn('the database does not answer', { error: String(error) }));
      if (performance.now() - heardAt > CUT_OFF_MS) {
        for (const runId of leases.keys()) lose(runId, 'the database was not reached for too long');
      }
      await delay(BEAT_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  }

  await beat();
  const beating = beatOn();
  const taking = await seat.takeRuns((runId) =>
    work(runId).catch((error: unknown) => logger.error('a run could not be worked on', { run_id: runId, error: String(error) })),
  );
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => (finish = resolve)).then(async () => {
    over.abort();
    await beating;
    await seat.leave().catch(() => {});
    await seat.close();
  });
  return {
    done,
    drain() {
      draining = true;
      void beat().catch(() => {});
      void taking.drain().then(finish);
    },
    kill() {
      killed.abort(new Error('the worker was told to stop at once'));
      finish();
    },
  };
}

interface Words {
  add(word: RunWord): void;
  /** Everything said was stored, or may not be. */
  finish(): Promise<void>;
}

/** What a run says goes out in batches, one after the other, and again until the database has it. */
function createWords(seat: WorkerSeat, runId: string, lost: AbortSignal, onLost: () => void): Words {
  let waiting: RunWord[] = [];
  let number = 0;
  let sending: Promise<void> | null = null;

  async function send(): Promise<void> {
    while (waiting.length > 0 && !lost.aborted) {
      const batch = waiting;
      waiting = [];
      number += 1;
      await sendBatch(batch);
      await delay(SAY_EVERY_MS, undefined, { signal: lost }).catch(() => {});
    }
    sending = null;
  }

  async function sendBatch(batch: readonly RunWord[]): Promise<void> {
    while (!lost.aborted) {
      try {
        if (!(await seat.say(runId, number, batch))) onLost();
        return;
      } catch {
        await delay(SAY_EVERY_MS * 5, undefined, { signal: lost }).catch(() => {});
      }
    }
  }

  return {
    add(word) {
      if (lost.aborted) return;
      waiting.push(word);
      sending ??= send();
    },
    async finish() {
      while (sending !== null) await sending;
    },
  };
}

/** The tracker of a run as far as a run needs one: its own issue, asked of the leader. */
function createAskedTracker(seat: WorkerSeat, plan: RunPlan, lost: AbortSignal): Tracker {
  const ask = async (request: RunRequest, signal: AbortSignal): Promise<unknown> => {
    const id = randomUUID();
    const either = AbortSignal.any([signal, lost]);
    if ((await seat.ask(plan.runId, id, request)) === null) throw new Error('the run is no longer this worker’s');
    for (;;) {
      either.throwIfAborted();
      const answer = await seat.answerTo(id);
      if (answer?.ok === true) return answer.value;
      if (answer !== null) throw trackerError(answer.fault, request.ask);
      await delay(ANSWER_EVERY_MS, undefined, { signal: either });
    }
  };
  const absent = (): Promise<never> => Promise.reject(new Error('a worker asks for nothing but its own issue'));
  return {
    kind: plan.settings.tracker.kind,
    fetchIssueById: async (_id, signal) => (await ask({ ask: 'issue' }, signal)) as Issue,
    async fetchIssueStatesByIds(ids, signal) {
      const state = (await ask({ ask: 'state' }, signal)) as string | null;
      return new Map(state === null ? [] : ids.map((id) => [id, state]));
    },
    transitionIssue: async (_id, state, signal) => void (await ask({ ask: 'move', state }, signal)),
    fetchCandidateIssues: absent,
    fetchIssuesByStates: absent,
    fetchIssueStatesByIdentifiers: absent,
    fetchIssueComments: absent,
    commentIssue: absent,
  };
}

function trackerError(fault: Fault, method: string): Error {
  const found = /^tracker: (\w+): (\S+) (\S+): (.*)$/s.exec(fault.message);
  if (found === null) return new Error(fault.message);
  return new TrackerError({
    kind: found[1] as TrackerErrorKind,
    method: found[2] ?? method,
    path: found[3] ?? '',
    detail: found[4] ?? fault.message,
    retryable: fault.consequence === 'back-off',
    ...(fault.retryAfterMs === undefined ? {} : { retryAfterMs: fault.retryAfterMs }),
  });
}
