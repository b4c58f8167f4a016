import { ask, settle } from '../pending-effects.ts';
import { announce, change, changePoll, type Draft } from '../draft.ts';
import type { EventNamed } from '../model/event.ts';
import { refOf, type Issue } from '../model/issue.ts';
import { CANDIDATES_PER_SLICE, type PollInFlight, type PollStage } from '../model/poll.ts';
import type { State } from '../model/state.ts';
import { blockersToRead } from '../rules/dispatch-filters.ts';
import { askedWaitMs } from '../rules/quota.ts';
import { globalSlots } from '../rules/slots.ts';
import { dispatch, dispatchStage } from './dispatch.ts';
import { idsToLookUp, olderRuns } from './lookups.ts';
import { forgetMissed, reconcile } from './on-issue-states.ts';
import { endPoll, enter } from './poll-stages.ts';
import { remindOfSpent } from './spent.ts';

/** Asks for candidates and for the states of everything we hold. */
export function beginPoll(draft: Draft): void {
  const asked = idsToLookUp(draft.state);
  changePoll(draft, {
    inFlight: { startedAt: draft.now, asked, releasedMeanwhile: new Set(), stage: { at: 'reading' } },
    begunAt: draft.now,
    refreshAt: null,
  });
  ask(draft, { do: 'poll', lookups: asked, ofOlder: olderRuns(draft.state) });
}

/** First reconciles what runs, then looks at the candidates. */
export function onPollAnswered(draft: Draft, event: EventNamed<'poll-answered'>): void {
  settle(draft, 'poll', '');
  const { inFlight } = draft.state.poll;
  if (inFlight?.stage.at !== 'reading') return;
  if (!isProjectGone(event)) reconcileAll(draft, keepUnknown(draft, stillCurrent(inFlight), event), event);
  if (inFlight.onlyStates || draft.state.lifecycle === 'leaving') return endLookup(draft, inFlight, event);
  notePreflight(draft, event.preflightProblem);
  if (!event.candidates.ok) {
    endPoll(draft, inFlight, { candidates: 0, dispatched: 0, fault: event.candidates.fault });
    return;
  }
  remindOfSpent(draft, event.spent ?? []);
  enter(draft, afterReading(draft.state, event.candidates.value));
  walk(draft);
}

/** What nothing is known of was not missed either. Gives those that something was read of. */
function keepUnknown(draft: Draft, asked: readonly string[], { unknown }: EventNamed<'poll-answered'>): readonly string[] {
  if (unknown === undefined || unknown.size === 0) return asked;
  for (const id of unknown) forgetMissed(draft, id);
  return asked.filter((id) => !unknown.has(id));
}

/** Each issue by the answer of the tracker that was asked for it. */
function reconcileAll(draft: Draft, asked: readonly string[], event: EventNamed<'poll-answered'>): void {
  const { olderStates = [] } = event;
  const older = new Set(olderStates.flatMap(({ ids }) => ids));
  reconcile(draft, older.size === 0 ? asked : asked.filter((id) => !older.has(id)), statesWithListed(draft.state, asked, event));
  const current = new Set(older.size === 0 ? [] : asked);
  for (const { ids, states: own } of olderStates)
    reconcile(
      draft,
      ids.filter((id) => current.has(id)),
      own,
    );
}

/**
 * What runs, the lookup misses and the list of the same poll shows is there: a run that was stopped for it would be started again
 * at once, poll after poll. Of what is parked the list alone says nothing, for it may be older than the park.
 */
function statesWithListed(
  { live }: State,
  asked: readonly string[],
  { states, candidates }: EventNamed<'poll-answered'>,
): EventNamed<'poll-answered'>['states'] {
  if (!states.ok || !candidates.ok) return states;
  const missed = new Set(asked.filter((id) => live.has(id) && (states.value.get(id) ?? '') === ''));
  if (missed.size === 0) return states;
  const listed = candidates.value.filter(({ id }) => missed.has(id)).map(({ id, state }) => [id, state] as const);
  return { ok: true, value: new Map([...states.value, ...listed]) };
}

/** Whose claim ended after the poll began was read before that, and is looked up again by the next one. */
function stillCurrent({ asked, releasedMeanwhile }: PollInFlight): readonly string[] {
  return releasedMeanwhile.size === 0 ? asked : asked.filter((id) => !releasedMeanwhile.has(id));
}

/** Where the project itself is not found, such as by a token that lost its access, that an issue is not found says nothing of it. */
function isProjectGone({ candidates, states }: EventNamed<'poll-answered'>): boolean {
  return !candidates.ok && candidates.fault.kind === 'tracker_not_found' && states.ok && states.value.size === 0;
}

/** Sessions are held against their tracker all the same when it is no longer watched, or cannot be polled for a while. */
export function lookUpRunning(draft: Draft): void {
  const asked = [...draft.state.live.keys()];
  const stage = { at: 'reading' } as const;
  const inFlight = { startedAt: draft.now, asked, onlyStates: true, releasedMeanwhile: new Set<string>(), stage };
  changePoll(draft, { inFlight, begunAt: draft.now });
  ask(draft, { do: 'poll', lookups: asked, ofOlder: olderRuns(draft.state), onlyStates: true });
}

/** While polls wait, the next one comes as often as it may, but not before the time that a refusal names. */
function endLookup(
  draft: Draft,
  { startedAt, again }: PollInFlight,
  { states }: Pick<EventNamed<'poll-answered'>, 'states'>,
): void {
  const { lifecycle, settings, poll } = draft.state;
  if (lifecycle === 'serving' && poll.postponed !== null && !again) {
    const allowedAt = draft.now + (states.ok ? 0 : askedWaitMs(states.fault));
    return changePoll(draft, { inFlight: null, nextAt: Math.max(poll.nextAt, allowedAt) });
  }
  const nextAt = lifecycle === 'leaving' ? startedAt + settings.polling.intervalMs : draft.now;
  changePoll(draft, { inFlight: null, nextAt: Math.max(draft.now, nextAt) });
}

/** What the walk over the candidates comes to next. Blockers are read only where a slot is free for who has none. */
function afterReading(state: State, candidates: readonly Issue[]): PollStage {
  const mayChoose = globalSlots(state) > 0 && candidates.some((issue) => issue.blockedBy === null);
  return mayChoose ? { at: 'choosing', candidates, index: 0, chosen: [] } : dispatchStage(state, candidates, new Map());
}

export function onBlockersAnswered(draft: Draft, event: EventNamed<'blockers-answered'>): void {
  settle(draft, 'read-blockers', '');
  const stage = draft.state.poll.inFlight?.stage;
  if (stage?.at !== 'blockers') return;
  if (draft.state.lifecycle === 'leaving') return changePoll(draft, { inFlight: null });
  enter(draft, dispatchStage(draft.state, stage.candidates, event.blockers));
  walk(draft);
}

export function onWentOn(draft: Draft): void {
  settle(draft, 'go-on', '');
  walk(draft);
}

/** Walks over the candidates, one slice at a time. Those that were listed before an edit are listed anew. */
function walk(draft: Draft): void {
  const { inFlight } = draft.state.poll;
  if (inFlight === null) return;
  const { stage } = inFlight;
  if (draft.state.lifecycle === 'draining') changePoll(draft, { inFlight: null });
  else if (inFlight.isOutdated && stage.at !== 'reading') changePoll(draft, { inFlight: null, nextAt: draft.now });
  else if (stage.at === 'choosing') choose(draft, stage);
  else if (stage.at === 'dispatching') dispatch(draft, inFlight, stage);
}

/** Finds the candidates whose blockers are read in this poll. */
function choose(draft: Draft, stage: Extract<PollStage, { at: 'choosing' }>): void {
  const { candidates } = stage;
  const end = stage.index + CANDIDATES_PER_SLICE;
  const chosen = blockersToRead(draft, [...stage.chosen, ...candidates.slice(stage.index, end)]);
  if (end < candidates.length) {
    enter(draft, { ...stage, index: end, chosen });
    ask(draft, { do: 'go-on' });
    return;
  }
  if (chosen.length === 0) {
    enter(draft, dispatchStage(draft.state, candidates, new Map()));
    walk(draft);
    return;
  }
  enter(draft, { at: 'blockers', candidates });
  changePoll(draft, { blockersReadAt: noteReads(draft, candidates, chosen) });
  ask(draft, { do: 'read-blockers', issues: chosen.map(refOf) });
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
