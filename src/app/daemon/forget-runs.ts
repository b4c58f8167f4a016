import { repeat } from '../../lib/repeat.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';

export interface ForgetDeps {
  readonly store: Pick<Store, 'forgetRuns'>;
  readonly now: () => number;
  /** `db_retention_days` of the workflow in force. */
  readonly days: () => number;
  readonly logger: Logger;
  /** Between two looks; an hour unless given. */
  readonly everyMs?: number;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** So many records at a time at most, with a pause after each: deleting a year at once would hold everything up. */
const AT_ONCE = 200;
const PAUSE_MS = 20;

/** The first look is soon after the start. */
const FIRST_MS = 10_000;

/** Forgets old runs, soon after the start and every hour. Returns the way to stop, which waits for the look under way. */
export function forgetOldRuns(deps: ForgetDeps): () => Promise<void> {
  const { logger, everyMs = HOUR_MS } = deps;
  let pauseMs = Math.min(everyMs, FIRST_MS);
  const look = async (): Promise<void> => {
    pauseMs = everyMs;
    try {
      if (await forgetSome(deps)) pauseMs = PAUSE_MS;
    } catch (fault) {
      logger.warn('old runs could not be deleted, trying again later', { error: String(fault) });
    }
  };
  return repeat(look, () => pauseMs).stop;
}

async function forgetSome({ store, now, days }: ForgetDeps): Promise<boolean> {
  return days() !== 0 && store.forgetRuns(now() - days() * DAY_MS, AT_ONCE);
}
