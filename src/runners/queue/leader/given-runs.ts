import type { RunPlan } from '../../../domain/model/effect.ts';
import { heardFault, type Fault } from '../../../domain/model/fault.ts';
import { failedExit, type RunExit } from '../../../domain/model/event.ts';
import type { StopReason } from '../../../domain/model/run.ts';
import type { RunListener, Runner } from '../../../ports/runner.ts';
import type { RunJob, RunQueue, RunMessage, MessageBatch, WorkerRow } from '../../../ports/run-queue.ts';
import type { Clock } from '../../../ports/runtime.ts';
import { located } from '../../on-host.ts';
import type { UnfitHosts } from '../../unfit-hosts.ts';
import type { AnsweredParts } from './answer.ts';
import { handOver } from './hand-over.ts';
import { createSlots, type Slots } from './slots.ts';

/** What goes with a plan and stays with the leader, but for the template. */
export interface RunParts extends AnsweredParts {
  /** Whether its issue is being moved for it. */
  readonly isMoving: () => boolean;
  readonly template: RunJob['template'];
  readonly repository: RunJob['repository'];
  /** Why it may not be given to anybody now, in words; null where it may. */
  readonly heldBack: () => string | null;
}

export interface GivenRun extends RunParts {
  readonly plan: RunPlan;
  readonly hear: RunListener;
  /** Aborted when it has ended: nothing is done for it any more. */
  readonly over: AbortController;
  /** The requests that were answered, with the moment when that was stored, or null while they are being answered. */
  readonly served: Map<string, number | null>;
  /** Null while it waits for one. */
  worker: WorkerRow | null;
  /** What it was last said to wait for. */
  waitTold: string | null;
  /** By the clock of this process; null while it waits. */
  givenAt: number | null;
  /** The number of the last batch of messages. */
  heard: number;
  /** Why it is to stop, and whether its worker knows. */
  stop: StopReason | null;
  stopTold: boolean;
  /** How it ended. It is told when nobody can write for it any more. */
  exit: RunExit | null;
}

export interface GivenRunsDeps {
  readonly queue: RunQueue;
  readonly clock: Clock;
  /** What marks of workspaces are signed with. */
  readonly markKey: string;
  readonly lostAfterMs: number;
  /** What a worker is called where others may have its name. */
  readonly nameOf: (worker: WorkerRow) => string;
  /** What a run with these labels waits for while nobody takes it. */
  readonly whyWaiting: (labels: readonly string[]) => string;
  /** Hears how the runs of a worker end, by its id. */
  readonly heardExit: UnfitHosts['heardExit'];
  /** Hears that the database does not take a run for a worker. */
  readonly refused: (worker: WorkerRow, plan: RunPlan, why: string) => void;
}

/** Who takes a run now; null for nobody yet. */
export type Choose = (run: RunPlan) => WorkerRow | null;

/**
 * Carries runs to their workers, and back what the workers say. Whatever the database did not take is tried again at the
 * next look: a run has exactly one exit, and its worker can store nothing when that is told.
 */
export interface GivenRuns {
  readonly slots: Slots;
  add(plan: RunPlan, parts: RunParts, hear: RunListener): void;
  find(runId: string): GivenRun | undefined;
  count(): number;
  /** Takes what the workers said to those who listen. */
  hear(batches: readonly MessageBatch[]): void;
  /** Ends the runs of workers that are not there any more, or never began. */
  endLost(here: ReadonlySet<string>): void;
  /** Takes every run that is over from its worker, then tells its end. */
  finish(): Promise<void>;
  tellStops(): Promise<void>;
  /** Gives what waits to those who can take it. */
  give(choose: Choose): Promise<void>;
  readonly stop: Runner['stop'];
}

export function createGivenRuns(deps: GivenRunsDeps): GivenRuns {
  const { queue, lostAfterMs, nameOf } = deps;
  const runs = new Map<string, GivenRun>();
  const slots = createSlots();

  function place(run: GivenRun, worker: WorkerRow | null): void {
    if (run.worker !== null) slots.free(run.worker.id);
    if (worker !== null) slots.take(worker.id);
    run.worker = worker;
    run.givenAt = worker === null ? null : performance.now();
  }

  /** It waits again, or ends where it was to stop meanwhile. */
  function takeBack(run: GivenRun): void {
    place(run, null);
    if (run.stop !== null) run.exit ??= cancelledExit(run.stop);
  }

  function refused(run: GivenRun, why: string): void {
    tellWait(run, `waits in the queue: it cannot be given to ${nameOf(run.worker!)} (${why})`);
    deps.refused(run.worker!, run.plan, why);
  }

  function choose(chooseFor: Choose): GivenRun[] {
    return [...runs.values()].filter((run) => {
      if (run.worker !== null || run.exit !== null) return false;
      const held = run.heldBack();
      const worker = held === null ? chooseFor(run.plan) : null;
      if (worker !== null) place(run, worker);
      else tellWait(run, held ?? deps.whyWaiting(run.plan.settings.agent.runOn ?? []));
      return worker !== null;
    });
  }

  return {
    slots,
    add: (plan, parts, hear) => void runs.set(plan.runId, { ...parts, plan, hear, ...justQueued() }),
    find: (runId) => runs.get(runId),
    count: () => runs.size,
    hear: (batches) => batches.forEach((batch) => passOnAll(runs.get(batch.runId), batch, nameOf)),
    endLost: (here) => runs.forEach((run) => endIfLost(run, here, { lostAfterMs, nameOf })),
    async finish() {
      const ended = [...runs.values()].filter(({ exit }) => exit !== null);
      for (const run of ended) run.over.abort(new Error('the run is over'));
      // Who hears of the end reads the issue, unless the service stops: a move that was begun comes first.
      const over = ended.filter(({ isMoving, stop }) => stop === 'shutdown' || !isMoving());
      const given = over.filter(({ worker }) => worker !== null);
      if (given.length > 0) await queue.revoke(given.map(({ plan }) => plan.runId));
      for (const run of over) {
        if (run.worker !== null && run.exit !== null) deps.heardExit(run.worker.id, run.plan, run.exit);
        place(run, null);
        runs.delete(run.plan.runId);
        tellExit(run);
      }
    },
    async tellStops() {
      for (const run of runs.values()) await tellStop(run, queue);
    },
    async give(chooseFor) {
      const chosen = choose(chooseFor);
      if (chosen.length > 0) await handOver(chosen, { ...deps, takeBack, refused });
    },
    stop: (runId, reason) => askToStop(runs.get(runId), reason),
  };
}

/** Of a run that no worker was ever given. */
function justQueued() {
  const over = new AbortController();
  const waiting = { worker: null, waitTold: null, givenAt: null, stop: null, stopTold: false, exit: null } as const;
  return { over, served: new Map(), heard: 0, ...waiting };
}

/** What was heard before, or of a run that is over, is not heard again. */
function passOnAll(run: GivenRun | undefined, { number, messages }: MessageBatch, nameOf: NameOf): void {
  if (run === undefined || run.worker === null || run.exit !== null || number <= run.heard) return;
  run.heard = number;
  for (const message of messages) passOn(run, message, nameOf);
}

type NameOf = GivenRunsDeps['nameOf'];

function endIfLost(
  run: GivenRun,
  here: ReadonlySet<string>,
  { lostAfterMs, nameOf }: Pick<GivenRunsDeps, 'lostAfterMs' | 'nameOf'>,
): void {
  const { worker, givenAt, heard } = run;
  if (worker === null) return;
  const never = heard === 0 && givenAt !== null && performance.now() - givenAt > lostAfterMs * 2;
  if (!here.has(worker.id)) run.exit ??= failedExit(lostFault(nameOf(worker), lostAfterMs));
  else if (never) run.exit ??= failedExit(neverFault(nameOf(worker), lostAfterMs * 2));
}

async function tellStop(run: GivenRun, queue: RunQueue): Promise<void> {
  if (run.stop === null || run.stopTold || run.worker === null) return;
  await queue.tellStop(run.plan.runId, run.stop);
  run.stopTold = true;
}

/** One that waits for a worker ends here; any other is told at the next look. */
function askToStop(run: GivenRun | undefined, reason: StopReason): ReturnType<Runner['stop']> {
  if (run === undefined) return 'unknown';
  run.stop ??= reason;
  if (run.worker === null) run.exit ??= cancelledExit(reason);
  return 'told';
}

/** Says what a run waits for, once for each change of it. */
function tellWait(run: GivenRun, text: string): void {
  if (run.waitTold === text) return;
  run.waitTold = text;
  const ids = { issueId: run.plan.issue.id, runId: run.plan.runId };
  run.hear.report({ type: 'agent-spoke', ...ids, event: { type: 'notice', text } });
}

/** One message of a run to those who listen; the last one says how it ended. */
function passOn(run: GivenRun, message: RunMessage, nameOf: NameOf): void {
  if (run.exit !== null || run.worker === null) return;
  if ('notice' in message) run.hear.announce(message.notice);
  else if ('report' in message && message.report.type === 'run-exited') run.exit = heardExit(message.report.exit);
  else if ('report' in message) run.hear.report(located(message.report, run.worker.name, nameOf(run.worker)));
}

function heardExit(exit: RunExit): RunExit {
  return { ...exit, fault: exit.fault && heardFault(exit.fault) };
}

function tellExit({ plan, hear, exit, carrier }: GivenRun): void {
  void carrier?.close().catch(() => {});
  if (exit !== null) hear.report({ type: 'run-exited', issueId: plan.issue.id, runId: plan.runId, exit });
}

function lostFault(name: string, afterMs: number): Fault {
  const message = `worker_lost: ${name} was not heard of for ${afterMs / 1_000} s`;
  return { kind: 'worker_lost', message, consequence: 'back-off' };
}

function neverFault(name: string, afterMs: number): Fault {
  const message = `worker_lost: ${name} did not begin the run within ${afterMs / 1_000} s`;
  return { kind: 'worker_lost', message, consequence: 'back-off' };
}

function cancelledExit(reason: string): RunExit {
  const fault: Fault = { kind: 'turn_cancelled', message: `stopped: ${reason}`, consequence: 'back-off' };
  return { ...failedExit(fault), kind: 'cancelled' };
}
