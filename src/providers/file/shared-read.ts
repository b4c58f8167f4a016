import { setMaxListeners } from 'node:events';

/**
 * One read for all who ask at the same time: a thousand sessions that look at their issue at once would otherwise hold a
 * thousand copies of the list.
 */
export function shareReads<T>(read: () => Promise<T>): (signal: AbortSignal) => Promise<T> {
  const shared = share(read);
  return (signal) => unlessAborted(shared(), signal);
}

/** The same work for all who ask at the same time. Who asks while it is under way gets the next, which begins after they asked. */
export function share<T>(work: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  const begin = async (): Promise<T> => {
    await underWay;
    next = null;
    const done = work();
    underWay = done.catch(() => {});
    return done;
  };
  return () => (next ??= begin());
}

/** Who is told to stop does not wait for what others wait for. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Any number of readers may hang on one signal; each takes its listener away again.
  setMaxListeners(0, signal);
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
