import { announce, putClaim, putPause, type Draft } from '../draft.ts';
import type { AgentPause } from '../model/claim.ts';

/** A limit was met. Of two that hold at once the longer one counts; what waits for the shorter one waits as long. */
export function pauseAgent(draft: Draft, pause: AgentPause): AgentPause {
  const before = draft.state.pauses.get(pause.agentKind);
  if (before !== undefined && before.until >= pause.until) return before;
  if (before !== undefined) moveWaiting(draft, before.until, pause.until);
  putPause(draft, pause);
  announce(draft, 'agent:kind:paused', pause);
  return pause;
}

/** A run that met a limit is due at the moment at which the pause of its agent ends. */
function moveWaiting(draft: Draft, from: number, to: number): void {
  for (const claim of draft.state.claims.values()) {
    if (claim.phase !== 'waiting' || claim.then.kind !== 'run' || claim.dueAt !== from) continue;
    putClaim(draft, { ...claim, since: draft.now, dueAt: to });
  }
}
