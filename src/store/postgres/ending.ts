import { NEW_LEADER_ERROR } from '../../domain/events/on-exit.ts';
import { SESSIONS_OVER_MS } from '../../domain/model/lease-times.ts';
import { interruptAllRuns, interruptedSince } from '../records/runs.ts';
import type { Work } from '../records/work.ts';

/** A change of leader cuts short what runs, which may go on elsewhere for a while. */
export function noteEnding(now: number): Work<void> {
  return interruptAllRuns(NEW_LEADER_ERROR, now);
}

/**
 * Until when runs that a change of leader cut short may go on elsewhere, by issue id. Read from the history: a leader that
 * starts again knows what it had to wait for, also where it has let the issue go since.
 */
export function* readEnding(tracker: string, now: number): Work<ReadonlyMap<string, number>> {
  const ended = yield* interruptedSince(tracker, NEW_LEADER_ERROR, now - SESSIONS_OVER_MS);
  // The clock of the one that wrote it may go ahead.
  return new Map([...ended].map(([issueId, at]) => [issueId, Math.min(at, now) + SESSIONS_OVER_MS]));
}
