import { repeat } from '../../lib/repeat.ts';
import type { NoticeBus } from '../../ports/events.ts';

/** So long after the start at the earliest. */
const EARLIEST_MS = 1_000;
/** So long nothing happened: no run began or ended, and a free slot is not held up. */
const QUIET_MS = 250;
/** A service that is never quiet does not wait for it longer: what it counts is kept until then. */
const LATEST_MS = 5_000;
/** Between two pieces, for what came up meanwhile. */
const BETWEEN_MS = 20;

/**
 * Carries out the steps one by one while the service has nothing else to do, whatever becomes of each. Returns the way to stop,
 * which waits for the step under way.
 */
export function whenQuiet(notices: Pick<NoticeBus, 'listen'>, steps: Iterable<() => Promise<unknown>>): () => Promise<void> {
  const begun = performance.now();
  let heardAt = begun;
  let pauseMs = EARLIEST_MS;
  const unlisten = notices.listen(() => void (heardAt = performance.now()));
  const waiting = steps[Symbol.iterator]();
  const isTime = (now: number): boolean => now - heardAt >= QUIET_MS || now - begun >= LATEST_MS;
  const going = repeat(
    async () => {
      pauseMs = BETWEEN_MS;
      if (!isTime(performance.now())) return;
      const next = waiting.next();
      if (next.done === true) void stop();
      else await next.value();
    },
    () => pauseMs,
  );
  function stop(): Promise<void> {
    unlisten();
    return going.stop();
  }
  return stop;
}
