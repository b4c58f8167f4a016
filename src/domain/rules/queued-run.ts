import type { AgentPause } from '../model/claim.ts';
import type { OperatorPause } from '../model/operator.ts';
import { settingsFor, type Live, type State } from '../model/state.ts';
import { pauseDetail } from './eligibility.ts';

/** What was dispatched and has no worker yet has not begun: a pause holds it back as it does what is to be dispatched. */
export interface Pauses {
  readonly operatorPause: OperatorPause | null;
  readonly pauses: { values(): Iterable<AgentPause> };
}

/** For people: what keeps a run of this agent back that no worker has yet; null where it only waits for one. */
export function whyHeldBack({ operatorPause, pauses }: Pauses, agentKind: string): string | null {
  if (operatorPause !== null) return `waits in the queue: ${pauseDetail(operatorPause)}`;
  const rest = [...pauses.values()].find((pause) => pause.agentKind === agentKind);
  return rest === undefined ? null : restText(rest);
}

/** Without its end, which is not known before the limit is stored. */
export function restText({ agentKind, reason }: Pick<AgentPause, 'agentKind' | 'reason'>): string {
  return `waits in the queue: the agent ${agentKind} rests: ${reason}`;
}

/** Whether a run waits in the queue: it is for workers, and none of them has it yet. */
export function isQueued(state: State, { issue, host, workspacePath }: Live): boolean {
  return host === null && workspacePath === '' && settingsFor(state, issue.id).agent.runOn !== null;
}
