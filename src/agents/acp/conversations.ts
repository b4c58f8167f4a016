/** What is remembered of conversations while this daemon runs, for when they go on in another process. */
export interface Conversations {
  opened(sessionId: string, now: number): void;
  /** The latest at which it can have been opened, where that was not here: before the daemon started. */
  openedAt(sessionId: string): number;
  /** The cost by the agent's own count. */
  costSeen(sessionId: string, amount: number): void;
  costOf(sessionId: string): number | null;
  /** A turn had no cost, although it was waited for. */
  costMissed(): void;
  /** False for an agent that tells no costs. */
  mayTellCost(): boolean;
}

interface Remembered {
  readonly openedAt: number | null;
  readonly cost: number | null;
}

const MAX_REMEMBERED = 1_000;
/** An agent that told no cost in so many turns tells none. */
const MOST_MISSED = 3;

export function createConversations(startedAt: number): Conversations {
  const known = new Map<string, Remembered>();
  let missed = 0;
  let tellsCost = false;

  function remember(sessionId: string, change: Partial<Remembered>): void {
    const next = { openedAt: null, cost: null, ...known.get(sessionId), ...change };
    // Put at the end, so that the one that was quiet for the longest time is forgotten first.
    known.delete(sessionId);
    known.set(sessionId, next);
    const [oldest] = known.keys();
    if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
  }

  return {
    opened: (sessionId, now) => remember(sessionId, { openedAt: now }),
    openedAt: (sessionId) => known.get(sessionId)?.openedAt ?? startedAt,
    costSeen(sessionId, amount) {
      tellsCost = true;
      remember(sessionId, { cost: amount });
    },
    costOf: (sessionId) => known.get(sessionId)?.cost ?? null,
    costMissed: () => void (missed += 1),
    mayTellCost: () => tellsCost || missed < MOST_MISSED,
  };
}
