import { setTimeout as delay } from 'node:timers/promises';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Logger } from '../../ports/runtime.ts';

/** A remote that asks for a longer wait is told of at once instead of being waited for in silence. */
const LONGEST_WAIT_MS = 2_000;

export interface Retries {
  /** One try more for each. */
  readonly delaysMs: readonly number[];
  readonly logger: Pick<Logger, 'warn'>;
}

/**
 * Tries again after failures that may heal, once per delay, and throws the last failure. Where the
 * remote asks for a wait of more than two seconds, the failure is thrown at once: whoever asked tells it and comes later.
 * The first failure is told, so that nobody waits without knowing what for. For start-up checks: polls are not retried here,
 * the next poll is their retry.
 */
export async function withRetries<T>(run: () => Promise<T>, { delaysMs, logger }: Retries, signal: AbortSignal): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      const wait = delaysMs[tries];
      if (wait === undefined || !(error instanceof TrackerError) || !error.retryable) throw error;
      if ((error.retryAfterMs ?? 0) > LONGEST_WAIT_MS) throw error;
      if (tries === 0) logger.warn('the tracker cannot be read yet, trying again', { error: error.message });
      await pause(Math.max(wait, error.retryAfterMs ?? 0), signal);
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    // The timer rejects with an AbortError of its own; callers expect the reason they gave.
    throw signal.aborted ? signal.reason : error;
  }
}
