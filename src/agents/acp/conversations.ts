/** What is remembered of conversations while this daemon runs, for when they go on in another process. */
export interface Conversations {
  opened(sessionId: string, now: number): void;
  /** The latest at which it can have been opened, where that was not here: before the daemon started. */
  openedAt(sessionId: string): number;
  /** The cost by the agent's own count. */
  costSeen(sessionId: string, amount: number): void;
  costOf(sessionId: string): number | null;
}

interface Remembered {
  readonly openedAt: number | null;
  readonly cost: number | null;
}

const MAX_REMEMBERED = 1_000;

export function createConversations(startedAt: number): Conversations {
  const known = new Map<string, Remembered>();

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
    costSeen: (sessionId, amount) => remember(sessionId, { cost: amount }),
    costOf: (sessionId) => known.get(sessionId)?.cost ?? null,
  };
}
