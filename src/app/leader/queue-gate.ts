import type { RunPlan } from '../../domain/model/effect.ts';
import type { Event, EventNamed } from '../../domain/model/event.ts';
import { settingsFor, type State } from '../../domain/model/state.ts';
import { restText, whyHeldBack } from '../../domain/rules/queued-run.ts';

/** Tells what keeps a run back that waits in the queue, by what its loop knows. */
export interface QueueGate {
  /** Hears what is on its way to the loop, which stores before it knows: a slot is free again before that. */
  hear(event: Event): void;
  /** In words; null where it may start. */
  heldBack(plan: Pick<RunPlan, 'settings'>): string | null;
}

export function createQueueGate(state: () => State): QueueGate {
  let met: readonly EventNamed<'run-exited'>[] = [];
  const onTheWay = (now: State) => met.filter(({ issueId, runId }) => now.live.get(issueId)?.runId === runId);
  return {
    hear(event) {
      if (event.type === 'run-exited' && event.exit.fault?.consequence === 'pause-agent') met = [...onTheWay(state()), event];
    },
    heldBack({ settings }) {
      const now = state();
      const { kind } = settings.agent;
      met = onTheWay(now);
      return whyHeldBack(now, kind) ?? limitMet(now, met, kind);
    },
  };
}

/** The limit of an agent that a run met and the loop does not know of yet. */
function limitMet(state: State, met: readonly EventNamed<'run-exited'>[], agentKind: string): string | null {
  const own = met.find(({ issueId }) => settingsFor(state, issueId).agent.kind === agentKind);
  return own === undefined ? null : restText({ agentKind, reason: own.exit.fault?.message ?? '' });
}
