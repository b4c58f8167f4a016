import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../../domain/model/settings.ts';
import { createReleasers, type Releasers } from '../../lib/releasers.ts';
import type { Served } from './serve-http.ts';

const TRY_EVERY_MS = 3_000;

export interface WhenFree {
  readonly releasers: Releasers;
  /** Told once, where there are no pages yet. */
  readonly tell: (fault: unknown) => void;
  readonly onServed?: (url: string | null) => void;
  readonly everyMs?: number;
}

/**
 * Serves now, or as soon as it can be: a leader whose time is over may keep the port while it ends, or for as long as it is
 * stopped, and whoever takes over works without pages until then.
 */
export async function serveWhenFree(
  serve: (releasers: Releasers) => Promise<Served>,
  { releasers, tell, onServed = () => {}, everyMs = TRY_EVERY_MS }: WhenFree,
): Promise<Served> {
  const opened = createReleasers(tell);
  const over = new AbortController();
  let served: Served | null = null;
  let edited: Settings['server'] | null = null;

  async function attempt(): Promise<void> {
    try {
      served = await serve(opened);
    } catch (fault) {
      await opened.run();
      throw fault;
    }
    if (edited !== null) served.admit(edited);
    onServed(served.url);
  }

  async function tryAgain(): Promise<void> {
    while (served === null && !over.signal.aborted) {
      await delay(everyMs, undefined, { signal: over.signal })
        .then(attempt)
        .catch(() => {});
    }
  }

  let trying = Promise.resolve();
  await attempt().catch((fault: unknown) => {
    tell(fault);
    trying = tryAgain();
  });
  releasers.push(async () => {
    over.abort();
    await trying;
    await opened.run();
  });
  return {
    get url() {
      return served?.url ?? null;
    },
    admit(server) {
      edited = server;
      served?.admit(server);
    },
  };
}
