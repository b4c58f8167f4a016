import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

/** A pipe of a child, read at the reader's own pace. */
export interface Output {
  /** To be called once, before the writer is gone. */
  chunks(): AsyncGenerator<Buffer, void, void>;
  /** The writer is gone: what the pipe still holds is delivered, then the reading ends although nobody closed it. */
  writerGone(): void;
  /** Settles when the pipe has been read to its end or was given up. */
  readonly closed: Promise<void>;
}

/** A system buffer holds less; more than this can only come from a stranger that still writes. */
const LEFTOVER_BYTES = 1024 * 1024;
/** Silence after which the pipe counts as read out. Data that is there already arrives within one turn of the loop. */
const SILENCE_MS = 50;

export function createOutput(stream: Readable): Output {
  const arrivals = followArrivals(stream);
  let cut = false;
  let reading = false;

  async function* chunks(): AsyncGenerator<Buffer, void, void> {
    let leftover = 0;
    reading = true;
    try {
      while (leftover <= LEFTOVER_BYTES) {
        const chunk = stream.read() as Buffer | null;
        if (chunk === null && !(await arrivals.next(cut))) return;
        if (chunk === null) continue;
        yield chunk;
        leftover += cut ? chunk.length : 0;
        // A writer that is always ahead would keep us in microtasks, and timers and sockets waiting.
        await nextTurn();
      }
    } finally {
      reading = false;
      discard();
    }
  }

  /** Nobody reads on: the writer must not block on a full pipe, and the handle must not stay open. */
  function discard(): void {
    stream.removeAllListeners('readable');
    if (cut) stream.destroy();
    else stream.resume();
  }

  return {
    chunks,
    closed: arrivals.closed,
    writerGone() {
      cut = true;
      arrivals.wake();
      if (!reading) stream.destroy();
    },
  };
}

interface Arrivals {
  /** Settles when there may be data; with false when none will come any more, or none came in the time of silence. */
  next(untilSilence: boolean): Promise<boolean>;
  /** Whoever waits looks again. */
  wake(): void;
  readonly closed: Promise<void>;
}

function followArrivals(stream: Readable): Arrivals {
  let wake = (): void => {};
  let over = false;
  const closed = new Promise<void>((resolve) => {
    const finish = (): void => {
      over = true;
      wake();
      resolve();
    };
    for (const event of ['end', 'close', 'error']) stream.on(event, finish);
  });
  // The listener stays for good: when a child exits, Node sets streams without one flowing and their data is lost.
  stream.on('readable', () => wake());
  return {
    closed,
    wake: () => wake(),
    async next(untilSilence) {
      if (over) return false;
      const woken = new Promise<true>((resolve) => {
        wake = () => resolve(true);
      });
      if (!untilSilence) return woken;
      // One turn more, for a timer may be late and run before the data that has been waiting.
      const silent = delay(SILENCE_MS, false).then(() => nextTurn(false));
      return Promise.race([woken, silent]);
    },
  };
}
