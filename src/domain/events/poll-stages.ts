import { announce, changePoll, type Draft } from '../draft.ts';
import type { Fault } from '../model/fault.ts';
import type { HoldCounts } from '../model/hold.ts';
import type { Notices } from '../model/notice.ts';
import { NO_QUEUE, type PollInFlight, type PollStage } from '../model/poll.ts';
import { remedyFor } from '../model/remedies.ts';
import type { State } from '../model/state.ts';
import { LONGEST_WAIT_MS } from '../rules/quota.ts';
import { pollInterval } from './on-quotas.ts';

/** Something changed: a poll comes at that moment, or right after the one under way, which may have read before it. */
export function pollAgain(draft: Draft, at: number): void {
  const { inFlight, nextAt } = draft.state.poll;
  changePoll(draft, inFlight ? { inFlight: { ...inFlight, again: true } } : { nextAt: Math.min(nextAt, at) });
}

/** The same as soon as the tracker wants to be asked again. A poll that waits for its quota waits on. */
export function pollSoon(draft: Draft): void {
  const { lifecycle, poll } = draft.state;
  if (lifecycle === 'serving' && poll.postponed === null) pollAgain(draft, Math.max(draft.now, poll.waitsUntil));
}

/** What was listed under other settings is not started from: neither what waits for a slot, nor what a poll under way brings. */
export function dropCandidates(draft: Draft): void {
  const { inFlight } = draft.state.poll;
  changePoll(draft, { queue: NO_QUEUE, inFlight: inFlight && { ...inFlight, isOutdated: true } });
}

/** The poll under way goes on with this. */
export function enter(draft: Draft, stage: PollStage): void {
  const { inFlight } = draft.state.poll;
  if (inFlight) changePoll(draft, { inFlight: { ...inFlight, stage } });
}

/** Notes what a poll came to, and when the next one is due. */
export function endPoll(
  draft: Draft,
  inFlight: PollInFlight,
  result: { candidates: number; dispatched: number; held?: HoldCounts; fault: Fault | null },
): void {
  const durationMs = draft.now - inFlight.startedAt;
  const { fault } = result;
  const allowedAt = draft.now + Math.min(fault?.retryAfterMs ?? 0, LONGEST_WAIT_MS);
  const plannedAt = Math.max(allowedAt, inFlight.startedAt + pollInterval(draft));
  const waitsUntil = fault?.isLimit === true ? plannedAt : allowedAt;
  // What the poll itself came to may ask for another one.
  const nextAt = draft.state.poll.inFlight?.again ? waitsUntil : plannedAt;
  const remedy = fault === null ? null : remedyFor(fault.kind, fault.message);
  const last = { at: draft.now, durationMs, candidates: result.candidates, error: fault?.message ?? null, remedy };
  const failures = fault === null ? 0 : draft.state.poll.failures + 1;
  changePoll(draft, { inFlight: null, nextAt, waitsUntil, failures, count: draft.state.poll.count + 1, last });
  if (fault !== null) {
    const { kind, message: error } = fault;
    const isAsked = allowedAt > inFlight.startedAt + pollInterval(draft);
    announce(draft, 'poll:tick:failed', {
      error,
      kind,
      retryInMs: nextAt - draft.now,
      durationMs,
      ...(isAsked && { waitsUntil: allowedAt }),
    });
    return;
  }
  const { candidates, dispatched, held = {} } = result;
  announceTick(draft, { candidates, dispatched, ...countClaims(draft.state), durationMs, held });
}

/** The tick's record comes before the work it started, so that the log reads in order. */
function announceTick(draft: Draft, facts: Notices['poll:tick:completed']): void {
  const firstStart = draft.effects.findIndex((effect) => effect.do === 'start-run');
  const tick = { do: 'announce', notice: { name: 'poll:tick:completed', facts } } as const;
  draft.effects.splice(firstStart < 0 ? draft.effects.length : firstStart, 0, tick);
}

function countClaims(state: State): { readonly running: number; readonly retrying: number } {
  return { running: state.occupied, retrying: state.claims.size - state.occupied };
}
