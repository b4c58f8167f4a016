import type { Hold, HoldReason } from '../model/hold.ts';
import { presentHold, type Moment } from '../rules/eligibility.ts';

/** A hold of the last poll as it is now. */
export function presentOf(moment: Moment, hold: Hold): Hold {
  const verdict = presentHold(moment, hold);
  return { ...hold, ...verdict, since: heldSince(moment, hold, verdict.reason) };
}

/** Since when it is held for this reason. Of one that nobody wrote down the time of, since the last poll: that found another. */
function heldSince({ state, now }: Moment, hold: Hold, reason: HoldReason): number {
  const { claims, parked, operatorPause, poll } = state;
  const claim = claims.get(hold.issue.id);
  const own = reason === 'parked' ? parked.get(hold.issue.id)?.parkedAt : CLAIMED.has(reason) ? claim?.since : undefined;
  if (own !== undefined) return own;
  if (reason === hold.reason) return hold.since;
  const dueAt = claim?.phase === 'waiting' && claim.dueAt <= now ? claim.dueAt : 0;
  const begun = reason === 'paused' ? operatorPause?.since : poll.last?.at;
  return Math.max(hold.since, begun ?? 0, dueAt);
}

const CLAIMED: ReadonlySet<HoldReason> = new Set(['running', 'retrying', 'handing_off']);
