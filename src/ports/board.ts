/** What a tracker lets issues be in, read before anything is configured. */
export interface Board {
  /** Trackers without states of their own use labels. */
  readonly what: 'labels' | 'states';
  readonly states: readonly BoardState[];
  /** A move to one that is missing makes it. */
  readonly createsMissing: boolean;
}

export interface BoardState {
  readonly name: string;
  /** What the tracker itself says of it; null where it says nothing. */
  readonly stage: 'waiting' | 'working' | 'done' | null;
}
