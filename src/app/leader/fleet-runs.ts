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

/** The runs on workers. The queue is opened when a workflow first asks for it, or for a workspace that a worker holds. */
export interface FleetRuns {
  open(settings: Settings): Promise<void>;
  readonly runner: () => QueueRunner | null;
  /** Undefined where the database is not shared. */
  readonly remove: QueueRunner['remove'] | undefined;
  close(): Promise<void>;
}

export function createFleetRuns({ term, ...deps }: FleetRunsDeps): FleetRuns {
  let runner: QueueRunner | null = null;
  let opening: Promise<QueueRunner> | null = null;
  let url = '';
  const opened = (of: LeaderTerm): Promise<QueueRunner> =>
    (opening ??= openQueue(of, url, deps).then(
      (queue) => (runner = queue),
      (error: unknown) => {
        opening = null;
        throw error;
      },
    ));
  return {
    runner: () => runner,
    async open({ agent, storeUrl }) {
      if (term === null || storeUrl === null) return;
      url = storeUrl;
      if (agent.runOn !== null) await opened(term);
    },
    remove: term === null ? undefined : async (...args) => (await opened(term)).remove(...args),
    close: async () => (await opening?.catch(() => null))?.close(),
  };
}

async function openQueue({ db, leadership }: LeaderTerm, url: string, deps: Omit<FleetRunsDeps, 'term'>): Promise<QueueRunner> {
  const { openRunQueue } = await import('../../store/postgres/run-queue.ts');
  const { createQueueRunner } = await import('../../runners/queue/leader/index.ts');
  return createQueueRunner({ ...deps, queue: await openRunQueue(url, db, leadership.epoch) });
}
