import { TrackerError } from '../../domain/model/errors.ts';
import type { Notice, Notices } from '../../domain/model/notice.ts';
import type { TellRetry } from '../../ports/provider.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { PreflightOptions, Tracker } from '../../ports/tracker.ts';

/** A tracker that has not answered by then is told of: nobody should look at silence. */
const PATIENCE_MS = 800;

/**
 * Proves credentials and project. An answer that came as rubbish is asked for once more: it may have been spoiled on its
 * way. A remote that only asks to wait does not end the start: its wait is returned, that of a poll where it names none.
 */
export async function proveTracker(
  tracker: Tracker,
  tell: TellSilence,
  {
    pollMs,
    mustAnswer = false,
    signal,
  }: { readonly pollMs: number; readonly mustAnswer?: boolean; readonly signal: AbortSignal },
): Promise<Notices['tracker:start:postponed'] | null> {
  try {
    const options = mustAnswer ? { mustAnswer } : undefined;
    await answeredOrTold(tracker, tell, signal, options).catch((error: unknown) => {
      if (!(error instanceof TrackerError) || !error.isGarbled) throw error;
      return answeredOrTold(tracker, tell, signal, options);
    });
    return null;
  } catch (error) {
    if (!(error instanceof TrackerError) || !error.retryable) throw error;
    const { retryAfterMs = error.isLimit ? pollMs : null } = error;
    if (retryAfterMs === null) throw error;
    return { error: error.message, kind: error.kind, retryInMs: retryAfterMs };
  }
}

/** Says that a tracker of this kind takes long to answer. */
export type TellSilence = (kind: string) => void;

/** The tracker's own check; one that takes long is told of. */
export async function answeredOrTold(
  tracker: Tracker,
  tell: TellSilence,
  signal: AbortSignal,
  options?: PreflightOptions,
): Promise<void> {
  await whileTold(tracker, tell, async () => tracker.preflight?.(signal, options));
}

/** Does what may have to wait for the tracker; that it waits is told of. */
export function whileTold<T>({ kind }: Tracker, tell: TellSilence, work: () => Promise<T>): Promise<T> {
  return toldIfSlow(work, PATIENCE_MS, () => tell(kind));
}

/** For who listens to records alone. */
export function silenceTo(logger: Pick<Logger, 'warn'>): TellSilence {
  return (kind) => logger.warn('the tracker has not answered yet, still trying', { tracker_kind: kind });
}

/** For all who listen: the log, the page and `foray status`. */
export function silenceIn(announce: (notice: Notice) => void): TellSilence {
  return (kind) => announce({ name: 'tracker:answer:awaited', facts: { kind } });
}

/** The same for a read at start that failed and is tried again. */
export function retriesIn(announce: (notice: Notice) => void): TellRetry {
  return (facts) => announce({ name: 'tracker:start:failed', facts });
}

/** Both of a start. What has failed is told with its cause: that nothing was answered would be wrong after it. */
export function startReporters(announce: (notice: Notice) => void): {
  readonly tellRetry: TellRetry;
  readonly tellSilence: TellSilence;
} {
  const [tellRetry, tellSilence] = [retriesIn(announce), silenceIn(announce)];
  let hasFailed = false;
  return {
    tellRetry(facts) {
      hasFailed = true;
      tellRetry(facts);
    },
    tellSilence: (kind) => (hasFailed ? undefined : tellSilence(kind)),
  };
}

/** The same tracker, whose check is made before its first poll where the start could not make it. */
export function checkBeforePolls(tracker: Tracker): Tracker {
  let isOwed = false;
  const preflight: Tracker['preflight'] = async (signal, options) => {
    isOwed = true;
    await tracker.preflight?.(signal, options);
    isOwed = false;
  };
  return {
    ...tracker,
    preflight,
    async fetchCandidateIssues(signal) {
      if (isOwed) await preflight(signal);
      return tracker.fetchCandidateIssues(signal);
    },
  };
}

/** A poll that takes longer is told of. */
const POLL_PATIENCE_MS = 2000;

/** The same tracker, whose slow polls are told of: the first one, and again after a quick one. */
export function tellSlowPolls(tracker: Tracker, tellSilence: TellSilence): Tracker {
  let isTold = false;
  return {
    ...tracker,
    async fetchCandidateIssues(signal) {
      let isSlow = false;
      const tell = (): void => {
        isSlow = true;
        if (!isTold) tellSilence(tracker.kind);
        isTold = true;
      };
      const issues = await toldIfSlow(() => tracker.fetchCandidateIssues(signal), POLL_PATIENCE_MS, tell);
      if (!isSlow) isTold = false;
      return issues;
    },
  };
}

async function toldIfSlow<T>(work: () => Promise<T>, patienceMs: number, tell: () => void): Promise<T> {
  const timer = setTimeout(tell, patienceMs);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}
