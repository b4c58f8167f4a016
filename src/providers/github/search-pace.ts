import { setTimeout as delay } from 'node:timers/promises';
import type { HttpRequest } from '../../lib/http/index.ts';
import type { QuotaReading } from '../../ports/runtime.ts';
import type { Clock, Logger } from '../../ports/runtime.ts';
import { KIND } from './settings.ts';

/** Searches have a small budget of their own ("Rate limits for the REST API": 30 a minute), renewed every minute. */
const WINDOW_MS = 60_000;

export interface SearchPace {
  /** Waits until a search may be sent; anything else goes at once. */
  before(request: HttpRequest, signal: AbortSignal): Promise<void>;
  /** What the remote says is left after each answer. */
  heard(readings: readonly QuotaReading[]): void;
}

/** Keeps searches within their budget: a list of many pages takes its time instead of failing in its middle. */
export function createSearchPace({ clock, logger }: { readonly clock: Clock; readonly logger: Logger }): SearchPace {
  let spentUntil = 0;
  return {
    async before(request, signal) {
      if (!/\/search\/issues(?:\?|$)/.test(request.url ?? request.path ?? '')) return;
      const left = spentUntil - clock.now();
      if (left <= 0) return;
      // A reset further away than the window is by another clock.
      const wait = Math.min(left, WINDOW_MS);
      logger.info('tracker search waits for its quota', { tracker_kind: KIND, wait_ms: Math.ceil(wait) });
      await delay(wait, undefined, { signal }).catch((error: unknown) => {
        throw signal.aborted ? signal.reason : error;
      });
      spentUntil = 0;
    },
    heard(readings) {
      const search = readings.find(({ resource }) => resource === 'search');
      if (search) spentUntil = search.remaining > 0 ? 0 : (search.resetAt ?? 0);
    },
  };
}
