import { setTimeout as delay } from 'node:timers/promises';
import { TrackerError } from '../../domain/model/errors.ts';

/** The longest wait a remote may ask for before a preflight gives up being patient. */
const LONGEST_WAIT_MS = 30_000;

/**
 * Tries again after failures that may heal, once per delay, and throws the last failure. A longer wait asked for by the
 * remote is honoured up to 30 s. For start-up checks: polls are not retried here, the next poll is their retry.
 */
export async function withRetries<T>(run: () => Promise<T>, delaysMs: readonly number[], signal: AbortSignal): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      const wait = delaysMs[tries];
      if (wait === undefined || !(error instanceof TrackerError) || !error.retryable) throw error;
      await pause(Math.max(wait, Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS)), signal);
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
