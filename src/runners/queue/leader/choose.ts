import { WORKER_QUIET_MS } from '../../../domain/model/lease-times.ts';
import type { WorkerRow } from '../../../ports/run-queue.ts';

export interface Wish {
  /** Labels that the worker must have, all of them. */
  readonly labels: readonly string[];
  /** The name of the worker that holds the workspace, or null. */
  readonly holder: string | null;
}

/** What is known of a worker by its id. */
export interface GivenSoFar {
  /** How many runs it has. */
  runsOf(workerId: string): number;
  /** A number that is higher the later it was last given one. */
  lastTurnOf(workerId: string): number;
}

/**
 * Who takes a run: the holder of its workspace where it can, else the one with the most free slots, and of those the one
 * that was given nothing for the longest time; null for nobody yet.
 */
export function chooseWorker(workers: readonly WorkerRow[], given: GivenSoFar, wish: Wish): WorkerRow | null {
  const free = (worker: WorkerRow): number => worker.slots - given.runsOf(worker.id);
  const able = workers.filter((worker) => mayBeAsked(worker) && free(worker) > 0 && hasAll(worker, wish.labels));
  const [first = null] = able.toSorted((a, b) => free(b) - free(a) || given.lastTurnOf(a.id) - given.lastTurnOf(b.id));
  return able.find(({ name }) => name === wish.holder) ?? first;
}

export function hasAll(worker: WorkerRow, labels: readonly string[]): boolean {
  return labels.every((label) => worker.labels.includes(label));
}

/** Whether a worker takes anything new now. */
export function mayBeAsked({ draining, silentMs }: WorkerRow): boolean {
  return !draining && silentMs < WORKER_QUIET_MS;
}

/**
 * Whether another worker with workspaces of its own came first under the same name. One that was started again on the same
 * workspaces is the same, and one that is not heard of any more has left its name.
 */
export function hasTwin(worker: WorkerRow, all: readonly WorkerRow[]): boolean {
  const first = all.find(({ name, identity, silentMs }) => name === worker.name && identity !== '' && silentMs < WORKER_QUIET_MS);
  return first !== undefined && worker.identity !== '' && first.identity !== worker.identity;
}

/** Leader and worker exchange plans and reports: versions that differ in more than the last number may not understand each other. */
export function isCompatible(worker: string, leader: string): boolean {
  const line = (version: string): string => version.split('.').slice(0, 2).join('.');
  return line(worker) === line(leader);
}

export function skewText(worker: string, leader: string): string {
  return `it is version ${worker} and the service is ${leader}: install the same version on both`;
}
