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

/** Forgets old runs, soon after the start and every hour. Returns the way to stop. */
export function forgetOldRuns(deps: ForgetDeps): () => void {
  let timer = setTimeout(look, Math.min(deps.everyMs ?? HOUR_MS, 10_000)).unref();

  function look(): void {
    forgetSome(deps).then(
      (isMore) => again(isMore ? PAUSE_MS : (deps.everyMs ?? HOUR_MS)),
      (fault: unknown) => {
        deps.logger.warn('old runs could not be deleted, trying again later', { error: String(fault) });
        again(deps.everyMs ?? HOUR_MS);
      },
    );
  }

  function again(ms: number): void {
    timer = setTimeout(look, ms).unref();
  }

  return () => clearTimeout(timer);
}

async function forgetSome({ store, now, days }: ForgetDeps): Promise<boolean> {
  return days() !== 0 && store.forgetRuns(now() - days() * DAY_MS, AT_ONCE);
}
