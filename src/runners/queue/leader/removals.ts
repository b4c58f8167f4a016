import { randomUUID } from 'node:crypto';
import { WorkspaceError } from '../../../domain/model/errors.ts';
import { REMOVAL_PREFIX } from '../../../ports/run-queue.ts';
import type { RemovalJob, RunQueue, MessageBatch, WorkerRow } from '../../../ports/run-queue.ts';
import { isRefusal } from '../refusals.ts';
import type { Removal, RemovalSubject } from '../../../ports/workspace.ts';
import { errorOf } from '../wire-errors.ts';

export interface RemovalsDeps {
  readonly queue: RunQueue;
  /** What marks of workspaces are signed with. */
  readonly markKey: string;
}

/** Workspaces that workers are asked to remove. */
export interface Removals {
  /** Rejects where the worker that holds it is not there, or leaves meanwhile. */
  remove(host: string, subject: RemovalSubject, removedDays: number, signal: AbortSignal): Promise<Removal>;
  count(): number;
  hear(batches: readonly MessageBatch[]): void;
  endLost(here: ReadonlySet<string>): void;
  /** Asks the workers for what waits. */
  give(named: (name: string) => WorkerRow | null): Promise<void>;
  /** Nothing more is heard of what is over. */
  finish(): Promise<void>;
}

interface Asked {
  readonly id: string;
  readonly host: string;
  readonly job: RemovalJob;
  worker: WorkerRow | null;
  isOver: boolean;
  readonly answer: (outcome: Removal | Error) => void;
}

export function createRemovals({ queue, markKey }: RemovalsDeps): Removals {
  const asked = new Map<string, Asked>();
  const isBusy = (workerId: string): boolean => [...asked.values()].some(({ worker }) => worker?.id === workerId);
  const waiting = (): Asked[] => [...asked.values()].filter(({ worker, isOver }) => worker === null && !isOver);

  return {
    count: () => asked.size,
    remove: (host, subject, removedDays, signal) =>
      untilAnswered(
        { host, job: { removal: subject, removedDays, markKey } },
        (removal) => asked.set(removal.id, removal),
        signal,
      ),
    hear(batches) {
      for (const { runId, messages } of batches) {
        for (const message of messages) {
          if (!('removed' in message)) continue;
          asked.get(runId)?.answer(message.removed.ok ? message.removed.value : errorOf(message.removed));
        }
      }
    },
    endLost(here) {
      for (const removal of asked.values()) {
        if (removal.worker !== null && !here.has(removal.worker.id)) removal.answer(goneError(removal));
      }
    },
    async give(named) {
      for (const removal of waiting()) {
        const worker = named(removal.host);
        if (worker === null) {
          removal.answer(goneError(removal));
          continue;
        }
        // One after the other: a worker has room for one beside its runs.
        if (isBusy(worker.id)) continue;
        try {
          await queue.give([{ id: removal.id, workerId: worker.id, job: removal.job }]);
          removal.worker = worker;
        } catch (error) {
          if (!isRefusal(error)) throw error;
          removal.answer(error);
        }
      }
    },
    async finish() {
      const over = [...asked.values()].filter(({ isOver }) => isOver);
      const given = over.filter(({ worker }) => worker !== null);
      if (given.length > 0) await queue.revoke(given.map(({ id }) => id));
      for (const { id } of over) asked.delete(id);
    },
  };
}

/** Resolves with what the worker answers; rejects when it cannot, or when the service stops. */
function untilAnswered(
  { host, job }: Pick<Asked, 'host' | 'job'>,
  add: (removal: Asked) => void,
  signal: AbortSignal,
): Promise<Removal> {
  return new Promise((resolve, reject) => {
    const stop = (): void => answer(new Error('the service stops'));
    const removal: Asked = { id: `${REMOVAL_PREFIX}${randomUUID()}`, host, job, worker: null, isOver: false, answer };
    function answer(outcome: Removal | Error): void {
      removal.isOver = true;
      signal.removeEventListener('abort', stop);
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    }
    add(removal);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
  });
}

function goneError({ host, job }: Asked): WorkspaceError {
  const detail = `the worker ${host}, which holds the workspace of ${job.removal.identifier}, is not there; it is removed when the worker is back`;
  return new WorkspaceError('remove', detail, { retryable: true });
}
