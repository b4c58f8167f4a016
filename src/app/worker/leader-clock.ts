import type { Clock } from '../../ports/runtime.ts';

/**
 * The leader's clock as far as a run here knows it: as it was when the run was given, and counted on from there. What an
 * agent says of the end of a limit is read by it: the leader waits by its own clock, and that of this machine may differ.
 */
export function leaderClock(leaderNow: number | undefined): Clock {
  if (leaderNow === undefined) return { now: Date.now };
  const taken = performance.now();
  return { now: () => leaderNow + Math.round(performance.now() - taken) };
}
