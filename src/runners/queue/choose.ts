import type { WorkerRow } from '../../ports/run-queue.ts';

/** A worker without a heartbeat for this long is lost, and its runs with it. */
export const LOST_AFTER_MS = 30_000;
/** One that is silent for this long gets nothing new. */
const QUIET_MS = 10_000;

export interface Wish {
  /** Labels that the worker must have, all of them. */
  readonly labels: readonly string[];
  /** The name of the worker that holds the workspace, or null. */
  readonly holder: string | null;
}

/** Who takes a run: the holder of its workspace where it can, else the one with the most free slots; null for nobody yet. */
export function chooseWorker(
  workers: readonly WorkerRow[],
  runsOf: (workerId: string) => number,
  wish: Wish,
  version: string,
): WorkerRow | null {
  const free = (worker: WorkerRow): number => worker.slots - runsOf(worker.id);
  const able = workers.filter(
    (worker) => mayBeAsked(worker, version) && free(worker) > 0 && wish.labels.every((label) => worker.labels.includes(label)),
  );
  const [first = null] = able.toSorted((a, b) => free(b) - free(a));
  return able.find(({ name }) => name === wish.holder) ?? first;
}

/** Whether a worker takes anything new at all. */
export function mayBeAsked({ draining, silentMs, version: theirs }: WorkerRow, version: string): boolean {
  return !draining && silentMs < QUIET_MS && isCompatible(theirs, version);
}

/** Leader and worker exchange plans and reports: versions that differ in more than the last number may not understand each other. */
export function isCompatible(worker: string, leader: string): boolean {
  const line = (version: string): string => version.split('.').slice(0, 2).join('.');
  return line(worker) === line(leader);
}

export function skewText(worker: string, leader: string): string {
  return `it is version ${worker} and the service is ${leader}: install the same version on both`;
}
