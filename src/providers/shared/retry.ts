import { setTimeout as delay } from 'node:timers/promises';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TellRetry } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';

/** A remote that asks for a longer wait is told of at once instead of being waited for in silence. */
const LONGEST_WAIT_MS = 2_000;

/** Who is told of failures. */
export interface RetryDeps {
  readonly logger: Pick<Logger, 'warn'>;
  /** Absent where records are enough. */
  readonly tellRetry?: TellRetry;
}

export interface Retries {
  /** One try more for each. */
  readonly delaysMs: readonly number[];
  /** A limit of requests that tells no time is tried again like any failure, where the contract of the kind has it so. */
  readonly triesLimits?: boolean;
  readonly deps: RetryDeps;
}

/**
 * Tries again after failures that may heal, once per delay, and throws the last failure. Where the
 * remote asks for a wait of more than two seconds, or has a limit and tells no time, the failure is thrown at once: whoever
 * asked tells it and comes later.
 * What failed is told, so that nobody waits without knowing what for. For start-up checks: polls are not retried here, the
 * next poll is their retry.
 */
export async function withRetries<T>(run: () => Promise<T>, retries: Retries, signal: AbortSignal): Promise<T> {
  const { delaysMs, deps } = retries;
  const tell = deps.tellRetry ?? firstTo(deps.logger);
  for (let tries = 0; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      const wait = delaysMs[tries];
      if (wait === undefined || !(error instanceof TrackerError) || !error.retryable) throw error;
      if (isLeftAlone(error, retries)) throw error;
      const retryInMs = Math.max(wait, error.retryAfterMs ?? 0);
      tell({ error: error.message, kind: error.kind, retryInMs, tries: tries + 1 });
      await pause(retryInMs, signal);
    }
  }
}

function isLeftAlone({ retryAfterMs, isLimit }: TrackerError, { triesLimits = false }: Retries): boolean {
  return retryAfterMs === undefined ? isLimit && !triesLimits : retryAfterMs > LONGEST_WAIT_MS;
}

/** For who listens to records alone: the first failure is enough. */
function firstTo(logger: RetryDeps['logger']): TellRetry {
  return ({ error, tries }) => {
    if (tries === 1) logger.warn('the tracker cannot be read yet, trying again', { error });
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    // The timer rejects with an AbortError of its own; callers expect the reason they gave.
    throw signal.aborted ? signal.reason : error;
  }
}
