import type { RunningDaemon } from '../app/daemon/daemon.ts';
import type { Logger } from '../ports/runtime.ts';
import { onSignals } from './signals.ts';

/**
 * Runs the service to its end. Null where it ended as asked, or what it failed of: an interrupted start-up is what was
 * asked for, a service that failed while it stopped is not.
 */
export async function untilStopped(
  start: () => Promise<Pick<RunningDaemon, 'stop' | 'done'>>,
  interrupted: AbortSignal,
): Promise<Error | null> {
  let isStarted = false;
  try {
    const daemon = await start();
    isStarted = true;
    if (interrupted.aborted) daemon.stop();
    await daemon.done;
    return null;
  } catch (error) {
    if (interrupted.aborted && !isStarted) return null;
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The same until somebody interrupts it: the first signal stops it, or its start, and the second ends it at once. */
export async function untilInterrupted(
  start: (interrupted: AbortSignal) => Promise<RunningDaemon>,
  logger: Pick<Logger, 'info' | 'warn'>,
): Promise<Error | null> {
  const interrupted = new AbortController();
  let daemon: RunningDaemon | null = null;
  const signals = onSignals({
    stop(signal) {
      logger.info('stopping', { signal });
      interrupted.abort(new Error(`interrupted by ${signal}`));
      daemon?.stop();
    },
    force(signal, code) {
      logger.warn('stopping at once', { signal });
      daemon?.kill();
      process.exit(code);
    },
  });
  const failure = await untilStopped(async () => (daemon = await start(interrupted.signal)), interrupted.signal);
  signals.release();
  return failure;
}
