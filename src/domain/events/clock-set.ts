import { change, changePoll, putClaim, putLive, putOutbox, putPause, putWatch, type Draft } from '../draft.ts';
import type { Claim } from '../model/claim.ts';
import type { PollState } from '../model/poll.ts';
import type { Live } from '../model/state.ts';
import type { ReactionProgress, RequestFacts, Watch } from '../model/watch.ts';
import { MAX_WRITE_DELAY_MS } from './on-outbox.ts';

/**
 * Somebody set the wall clock. What counts from a moment moves along with it: intervals stay as long as they were, so
 * that nothing waits for an hour that was set back, and no healthy turn is out of time after one that was set forward.
 */
export function onClockJumped(draft: Draft, byMs: number): void {
  const { state } = draft;
  change(draft, { startedAt: state.startedAt + byMs, drainBy: later(state.drainBy, byMs) });
  change(draft, { endingElsewhere: new Map([...state.endingElsewhere].map(([id, until]) => [id, until + byMs])) });
  changePoll(draft, shiftedPoll(state.poll, byMs));
  for (const live of state.live.values()) putLive(draft, shiftedLive(live, byMs));
  for (const claim of state.claims.values()) {
    if (claim.phase === 'waiting') putClaim(draft, { ...claim, since: claim.since + byMs, dueAt: claim.dueAt + byMs });
  }
  for (const entry of state.outbox.values()) putOutbox(draft, { ...entry, dueAt: entry.dueAt + byMs });
  for (const pause of state.pauses.values()) putPause(draft, { ...pause, until: pause.until + byMs });
  for (const watch of state.watches.values()) {
    putWatch(
      draft,
      withProgress(
        { ...watch, armedAt: watch.armedAt + byMs, facts: shiftedFacts(watch.facts, byMs) },
        (nextAt) => nextAt + byMs,
      ),
    );
  }
}

/**
 * Nobody was there to hear an agent, which may have been suspended along with us: a turn has as much time left as it had.
 * What fell due meanwhile is due.
 */
export function onWokeLate(draft: Draft, byMs: number): void {
  for (const live of draft.state.live.values()) putLive(draft, { ...shiftedLive(live, byMs), startedAt: live.startedAt });
}

/** Looks at a merge request are never further apart than this, unless their interval is longer. */
const MAX_LOOK_DELAY_MS = 5 * 60_000;

/**
 * After a start: no stored due time is further ahead than its own delay. The clock may have been wrong when it was
 * written, or may be now.
 */
export function clampDueTimes(draft: Draft): void {
  const { state, now } = draft;
  for (const claim of state.claims.values()) {
    const latest = latestDue(claim, now);
    if (claim.phase === 'waiting' && claim.dueAt > latest) putClaim(draft, { ...claim, since: now, dueAt: latest });
  }
  for (const entry of state.outbox.values()) {
    if (entry.dueAt > now + MAX_WRITE_DELAY_MS) putOutbox(draft, { ...entry, dueAt: now + MAX_WRITE_DELAY_MS });
  }
  for (const watch of state.watches.values()) {
    const isLate = Object.values(watch.reactions).some((progress) => progress.nextAt > watch.armedAt && watch.armedAt > now);
    if (isLate)
      putWatch(
        draft,
        withProgress({ ...watch, armedAt: now }, (nextAt) => Math.min(nextAt, now + MAX_LOOK_DELAY_MS)),
      );
  }
}

function latestDue(claim: Claim, now: number): number {
  return claim.phase === 'waiting' ? now + Math.max(0, claim.dueAt - claim.since) : Infinity;
}

function shiftedPoll(poll: PollState, byMs: number): PollState {
  return {
    ...poll,
    nextAt: poll.nextAt + byMs,
    waitsUntil: poll.waitsUntil + byMs,
    refreshAt: later(poll.refreshAt, byMs),
    begunAt: poll.begunAt + byMs,
    postponed: poll.postponed && { ...poll.postponed, until: poll.postponed.until + byMs },
    cleanupAt: later(poll.cleanupAt, byMs),
    inFlight: poll.inFlight && { ...poll.inFlight, startedAt: poll.inFlight.startedAt + byMs },
    last: poll.last && { ...poll.last, at: poll.last.at + byMs },
  };
}

function shiftedLive(live: Live, byMs: number): Live {
  return {
    ...live,
    startedAt: live.startedAt + byMs,
    turnStartedAt: later(live.turnStartedAt, byMs),
    lastEventAt: live.lastEventAt + byMs,
    savedAt: live.savedAt + byMs,
    toolsSince: later(live.toolsSince, byMs),
    openTools: Object.fromEntries(
      Object.entries(live.openTools).map(([id, tool]) => [id, { ...tool, startedAt: tool.startedAt + byMs }]),
    ),
  };
}

function withProgress(watch: Watch, moved: (nextAt: number) => number): Watch {
  const reactions = Object.entries(watch.reactions).map(([kind, progress]: [string, ReactionProgress]) => [
    kind,
    { ...progress, nextAt: moved(progress.nextAt) },
  ]);
  return { ...watch, reactions: Object.fromEntries(reactions) as Watch['reactions'] };
}

function shiftedFacts(facts: RequestFacts, byMs: number): RequestFacts {
  return { ...facts, closedAt: later(facts.closedAt, byMs) };
}

function later(moment: number | null, byMs: number): number | null {
  return moment === null ? null : moment + byMs;
}
