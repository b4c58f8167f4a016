import { TrackerError } from '../../domain/model/errors.ts';
import type { PreflightOptions } from '../../ports/tracker.ts';
import { withRetries, type RetryDeps } from '../shared/retry.ts';
import { KIND } from './settings.ts';

export interface PreflightParts {
  /** The first page of the candidates, which the first poll then has for nothing. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  readonly retryDelaysMs: readonly number[];
  readonly deps: RetryDeps;
}

/** Failures that no waiting heals: a wrong token, a wrong repository. */
const PREFLIGHT_STOPS: ReadonlySet<string> = new Set(['tracker_auth_error', 'tracker_not_found']);

/**
 * A wrong token or repository ends start-up. A remote that is only away does not: the first poll asks it again. One that
 * asks to wait is left alone until then, by whoever starts.
 */
export async function preflight(
  { probe, retryDelaysMs, deps }: PreflightParts,
  { mustAnswer = false }: PreflightOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withRetries(() => probe(signal), { delaysMs: retryDelaysMs, deps }, signal);
  } catch (error) {
    if (!(error instanceof TrackerError) || mustAnswer || PREFLIGHT_STOPS.has(error.kind) || error.asksToWait) throw error;
    deps.logger.warn('tracker preflight failed for now, starting all the same', { tracker_kind: KIND, error: error.message });
  }
}
