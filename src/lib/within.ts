import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/**
 * Waits for the work, but no longer than this. False when it took longer. One turn of the event loop more: when we were held
 * up, a timer rings before what has been waiting in a pipe is read.
 */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(ms, undefined, { signal: timer.signal }).then(
    () => nextTurn(false),
    () => false,
  );
  const isDone = await Promise.race([work.then(() => true), late]);
  timer.abort();
  return isDone;
}
