import { TrackerError } from '../domain/model/errors.ts';
import type { Notices } from '../domain/model/notice.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Tracker } from '../ports/tracker.ts';

/** A tracker that has not answered by then is told of: nobody should look at silence. */
const PATIENCE_MS = 800;

/** Proves credentials and project. A remote that only asks to wait does not end the start: its wait is returned. */
export async function proveTracker(
  tracker: Tracker,
  logger: Logger,
  signal: AbortSignal,
): Promise<Notices['tracker:start:postponed'] | null> {
  try {
    await answeredOrTold(tracker, logger, signal);
    return null;
  } catch (error) {
    if (!(error instanceof TrackerError) || !error.retryable || error.retryAfterMs === undefined) throw error;
    return { error: error.message, kind: error.kind, retryInMs: error.retryAfterMs };
  }
}

/** The tracker's own check; one that takes long is told of. */
export async function answeredOrTold(tracker: Tracker, logger: Logger, signal: AbortSignal): Promise<void> {
  const timer = setTimeout(
    () => logger.warn('the tracker has not answered yet, still trying', { tracker_kind: tracker.kind }),
    PATIENCE_MS,
  );
  try {
    await tracker.preflight?.(signal);
  } finally {
    clearTimeout(timer);
  }
}
