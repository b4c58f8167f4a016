import { AsyncLocalStorage } from 'node:async_hooks';
import type { Notice } from '../../domain/model/notice.ts';
import type { Quota } from '../../domain/model/quota.ts';
import type { During } from '../../orchestrator/counted-tracker.ts';
import type { QuotaReading, RequestMeter } from '../../ports/runtime.ts';
import type { TrackerOperation } from '../../ports/tracker.ts';

/** Counts the requests of each operation, and keeps what the remotes say is left. */
export interface OperationMeter extends RequestMeter {
  /** What is asked for within the call belongs to the operation. */
  readonly during: During;
}

/** For commands that count nothing. */
export const NO_METER: OperationMeter = { made: () => {}, left: () => {}, during: (_asked, call) => call() };

/** What a poll consists of: what these take is what a poll costs. */
const POLL: ReadonlySet<TrackerOperation> = new Set(['fetch_candidates', 'fetch_states_by_ids', 'fetch_blockers']);

export function createRequestMeter(announce: (notice: Notice) => void): OperationMeter {
  const context = new AsyncLocalStorage<TrackerOperation>();
  const costs = createPollCosts();
  const readings = new Map<string, QuotaReading>();
  let isNew = false;

  function tellReadings(): void {
    if (!isNew) return;
    isNew = false;
    const quotas = [...readings].map(([key, reading]) => quotaOf(reading, costs.of(key)));
    announce({ name: 'tracker:quotas:read', facts: { quotas } });
  }

  return {
    made(kind, result) {
      const operation = context.getStore();
      if (operation === undefined) announce({ name: 'forge:request:made', facts: { kind, result } });
      else announce({ name: 'tracker:request:made', facts: { operation, result } });
    },
    left(reading) {
      const key = `${reading.kind} ${reading.resource}`;
      const operation = context.getStore();
      if (operation !== undefined && POLL.has(operation)) costs.add(key, reading.cost);
      readings.set(key, reading);
      isNew = true;
    },
    async during({ operation, isLocal }, call) {
      const tell = (result: 'success' | 'error'): void => {
        if (isLocal) announce({ name: 'tracker:request:made', facts: { operation, result } });
        tellReadings();
      };
      if (operation === 'fetch_candidates') costs.next();
      try {
        // Where no request is made there is nothing to count, and every promise made within a context costs.
        const value = await (isLocal ? call() : context.run(operation, call));
        tell('success');
        return value;
      } catch (error) {
        tell('error');
        throw error;
      }
    },
  };
}

function quotaOf({ kind, resource, remaining, limit, resetAt, rule }: QuotaReading, pollCost: number | null): Quota {
  return { kind, resource, remaining, limit, resetAt, rule, pollCost };
}

/** What polls take of each budget: the last one, or the one under way where it took more already. */
function createPollCosts(): { next(): void; add(key: string, cost: number): void; of(key: string): number | null } {
  let [last, current] = [new Map<string, number>(), new Map<string, number>()];
  return {
    next() {
      last = current;
      current = new Map();
    },
    add: (key, cost) => void current.set(key, (current.get(key) ?? 0) + cost),
    of: (key) => (last.has(key) || current.has(key) ? Math.max(last.get(key) ?? 0, current.get(key) ?? 0) : null),
  };
}
