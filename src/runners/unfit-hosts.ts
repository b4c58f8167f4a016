import type { RunPlan } from '../domain/model/effect.ts';
import type { RunExit } from '../domain/model/event.ts';
import type { Clock } from '../ports/runtime.ts';

/** So long others are asked first, and at least until the issue that failed there is tried again. */
const PASSED_OVER_MS = 60_000;
/** The longest wait of an issue, as a share of the longest back-off. */
const WITH_JITTER = 1.1;

/** Faults of the place a run was at, whatever its issue. */
const OF_THE_PLACE: ReadonlySet<string> = new Set(['agent_not_found', 'agent_not_logged_in']);

/** Hosts that lack what a run needs, such as the agent's program: others are asked first, where there are any. */
export interface UnfitHosts {
  /** Hears how a run there ended. */
  heardExit(host: string, plan: Pick<RunPlan, 'settings'>, exit: RunExit): void;
  note(host: string, plan: Pick<RunPlan, 'settings'>, why: string): void;
  /** What was found to be wrong with it, or null. */
  problemOf(host: string): string | null;
}

export function createUnfitHosts(clock: Clock): UnfitHosts {
  const found = new Map<string, { readonly why: string; readonly until: number }>();
  const note: UnfitHosts['note'] = (host, { settings }, why) => {
    const until = clock.now() + PASSED_OVER_MS + settings.agent.maxRetryBackoffMs * WITH_JITTER;
    found.set(host, { why, until });
  };
  return {
    note,
    heardExit(host, plan, { kind, fault }) {
      if (fault !== null && OF_THE_PLACE.has(fault.kind)) note(host, plan, fault.message);
      else if (kind === 'normal') found.delete(host);
    },
    problemOf(host) {
      const problem = found.get(host);
      if (problem !== undefined && problem.until <= clock.now()) found.delete(host);
      return found.get(host)?.why ?? null;
    },
  };
}
