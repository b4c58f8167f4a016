import type { JournalEntry, PollSample } from '../domain/chronicle.ts';

/** What people look back on, over restarts. */
export interface Chronicle {
  /** What happened to an issue between and after its runs, oldest first. */
  journalOf(identifier: string): Promise<readonly JournalEntry[]>;
  /** How polls went since a moment, oldest first. */
  samplesSince(since: number): Promise<readonly PollSample[]>;
}
