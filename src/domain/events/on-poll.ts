import { announce, ask, change, changePoll, park, putParked, settle, unpark, type Draft } from '../draft.ts';
import { blockerHold, inDispatchOrder, cheapHold, globalSlots, slotHold, type HoldVerdict } from '../rules/eligibility.ts';
import type { Answer } from '../model/answer.ts';
import type { Event } from '../model/event.ts';
import { refOf, sameState, type Blocker, type Issue } from '../model/issue.ts';
import { reconcile } from './on-issue-states.ts';
import { startRun } from './start-run.ts';
import type { Hold, HoldReason, PollInFlight, State } from '../model/state.ts';

/** At most this many issues have their blockers read in one poll. */
const BLOCKER_READS_PER_POLL = 4;
/** At most this many parked issues are looked up in one poll: some trackers take one request for each. */
const PARKED_LOOKUPS_PER_POLL = 20;

/** Asks for candidates and for the states of everything we hold. */
export function beginPoll(draft: Draft): void {
  const asked = idsToLookUp(draft.state);
  changePoll(draft, {
    inFlight: { startedAt: draft.now, asked, releasedMeanwhile: new Set(), candidates: null },
    begunAt: draft.now,
    refreshAt: null,
  });
  ask(draft, { do: 'poll', lookups: asked });
}

/** First reconciles what runs, then looks at the candidates. */
export function onPollAnswered(draft: Draft, event: Extract<Event, { type: 'poll-answered' }>): void {
  settle(draft, 'poll', '');
  const inFlight = draft.state.poll.inFlight;
  if (inFlight === null) return;
  notePreflight(draft, event.preflightProblem);
  reconcile(draft, inFlight.asked, event.states);
  if (!event.candidates.ok) {
    endPoll(draft, inFlight, { candidates: 0, dispatched: 0, error: event.candidates.fault.message });
    return;
  }
  const candidates = inDispatchOrder(event.candidates.value);
  releaseMovedParked(draft, candidates);
  const needy = blockersToRead(draft.state, candidates);
  if (needy.length === 0) {
    dispatch(draft, inFlight, candidates, new Map());
    return;
  }
  changePoll(draft, { inFlight: { ...inFlight, candidates }, blockersReadAt: noteReads(draft, candidates, needy) });
  ask(draft, { do: 'read-blockers', issues: needy.map(refOf) });
}

export function onBlockersAnswered(draft: Draft, event: Extract<Event, { type: 'blockers-answered' }>): void {
  settle(draft, 'read-blockers', '');
  const inFlight = draft.state.poll.inFlight;
  if (inFlight?.candidates == null) return;
  dispatch(draft, inFlight, inFlight.candidates, event.blockers);
}

/** Walks the candidates in order: each one is started or gets a reason why not. */
function dispatch(
  draft: Draft,
  inFlight: PollInFlight,
  candidates: readonly Issue[],
  read: ReadonlyMap<string, Answer<readonly Blocker[]>>,
): void {
  const holds = new Map<string, Hold>();
  let dispatched = 0;
  for (const issue of candidates) {
    const verdict = holdOf(draft.state, issue, read.get(issue.id));
    if (verdict === null) {
      startRun(draft, refOf(issue), { attempt: 0, failures: 0, refusals: 0, trigger: 'fresh', sessionId: null, reaction: null });
      dispatched += 1;
      continue;
    }
    holds.set(issue.id, noteHold(draft, issue, verdict));
    if (isBudget(verdict.reason)) park(draft, refOf(issue), verdict.reason, verdict.detail);
  }
  change(draft, { holds });
  if (holds.size > 0) announce(draft, 'poll:holds:counted', { counts: countReasons(holds) });
  endPoll(draft, inFlight, { candidates: candidates.length, dispatched, error: null });
}

/** Every dispatch filter, cheapest first. The dry run applies the same one. */
export function holdOf(state: State, issue: Issue, read: Answer<readonly Blocker[]> | undefined): HoldVerdict | null {
  return cheapHold(state, issue) ?? blockersVerdict(state, issue, read) ?? slotHold(state, issue.state);
}

/** The candidates whose blockers must be read before they may run: those read longest ago first. */
export function blockersToRead(state: State, candidates: readonly Issue[]): readonly Issue[] {
  if (globalSlots(state) <= 0) return [];
  const needy = candidates.filter(
    (issue) => issue.blockedBy === null && cheapHold(state, issue) === null && slotHold(state, issue.state) === null,
  );
  const readAt = (issue: Issue): number => state.poll.blockersReadAt.get(issue.id) ?? 0;
  return [...needy].sort((a, b) => readAt(a) - readAt(b)).slice(0, BLOCKER_READS_PER_POLL);
}

function blockersVerdict(state: State, issue: Issue, read: Answer<readonly Blocker[]> | undefined): HoldVerdict | null {
  if (issue.blockedBy !== null) return blockerHold(state, issue.blockedBy);
  if (read === undefined) return { reason: 'blockers_not_read', detail: 'its blockers wait to be read at a later poll' };
  if (!read.ok) return { reason: 'blockers_unresolved', detail: `its blockers could not be read: ${read.fault.message}` };
  return blockerHold(state, read.value);
}

/** Ids we need the tracker's word on: everything that runs, and in turn what is parked (to see it moved). */
function idsToLookUp(state: State): readonly string[] {
  const parked = [...state.parked.keys()];
  const first = parked.length === 0 ? 0 : (state.poll.count * PARKED_LOOKUPS_PER_POLL) % parked.length;
  const turn = [...parked.slice(first), ...parked.slice(0, first)].slice(0, PARKED_LOOKUPS_PER_POLL);
  return [...state.live.keys(), ...turn];
}

function noteReads(draft: Draft, candidates: readonly Issue[], needy: readonly Issue[]): ReadonlyMap<string, number> {
  const present = new Set(candidates.map((issue) => issue.id));
  const kept = [...draft.state.poll.blockersReadAt].filter(([id]) => present.has(id));
  return new Map([...kept, ...needy.map((issue) => [issue.id, draft.now] as const)]);
}

/** A parked issue that the candidate list shows in another state has been touched by a person. */
function releaseMovedParked(draft: Draft, candidates: readonly Issue[]): void {
  for (const issue of candidates) {
    const parked = draft.state.parked.get(issue.id);
    if (parked === undefined) continue;
    if (parked.stateAtPark === null) putParked(draft, { ...parked, stateAtPark: issue.state });
    else if (!sameState(parked.stateAtPark, issue.state)) unpark(draft, parked, `its state changed to "${issue.state}"`);
  }
}

function noteHold(draft: Draft, issue: Issue, verdict: HoldVerdict): Hold {
  const before = draft.state.holds.get(issue.id);
  const isNew = before?.reason !== verdict.reason;
  if (isNew) announce(draft, 'issue:candidate:held', { issue: refOf(issue), ...verdict });
  return { issue: refOf(issue), ...verdict, since: isNew ? draft.now : (before?.since ?? draft.now) };
}

function countReasons(holds: ReadonlyMap<string, Hold>): Partial<Record<HoldReason, number>> {
  const counts: Partial<Record<HoldReason, number>> = {};
  for (const { reason } of holds.values()) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

function isBudget(reason: string): reason is 'session_budget' | 'token_budget' | 'cost_budget' {
  return reason === 'session_budget' || reason === 'token_budget' || reason === 'cost_budget';
}

function notePreflight(draft: Draft, problem: string | null): void {
  if (problem === draft.state.preflightProblem) return;
  change(draft, { preflightProblem: problem });
  if (problem === null) announce(draft, 'poll:preflight:passed', {});
  else announce(draft, 'poll:preflight:failed', { problem });
}

function endPoll(
  draft: Draft,
  inFlight: PollInFlight,
  result: { candidates: number; dispatched: number; error: string | null },
): void {
  const durationMs = draft.now - inFlight.startedAt;
  const nextAt = Math.max(draft.now, inFlight.startedAt + draft.state.settings.polling.intervalMs);
  const last = { at: draft.now, durationMs, candidates: result.candidates, error: result.error };
  changePoll(draft, { inFlight: null, nextAt, count: draft.state.poll.count + 1, last });
  if (result.error !== null) {
    announce(draft, 'poll:tick:failed', { error: result.error, durationMs });
    return;
  }
  const { running, retrying } = countClaims(draft.state);
  announceTick(draft, { candidates: result.candidates, dispatched: result.dispatched, running, retrying, durationMs });
}

/** The tick's record comes before the work it started, so that the log reads in order. */
function announceTick(
  draft: Draft,
  facts: { candidates: number; dispatched: number; running: number; retrying: number; durationMs: number },
): void {
  const firstStart = draft.effects.findIndex((effect) => effect.do === 'start-run');
  const tick = { do: 'announce', notice: { name: 'poll:tick:completed', facts } } as const;
  draft.effects.splice(firstStart < 0 ? draft.effects.length : firstStart, 0, tick);
}

export function countClaims(state: State): { readonly running: number; readonly retrying: number } {
  const claims = [...state.claims.values()];
  const retrying = claims.filter((claim) => claim.phase === 'waiting').length;
  return { running: claims.length - retrying, retrying };
}
