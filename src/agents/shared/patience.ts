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

/** How long after the end of a turn its last figures may come. Nearly all agents tell them before. */
export const LATE_FIGURES_MS = 400;

/** The default of `agent.read_timeout_ms`. */
const DEFAULT_MS = 5_000;
/** For servers and models that have to be loaded. */
const LEAST_MS = 60_000;

/** How long an agent that is started may take to get ready. Less than the default is what the operator asked for. */
export function startPatience({ readTimeoutMs }: { readonly readTimeoutMs: number }): number {
  return readTimeoutMs < DEFAULT_MS ? readTimeoutMs : Math.max(readTimeoutMs, LEAST_MS);
}
