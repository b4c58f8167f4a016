import { startFaultAfter, type StartFault } from '../../domain/views/start-fault.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { Clock } from '../../ports/runtime.ts';

export interface FollowedStart {
  fault(): StartFault | null;
  stop(): void;
}

/** Why the tracker could not be read at start: no loop runs by then, so that no state tells. */
export function followStart(notices: Pick<NoticeBus, 'listen'>, clock: Clock): FollowedStart {
  let fault: StartFault | null = null;
  const stop = notices.listen((notice) => {
    fault = startFaultAfter(notice, fault, clock.now());
  });
  return { fault: () => fault, stop };
}
