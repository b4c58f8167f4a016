import type { Live } from '../model/state.ts';

/** The time in tools when a call has ended. Calls that overlap take theirs once: it is a share of the run's own. */
export function toolTime(live: Live, stillOpen: Live['openTools'], now: number): Pick<Live, 'toolMs' | 'toolsSince'> {
  const { toolMs, toolsSince } = live;
  if (toolsSince === null) return { toolMs, toolsSince };
  const isBusy = Object.keys(stillOpen).length > 0;
  return { toolMs: (toolMs ?? 0) + now - toolsSince, toolsSince: isBusy ? now : null };
}
