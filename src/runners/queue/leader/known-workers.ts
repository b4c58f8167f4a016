import type { RunPlan } from '../../../domain/model/effect.ts';
import type { HostView } from '../../../ports/runner.ts';
import type { RunQueue, WorkerRow } from '../../../ports/run-queue.ts';
import type { Clock, Logger } from '../../../ports/runtime.ts';
import { hostName, shownHost } from '../../../domain/model/host-path.ts';
import { WORKER_LOST_MS } from '../../../domain/model/lease-times.ts';
import type { AgentSettings } from '../../../domain/model/settings.ts';
import { whyHeldBack, type Pauses } from '../../../domain/rules/queued-run.ts';
import { createUnfitHosts, type UnfitHosts } from '../../unfit-hosts.ts';
import { chooseWorker, hasAll, hasTwin, isCompatible, mayBeAsked, skewText, type Wish } from './choose.ts';

export interface KnownWorkersDeps {
  readonly queue: RunQueue;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly lostAfterMs: number;
  /** How many runs a worker has. */
  readonly runsOf: (workerId: string) => number;
  /** Hears that one came with labels that nobody had, or the first of all. */
  readonly onJoined?: () => void;
}

/** The workers of the queue, as they were last seen. */
export interface KnownWorkers {
  /** Takes note of who is there: who may not work here is told so, who is lost is forgotten. Gives the ids of the others. */
  meet(rows: readonly WorkerRow[]): Promise<ReadonlySet<string>>;
  /** Those that lack what a run needs, by their ids. */
  readonly unfit: UnfitHosts;
  /** Hears that the database does not take a run for one: others are asked first. */
  refused(worker: WorkerRow, plan: RunPlan, why: string): void;
  /** Who takes a run now. Those that are alike take turns. One that lacks what it needs takes it where there is no other. */
  choose(wish: Wish): WorkerRow | null;
  /** The worker of this name, where it can be asked for something. */
  named(name: string): WorkerRow | null;
  /** What a worker is called where others may have its name. */
  nameOf(worker: WorkerRow): string;
  problemOf(labels: readonly string[]): string | null;
  /** What a run with these labels waits for. */
  whyWaiting(labels: readonly string[]): string;
  hosts(): readonly HostView[];
}

export function createKnownWorkers(deps: KnownWorkersDeps): KnownWorkers {
  const { queue, version, logger, lostAfterMs, runsOf } = deps;
  const told = new Map<string, string | null>();
  const turns = new Map<string, number>();
  const unfit = createUnfitHosts(deps.clock);
  let turn = 0;
  let workers: readonly WorkerRow[] = [];
  /** Those that are not refused. */
  let able: readonly WorkerRow[] = [];

  /** Whether others are asked instead. */
  function isPassedOver({ id }: WorkerRow, labels: readonly string[]): boolean {
    const isFit = (worker: WorkerRow): boolean => unfit.problemOf(worker.id) === null;
    return unfit.problemOf(id) !== null && able.some((other) => isFit(other) && mayBeAsked(other) && hasAll(other, labels));
  }

  /** Once for each change of mind. */
  async function tellRefusal(worker: WorkerRow): Promise<void> {
    const { id, name } = worker;
    const why = refusalOf(worker, workers, version);
    if (told.get(id) === why) return;
    if (why !== null) logger.warn('worker refused', { worker: name, reason: why });
    await queue.refuse(id, why);
    told.set(id, why);
  }

  async function forget({ id, name, silentMs }: WorkerRow): Promise<void> {
    logger.warn('worker lost', { worker: name, silent_ms: Math.round(silentMs) });
    await queue.forgetWorker(id);
    told.delete(id);
  }

  return {
    unfit,
    refused(worker, plan, error) {
      const why = `no run can be given to it (${error})`;
      const { id: issue_id, identifier: issue_identifier } = plan.issue;
      if (unfit.problemOf(worker.id) !== why)
        logger.warn('a run could not be given to its worker', { issue_id, issue_identifier, worker: worker.name, error });
      unfit.note(worker.id, plan, why);
    },
    async meet(rows) {
      const before = able;
      workers = rows;
      forgetOthers(turns, rows);
      able = rows.filter((worker) => refusalOf(worker, rows, version) === null);
      if (able.some(({ labels }) => !before.some((known) => hasAll(known, labels)))) deps.onJoined?.();
      for (const worker of workers) {
        await tellRefusal(worker);
        if (worker.silentMs > lostAfterMs) await forget(worker);
      }
      return new Set(workers.filter(({ silentMs }) => silentMs <= lostAfterMs).map(({ id }) => id));
    },
    choose(wish) {
      const asked = able.filter((worker) => !isPassedOver(worker, wish.labels));
      const chosen = chooseWorker(asked, { runsOf, lastTurnOf: (id) => turns.get(id) ?? 0 }, wish);
      if (chosen !== null) turns.set(chosen.id, (turn += 1));
      return chosen;
    },
    named: (name) => able.find((worker) => worker.name === name && mayBeAsked(worker)) ?? null,
    nameOf: (worker) => shownName(worker, workers),
    problemOf: (labels) => problemOf(workers, labels, version),
    whyWaiting: (labels) =>
      whyWaiting(workers, { labels, version, runsOf, isPassedOver: (worker) => isPassedOver(worker, labels) }),
    hosts: () => hostViewsOf(workers, { runsOf, version, lostAfterMs, unfit }),
  };
}

/** Every start of a worker has an id of its own. */
function forgetOthers(turns: Map<string, number>, workers: readonly WorkerRow[]): void {
  const here = new Set(workers.map(({ id }) => id));
  for (const id of turns.keys()) if (!here.has(id)) turns.delete(id);
}

/** Why a worker gets no runs at all, or null. */
function refusalOf(worker: WorkerRow, all: readonly WorkerRow[], version: string): string | null {
  if (!isCompatible(worker.version, version)) return skewText(worker.version, version);
  return hasTwin(worker, all) ? `another worker is called ${worker.name}: give each a --name of its own` : null;
}

/** Why none of these workers could take a run with these labels, or null. */
function problemOf(workers: readonly WorkerRow[], labels: readonly string[], version: string): string | null {
  const fitting = workers.filter((worker) => hasAll(worker, labels));
  const whys = fitting.map((worker) => refusalOf(worker, workers, version) ?? (worker.draining ? LEAVING : null));
  if (whys.includes(null)) return null;
  const found = fitting.map((worker, at) => `${shownName(worker, workers)}: ${whys[at]}`);
  const what = found.length === 0 ? 'is there' : `takes runs (${found.join('; ')})`;
  return `no worker${withLabels(labels)} ${what}: start one with "foray worker"`;
}

const LEAVING = 'it takes no more runs';

function withLabels(labels: readonly string[]): string {
  return labels.length === 0 ? '' : ` with the labels ${labels.join(', ')}`;
}

interface QueueFacts {
  readonly labels: readonly string[];
  readonly version: string;
  readonly runsOf: (workerId: string) => number;
  readonly isPassedOver?: (worker: WorkerRow) => boolean;
}

/** What a run that no worker has yet waits for. */
function whyWaiting(workers: readonly WorkerRow[], facts: QueueFacts): string {
  const { labels, version, runsOf, isPassedOver = () => false } = facts;
  const able = workers.filter((worker) => hasAll(worker, labels) && refusalOf(worker, workers, version) === null);
  const isFull = able.every((worker) => !mayBeAsked(worker) || isPassedOver(worker) || runsOf(worker.id) >= worker.slots);
  const why = problemOf(workers, labels, version) ?? (isFull ? 'all slots are taken' : 'it is about to be given to one');
  return `waits in the queue for a worker${withLabels(labels)}: ${why}`;
}

export interface KnownFleet {
  readonly workers: readonly WorkerRow[];
  /** Which of them has a run, by the ids of both. */
  readonly holders: ReadonlyMap<string, string>;
}

export interface WaitFacts {
  /** Null where the file does not tell. */
  readonly agent: Pick<AgentSettings, 'kind' | 'runOn'> | null;
  readonly pauses: Pauses;
  readonly version: string;
}

/** Tells by what the database says of all workers what a run waits for; null for one that waits for none of them. */
export function waitIn(fleet: KnownFleet | null, { agent, pauses, version }: WaitFacts): (runId: string) => string | null {
  const labels = agent?.runOn ?? null;
  if (fleet === null || agent === null || labels === null) return () => null;
  const heldBack = whyHeldBack(pauses, agent.kind);
  const heard = heardOf(fleet.workers);
  const given = [...fleet.holders.values()];
  const runsOf = (id: string): number => given.filter((holder) => holder === id).length;
  return (runId) => (fleet.holders.has(runId) ? null : (heldBack ?? whyWaiting(heard, { labels, version, runsOf })));
}

/** The same of what the database says of all workers. */
export function fleetProblem(rows: readonly WorkerRow[], labels: readonly string[], version: string): string | null {
  return problemOf(heardOf(rows), labels, version);
}

function heardOf(rows: readonly WorkerRow[]): readonly WorkerRow[] {
  return rows.filter(({ silentMs }) => silentMs <= WORKER_LOST_MS);
}

export interface ViewFacts {
  readonly runsOf: (workerId: string) => number;
  readonly version: string;
  readonly lostAfterMs?: number;
  /** Known to the leader alone. */
  readonly unfit?: UnfitHosts;
}

/** The workers as they are shown, and why each gets no runs. Those whose hosts share a name are told apart by their identity. */
export function hostViewsOf(workers: readonly WorkerRow[], facts: ViewFacts): readonly HostView[] {
  const { runsOf, version, lostAfterMs = WORKER_LOST_MS, unfit } = facts;
  return workers.map((worker) => {
    const { id, labels, slots, version: theirs, load, heardAt, silentMs, draining } = worker;
    const silent = silentMs > lostAfterMs ? 'it is not heard of any more' : null;
    const problem = refusalOf(worker, workers, version) ?? silent ?? (draining ? LEAVING : (unfit?.problemOf(id) ?? null));
    const name = shownName(worker, workers);
    return { name, kind: 'worker', labels, slots, running: runsOf(id), load, version: theirs, heardAt, problem };
  });
}

/** What a worker is called among these. */
export function shownName({ name, identity }: WorkerRow, all: readonly WorkerRow[]): string {
  const shown = shownHost(name);
  const isShared = all.some((other) => other.identity !== identity && shownHost(other.name) === shown);
  return isShared ? hostName(shown, identity) : shown;
}
