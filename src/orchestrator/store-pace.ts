/** How the loop goes along with the time that storing takes. */
export interface StorePace {
  /** Stores, and notes how long that takes. */
  time(store: () => Promise<void>): Promise<void>;
  /** For how long events may be decided before they are stored. */
  sliceMs(): number;
  /** How long to wait before more is stored; not at all when it is zero or less. */
  restMs(): number;
}

/** Longest stretch of work before other callbacks, such as HTTP answers, get their turn. */
export const SLICE_MS = 8;
/** Where storing takes long, more is decided before each: a little less responsive, and not one event for each wait. */
const LONGEST_SLICE_MS = 40;
/** What storing took counts half after this long. */
const HALF_LIFE_MS = 50;
/** So much of it means that storing takes a third of the time. */
const BUSY_MS = 25;

/**
 * Where storing keeps all else waiting much of the time, it rests as long as it took: what comes in meanwhile is stored
 * together. A few events one after the other are stored without a rest.
 */
export function createStorePace(): StorePace {
  let [storedMs, storedAt] = [0, 0];
  /** For how long nothing else could happen while it stored, the last time and in all; what is longer ago counts less. */
  let [blockedMs, lastlyBlockedMs] = [0, 0];
  return {
    async time(store) {
      const begun = performance.now();
      const storing = store();
      blockedMs = performance.now() - begun;
      lastlyBlockedMs = lastlyBlockedMs * 0.5 ** ((begun - storedAt) / HALF_LIFE_MS) + blockedMs;
      await storing;
      storedAt = performance.now();
      storedMs = storedAt - begun;
    },
    sliceMs: () => Math.min(Math.max(SLICE_MS, storedMs / 2), LONGEST_SLICE_MS),
    restMs: () => (lastlyBlockedMs < BUSY_MS ? 0 : storedAt + Math.min(blockedMs, LONGEST_SLICE_MS) - performance.now()),
  };
}
