import type { AgentSettings } from '../../domain/model/settings.ts';

/** How the grace of a stop is shared out. */
export interface StopPatience {
  /** How long an interrupted agent may take to give in. */
  readonly interruptMs: number;
  /** How long it has from then on to leave before it is killed. */
  readonly leaveMs: number;
}

/** Half of the grace at most is for the interrupt, the rest for ending the group: the whole stop keeps to it. */
export function stopPatience({ readTimeoutMs, stopGraceMs }: Pick<AgentSettings, 'readTimeoutMs' | 'stopGraceMs'>): StopPatience {
  const interruptMs = Math.min(readTimeoutMs, stopGraceMs / 2);
  return { interruptMs, leaveMs: Math.max(stopGraceMs - interruptMs, 1) };
}
