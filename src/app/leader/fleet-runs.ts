import type { Clock, Logger } from '../../ports/runtime.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { QueueRunner } from '../../runners/queue/leader/index.ts';
import type { LeaderTerm } from './leading.ts';

export interface FleetRunsDeps {
  /** Null where the database is not shared: then there are no workers. */
  readonly term: LeaderTerm | null;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly markKey: string;
  readonly killed: AbortSignal;
  /** Hears that a worker came for whom something may wait. */
  readonly onJoined: () => void;
}

/** The runs on workers. The queue is opened when a workflow first asks for it. */
export interface FleetRuns {
  open(settings: Settings): Promise<void>;
  readonly runner: () => QueueRunner | null;
  close(): Promise<void>;
}

export function createFleetRuns({ term, ...deps }: FleetRunsDeps): FleetRuns {
  let runner: QueueRunner | null = null;
  return {
    runner: () => runner,
    async open({ agent, storeUrl }) {
      if (runner !== null || term === null || storeUrl === null || agent.runOn === null) return;
      const { openRunQueue } = await import('../../store/postgres/run-queue.ts');
      const { createQueueRunner } = await import('../../runners/queue/leader/index.ts');
      runner = createQueueRunner({ ...deps, queue: await openRunQueue(storeUrl, term.db, term.leadership.epoch) });
    },
    close: async () => runner?.close(),
  };
}
