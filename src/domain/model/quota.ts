/** What a remote said is left of one of its budgets. */
export interface Quota {
  /** Canonical kind of the remote. */
  readonly kind: string;
  /** The budget by the remote's own name: `core`, `search`, `complexity`. */
  readonly resource: string;
  readonly remaining: number;
  /** What a full budget holds; null where the remote does not say. */
  readonly limit: number | null;
  /** When it is full again; null where the remote does not say. */
  readonly resetAt: number | null;
  /**
   * What it means for polls. `show`: nothing. `hold`: a poll it cannot pay for waits for the reset. `pace`: besides,
   * polls are spread so that it lasts until then.
   */
  readonly rule: 'show' | 'hold' | 'pace';
  /** What a poll takes of it, by the last two of them; null where polls do not use it. */
  readonly pollCost: number | null;
}

/** A poll that was due and could not be paid for. */
export interface PostponedPoll {
  readonly until: number;
  readonly resource: string;
  /** For people. */
  readonly reason: string;
}
