import { announce, ask, change, changePoll, park, settle, type Draft } from '../draft.ts';
import { globalSlots, inDispatchOrder, isSlotTaken, waitsForSlot } from '../rules/eligibility.ts';
import { type Fault } from '../model/errors.ts';
import { remedyFor } from '../model/remedies.ts';
import type { EventNamed } from '../model/event.ts';
import { refOf, type Issue, type IssueRef } from '../model/issue.ts';
import type { Hold, HoldReason } from '../model/hold.ts';
import type { DispatchStage, PollInFlight, PollStage } from '../model/poll.ts';
import type { State } from '../model/state.ts';
import { mapOf, withEntries } from '../model/versioned-map.ts';
import { FIRST_SIGHTS_PER_POLL, isFirstSight, noteApproval, readFirstSights } from './approval.ts';
import { lanesOf } from './fill-slots.ts';
import { pollInterval } from './on-quotas.ts';
import { reconcile } from './on-issue-states.ts';
import { FIRST_START, startRun } from './start-run.ts';
import { holdOf, blockersToRead } from '../rules/dispatch-filters.ts';
import { TOLD_EACH, noteHold } from './note-hold.ts';
import { forgetSpent, remindOfSpent } from './spent.ts';
import { idsToLookUp, releaseMovedParked } from './lookups.ts';
import { isBudget } from '../rules/budget.ts';

/** So many candidates are looked at before everything else gets its turn. */
export const CANDIDATES_PER_SLICE = 2_000;

/** Asks for candidates and for the states of everything we hold. */
export function beginPoll(draft: Draft): void {
  const asked = idsToLookUp(draft.state);
  changePoll(draft, {
    inFlight: { startedAt: draft.now, asked, releasedMeanwhile: new Set(), stage: { at: 'reading' } },
    begunAt: draft.now,
    refreshAt: null,
    postponed: null,
  });
  ask(draft, { do: 'poll', lookups: asked });
}

/** First reconciles what runs, then looks at the candidates. */
export function onPollAnswered(draft: Draft, event: EventNamed<'poll-answered'>): void {
  settle(draft, 'poll', '');
  const { inFlight } = draft.state.poll;
  if (inFlight?.stage.at !== 'reading') return;
  reconcile(draft, inFlight.asked, event.states);
  if (inFlight.onlyStates || draft.state.lifecycle === 'leaving') return endLookup(draft, inFlight);
  notePreflight(draft, event.preflightProblem);
  if (!event.candidates.ok) {
    endPoll(draft, inFlight, { candidates: 0, dispatched: 0, fault: event.candidates.fault });
    return;
  }
  remindOfSpent(draft, event.spent ?? []);
  const { value } = event.candidates;
  const candidates = value.length > CANDIDATES_PER_SLICE ? value : inDispatchOrder(value);
  releaseMovedParked(draft, candidates);
  enter(draft, afterReading(draft.state, candidates));
  walk(draft);
}

/** Sessions of a tracker that is no longer watched are held against it all the same, until they have ended. */
export function lookUpRunning(draft: Draft): void {
  const asked = [...draft.state.live.keys()];
  const stage = { at: 'reading' } as const;
  const inFlight = { startedAt: draft.now, asked, onlyStates: true, releasedMeanwhile: new Set<string>(), stage };
  changePoll(draft, { inFlight, begunAt: draft.now });
  ask(draft, { do: 'poll', lookups: asked, onlyStates: true });
}

function endLookup(draft: Draft, { startedAt }: PollInFlight): void {
  const { lifecycle, settings } = draft.state;
  const nextAt = lifecycle === 'leaving' ? startedAt + settings.polling.intervalMs : draft.now;
  changePoll(draft, { inFlight: null, nextAt: Math.max(draft.now, nextAt) });
}

/** What the walk over the candidates comes to next. Blockers are read only where a slot is free for who has none. */
function afterReading(state: State, candidates: readonly Issue[]): PollStage {
  const mayChoose = globalSlots(state) > 0 && candidates.some((issue) => issue.blockedBy === null);
  return mayChoose ? { at: 'choosing', candidates, index: 0, chosen: [] } : dispatchStage(candidates, new Map());
}

export function onBlockersAnswered(draft: Draft, event: EventNamed<'blockers-answered'>): void {
  settle(draft, 'read-blockers', '');
  const stage = draft.state.poll.inFlight?.stage;
  if (stage?.at !== 'blockers') return;
  if (draft.state.lifecycle === 'leaving') return changePoll(draft, { inFlight: null });
  enter(draft, dispatchStage(stage.candidates, event.blockers));
  walk(draft);
}

export function onWentOn(draft: Draft): void {
  settle(draft, 'go-on', '');
  walk(draft);
}

/** Walks over the candidates, one slice at a time. */
function walk(draft: Draft): void {
  const { inFlight } = draft.state.poll;
  if (inFlight === null) return;
  const { stage } = inFlight;
  if (draft.state.lifecycle === 'draining') changePoll(draft, { inFlight: null });
  else if (stage.at === 'choosing') choose(draft, stage);
  else if (stage.at === 'dispatching') dispatch(draft, inFlight, stage);
}

function enter(draft: Draft, stage: PollStage): void {
  const { inFlight } = draft.state.poll;
  if (inFlight) changePoll(draft, { inFlight: { ...inFlight, stage } });
}

/** Finds the candidates whose blockers are read in this poll. */
function choose(draft: Draft, stage: Extract<PollStage, { at: 'choosing' }>): void {
  const { candidates } = stage;
  const end = stage.index + CANDIDATES_PER_SLICE;
  const chosen = blockersToRead(draft.state, [...stage.chosen, ...candidates.slice(stage.index, end)]);
  if (end < candidates.length) {
    enter(draft, { ...stage, index: end, chosen });
    ask(draft, { do: 'go-on' });
    return;
  }
  if (chosen.length === 0) {
    enter(draft, dispatchStage(candidates, new Map()));
    walk(draft);
    return;
  }
  enter(draft, { at: 'blockers', candidates });
  changePoll(draft, { blockersReadAt: noteReads(draft, candidates, chosen) });
  ask(draft, { do: 'read-blockers', issues: chosen.map(refOf) });
}

function dispatchStage(candidates: readonly Issue[], read: DispatchStage['read']): DispatchStage {
  return {
    at: 'dispatching',
    candidates,
    index: 0,
    read,
    dispatched: 0,
    holds: mapOf([]),
    waiting: [],
    firstSights: [],
    counts: {},
    news: {},
  };
}

/** Walks the candidates in order: each one is started or gets a reason why not. */
function dispatch(draft: Draft, inFlight: PollInFlight, stage: DispatchStage): void {
  const end = stage.index + CANDIDATES_PER_SLICE;
  const [counts, news] = [{ ...stage.counts }, { ...stage.news }];
  const firstSights = [...stage.firstSights];
  const held: Hold[] = [];
  let { dispatched } = stage;
  for (const issue of stage.candidates.slice(stage.index, end)) {
    noteApproval(draft, issue);
    if (firstSights.length < FIRST_SIGHTS_PER_POLL && isFirstSight(draft.state, issue)) firstSights.push(refOf(issue));
    const verdict = holdOf(draft.state, issue, stage.read.get(issue.id));
    if (verdict === null) {
      startRun(draft, refOf(issue), FIRST_START);
      dispatched += 1;
      continue;
    }
    const hold = noteHold(draft, issue, verdict, news);
    held.push(hold);
    counts[verdict.reason] = (counts[verdict.reason] ?? 0) + 1;
    if (isBudget(verdict.reason)) park(draft, hold.issue, verdict.reason, verdict.detail);
  }
  const holds = withEntries(
    stage.holds,
    held.map(({ issue }) => issue.id),
    held,
  );
  const waiting = [...stage.waiting, held.filter(({ reason }) => waitsForSlot(reason)).map(({ issue }) => issue)];
  const next: DispatchStage = { ...stage, index: end, dispatched, holds, waiting, firstSights, counts, news };
  if (end >= stage.candidates.length) return endDispatch(draft, inFlight, next);
  enter(draft, next);
  ask(draft, { do: 'go-on' });
}

function endDispatch(draft: Draft, inFlight: PollInFlight, stage: DispatchStage): void {
  const { candidates, dispatched, holds, counts, news } = stage;
  const fruitless = [...stage.read.keys()].filter((id) => holds.has(id) && !isSlotTaken(holds.get(id))).length;
  change(draft, { holds });
  // Many times as fast as `flat`, which would take longer than all of the slice.
  const waiting = ([] as IssueRef[]).concat(...stage.waiting);
  changePoll(draft, { queue: { lanes: lanesOf(draft.state, waiting, draft.now), fruitless } });
  forgetSpent(draft);
  readFirstSights(draft, stage.firstSights);
  for (const [reason, count] of Object.entries(news) as [HoldReason, number][]) {
    if (count > TOLD_EACH) announce(draft, 'poll:candidates:held', { reason, candidates: count - TOLD_EACH });
  }
  if (holds.size > 0) announce(draft, 'poll:holds:counted', { counts });
  endPoll(draft, inFlight, { candidates: candidates.length, dispatched, fault: null });
}

function noteReads(draft: Draft, candidates: readonly Issue[], needy: readonly Issue[]): ReadonlyMap<string, number> {
  const present = new Set(candidates.map((issue) => issue.id));
  const kept = [...draft.state.poll.blockersReadAt].filter(([id]) => present.has(id));
  return new Map([...kept, ...needy.map((issue) => [issue.id, draft.now] as const)]);
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
  result: { candidates: number; dispatched: number; fault: Fault | null },
): void {
  const durationMs = draft.now - inFlight.startedAt;
  const { fault } = result;
  const allowedAt = draft.now + (fault?.retryAfterMs ?? 0);
  const nextAt = Math.max(allowedAt, inFlight.startedAt + pollInterval(draft));
  const remedy = fault === null ? null : remedyFor(fault.kind, fault.message);
  const last = { at: draft.now, durationMs, candidates: result.candidates, error: fault?.message ?? null, remedy };
  const failures = fault === null ? 0 : draft.state.poll.failures + 1;
  changePoll(draft, { inFlight: null, nextAt, failures, count: draft.state.poll.count + 1, last });
  if (fault !== null) {
    const { kind, message: error } = fault;
    announce(draft, 'poll:tick:failed', { error, kind, retryInMs: nextAt - draft.now, durationMs });
    return;
  }
  announceTick(draft, { candidates: result.candidates, dispatched: result.dispatched, ...countClaims(draft.state), durationMs });
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

function countClaims(state: State): { readonly running: number; readonly retrying: number } {
  return { running: state.occupied, retrying: state.claims.size - state.occupied };
}
