import type { Tracker } from '../ports/tracker.ts';

/** The moves of one run's issue. */
export interface WholeMoves {
  /** The same tracker. A move that was begun does not end with the run. */
  readonly tracker: Tracker;
  /** Whether one is under way. */
  isMoving(): boolean;
  /** Resolves when none is under way. */
  settled(): Promise<void>;
}

/**
 * What a tracker was asked for may come true long after nobody waits for it any more, and would then look like the doing of a
 * person; half of a move may leave an issue without a state. So a move is cut short only where nobody
 * acts on what it leaves, with the service or with a run that is another's by now, and the end of its run is told after it.
 */
export function createWholeMoves(tracker: Tracker, cutShort: AbortSignal): WholeMoves {
  const moving = new Set<Promise<void>>();
  return {
    tracker: {
      ...tracker,
      async transitionIssue(id, state, signal) {
        signal.throwIfAborted();
        const move = tracker.transitionIssue(id, state, cutShort);
        moving.add(move);
        await move.finally(() => moving.delete(move));
      },
    },
    isMoving: () => moving.size > 0,
    settled: async () => void (await Promise.allSettled(moving)),
  };
}
