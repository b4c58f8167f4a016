import type { RunningDaemon } from '../app/daemon/daemon.ts';

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
