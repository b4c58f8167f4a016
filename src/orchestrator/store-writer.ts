import type { Write } from '../domain/model/durable.ts';
import { faultOf } from '../domain/model/fault.ts';

export interface StoreWriterDeps {
  readonly store: { apply(writes: readonly Write[]): Promise<void> };
  /** Told when storing fails and is tried again, at most every two seconds. */
  readonly onStoreFault: (fault: unknown, tries: number) => void;
  /** How long a store that fails is tried before the daemon gives up and exits for a restart. */
  readonly storePatienceMs?: number;
}

export interface StoreWriter {
  /** Resolves when the writes are stored; rejects when the patience is at its end. */
  store(writes: readonly Write[]): Promise<void>;
  /** Why the last write is not stored yet; null while all are. */
  fault(): string | null;
  /** The daemon is stopping: from here on it waits no longer than this. */
  hurry(patienceMs: number): void;
}

/** Another program's lock is over in a moment, a full disk lasts. */
const FIRST_RETRY_MS = 20;
const MAX_RETRY_MS = 1_000;
const TELL_EVERY_MS = 2_000;
const PATIENCE_MS = 60_000;

/** Stores units of work in order. One that fails is tried again without blocking anything else. */
export function createStoreWriter(deps: StoreWriterDeps): StoreWriter {
  let patienceMs = deps.storePatienceMs ?? PATIENCE_MS;
  let reason: string | null = null;
  return {
    fault: () => reason,
    hurry(limitMs) {
      patienceMs = Math.min(patienceMs, limitMs);
    },
    async store(writes) {
      const startedAt = performance.now();
      let toldAt = -Infinity;
      for (let tries = 1; ; tries += 1) {
        try {
          await deps.store.apply(writes);
          reason = null;
          return;
        } catch (fault) {
          reason = faultOf(fault).message;
          const waited = performance.now() - startedAt;
          if (waited >= patienceMs) throw fault;
          if (waited - toldAt >= TELL_EVERY_MS) {
            deps.onStoreFault(fault, tries);
            toldAt = waited;
          }
          await pause(Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries - 1, 10), MAX_RETRY_MS));
        }
      }
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
