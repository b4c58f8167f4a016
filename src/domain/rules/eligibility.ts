import { budgetSpent } from './budget.ts';
import { stopperOf, type Claim, type WaitingClaim } from '../model/claim.ts';
import { stateIn, type Blocker, type IssueRef } from '../model/issue.ts';
import type { OperatorPause } from '../model/operator.ts';
import type { HoldReason, HoldVerdict } from '../model/hold.ts';
import type { TrackerSettings } from '../model/settings.ts';
import type { State } from '../model/state.ts';
import { newcomerSlotHold, slotHold } from './slots.ts';
import { heldFor, UNTIL_READ } from './held-retry.ts';
import { completionOf } from '../reactions/after-merge.ts';

/** What candidates are judged by: what is known, and what time it is. */
export interface Moment {
  readonly state: State;
  readonly now: number;
}

/** The filters that cost nothing, in the order people ask about them. Blockers and slots come after. */
export function cheapHold({ state, now }: Moment, issue: IssueRef): HoldVerdict | null {
  const { tracker } = state.settings;
  if (!isComplete(issue)) return hold('incomplete_record', 'the record lacks an id, identifier, title or state');
  const inactive = inactiveHold(tracker, issue.state);
  if (inactive) return inactive;
  if (state.poll.inFlight?.releasedMeanwhile.has(issue.id))
    return hold('just_released', 'it is looked at again at the next poll');
  const claim = state.claims.get(issue.id);
  if (claim) return claimHold({ state, now }, claim);
  const removal = removalHold(state, issue.id);
  if (removal) return removal;
  const parked = state.parked.get(issue.id);
  if (parked) return hold('parked', `${parked.reason}: ${parked.detail}`);
  const ending = endingHold({ state, now }, issue.id);
  if (ending) return ending;
  const completion = completionHold(state, issue);
  if (completion) return completion;
  const service = serviceHold(state);
  if (service) return service;
  const budget = budgetSpent(state, issue.id);
  if (budget) return hold(budget.reason, budget.detail);
  return null;
}

/** Whether its state keeps an issue out. Thousands of candidates share a few states: each is judged once. */
function inactiveHold(tracker: TrackerSettings, issueState: string): HoldVerdict | null {
  const known = INACTIVE.get(tracker) ?? new Map<string, HoldVerdict | null>();
  const verdict = known.get(issueState);
  if (verdict !== undefined) return verdict;
  if (known.size >= MOST_STATES) known.clear();
  const found = judgeState(tracker, issueState);
  INACTIVE.set(tracker, known.set(issueState, found));
  return found;
}

const INACTIVE = new WeakMap<TrackerSettings, Map<string, HoldVerdict | null>>();
/** A tracker that makes up states by the thousand must not fill the memory with them. */
const MOST_STATES = 1_000;

function judgeState({ activeStates, terminalStates }: TrackerSettings, issueState: string): HoldVerdict | null {
  if (!stateIn(activeStates, issueState)) return hold('not_active', `state "${issueState}" is not an active state`);
  if (stateIn(terminalStates, issueState)) return hold('not_active', `state "${issueState}" is a terminal state`);
  return null;
}

/** What keeps every session from starting, whatever its issue. */
export function serviceHold({ lifecycle, operatorPause, preflightProblem, pauses, settings }: State): HoldVerdict | null {
  if (lifecycle !== 'serving') return hold('draining', 'the service is stopping, or watches another tracker');
  if (operatorPause !== null) return hold('paused', pauseDetail(operatorPause));
  if (preflightProblem !== null) return hold('preflight_failed', preflightProblem);
  const pause = pauses.get(settings.agent.kind);
  return pause === undefined ? null : hold('agent_paused', pause.reason);
}

/** Why an issue that we hold is not started now. */
export function claimHold(moment: Moment, claim: Claim): HoldVerdict {
  const held = claim.phase === 'waiting' ? waitingHold(moment, claim) : null;
  return held ?? hold(CLAIM_HOLDS[claim.phase], stopText(claim) ?? `claimed, attempt ${claim.attempt}`);
}

/** Of a session that somebody stopped and that is not over yet. */
export function stopText(claim: Claim): string | null {
  const by = stopperOf(claim);
  return by === null ? null : `being stopped by ${by}`;
}

/** What keeps a waiting run back besides its time; null where only that does. A handoff that is due is tried all the same. */
export function waitingHold(moment: Moment, claim: WaitingClaim): HoldVerdict | null {
  const { state, now } = moment;
  const { issue, then, dueAt } = claim;
  const isDue = then.kind === 'run' && dueAt <= now;
  const isRead = state.pending['read-issue']?.has(issue.id) ?? false;
  return (
    endingHold(moment, issue.id) ??
    (isDue ? serviceHold(state) : null) ??
    heldFor(claim) ??
    (isDue && !isRead ? slotHold(state, issue.state) : null)
  );
}

/** One that started now would work beside its last session. */
export function endingHold(
  { state, now }: { readonly state: Pick<State, 'endingElsewhere'>; readonly now: number },
  issueId: string,
): HoldVerdict | null {
  const until = state.endingElsewhere.get(issueId);
  if (until === undefined || until <= now) return null;
  return hold('ending_elsewhere', `its last session may go on elsewhere until ${new Date(until).toISOString()}`);
}

/** A run that started now would lose its workspace under its agent. */
export function removalHold(state: State, issueId: string): HoldVerdict | null {
  if (state.pending['remove-workspace']?.has(issueId) !== true) return null;
  return hold('removing_workspace', 'the workspace of its last run is being removed');
}

/** A move that is half way may show the issue in an active state, which nobody put it into. */
function completionHold(state: State, issue: IssueRef): HoldVerdict | null {
  const completion = completionOf(state, issue);
  if (completion === null) return null;
  if (completion === 'under way') return hold('completing', 'it is moved to its last state, since its merge request is merged');
  return hold('parked', 'escalated: merge_completion could not move the issue to its last state');
}

/** For people: who paused the service, and why. */
export function pauseDetail(pause: OperatorPause): string {
  return `paused by an operator (${pause.by})${pause.reason === '' ? '' : `: ${pause.reason}`}`;
}

/** A blocker holds while it is open and its state is not terminal or unknown. Without terminal states the tracker decides. */
export function blockerHold(state: State, blockers: readonly Blocker[]): HoldVerdict | null {
  if (blockers.length === 0) return null;
  const { terminalStates } = state.settings.tracker;
  const isDone = (one: Blocker): boolean =>
    one.isClosed ?? (terminalStates.length === 0 ? one.finished === true : stateIn(terminalStates, one.state));
  const open = blockers.filter((one) => !isDone(one));
  if (open.length === 0) return null;
  return hold('blocked_by', `blocked by ${open.map((blocker) => blocker.displayId ?? blocker.identifier).join(', ')}`);
}

/** Reasons that end when a slot becomes free or when the issue is read again: such a candidate waits in the queue. */
const WAITING_REASONS: ReadonlySet<HoldReason> = new Set([
  'no_global_slot',
  'no_state_slot',
  'blockers_not_read',
  'approval_not_read',
  'changed_after_approval',
]);

export function waitsForSlot(reason: HoldReason): boolean {
  return WAITING_REASONS.has(reason);
}

/**
 * Why a candidate of the last poll is not worked on now. What it was held for may be over: then it waits for the next
 * poll to see it again.
 */
export function presentHold(moment: Moment, { issue, reason, detail }: HoldVerdict & { readonly issue: IssueRef }): HoldVerdict {
  const { state } = moment;
  const cheap = cheapHold(moment, issue);
  if (cheap) return cheap;
  if (UNTIL_READ.has(reason)) return hold(reason, detail);
  const { postponed } = state.poll;
  const waits = newcomerSlotHold(state, issue.state) ?? (postponed && hold('tracker_quota', postponed.reason));
  return waits ?? (reason === 'blockers_not_read' ? hold(reason, detail) : NEXT_POLL);
}

const NEXT_POLL: HoldVerdict = {
  reason: 'next_poll',
  detail: 'nothing holds it now; it is looked at again at the next poll',
};

const CLAIM_HOLDS = { running: 'running', waiting: 'retrying', 'handing-off': 'handing_off' } as const;

function hold(reason: HoldReason, detail: string): HoldVerdict {
  return { reason, detail };
}

function isComplete(issue: IssueRef): boolean {
  return issue.id !== '' && issue.identifier !== '' && issue.title.trim() !== '' && issue.state.trim() !== '';
}
