import { holdsSlot } from '../model/claim.ts';
import type { HoldReason, HoldVerdict } from '../model/hold.ts';
import { normalState, sameState, stateIn, type IssueRef } from '../model/issue.ts';
import type { Settings } from '../model/settings.ts';
import { settingsFor, type Live, type State } from '../model/state.ts';

/** Slots are checked last: a full house says nothing about the issue itself. */
export function slotHold(state: State, issueState: string): HoldVerdict | null {
  if (globalSlots(state) <= 0) return allTaken(state.settings.agent.maxConcurrentAgents);
  const full = statesEntered(state, issueState).find((name) => stateSlots(state, name) <= 0);
  return full === undefined ? null : verdict('no_state_slot', `all slots of state "${full}" are taken`);
}

/** The same for a newcomer: a retry that is due and being read has its slot already, and so has one that is read again. */
export function newcomerSlotHold(state: State, issueState: string): HoldVerdict | null {
  const taken = slotHold(state, issueState);
  if (taken !== null) return taken;
  const again = readAgain(state);
  const reading = [...retriesRead(state), ...again];
  if (reading.length === 0) return null;
  const whose = again.length === 0 ? FOR_RETRIES : FOR_READ_AGAIN;
  if (globalSlots(state) <= reading.length) return verdict('no_global_slot', whose);
  const isFull = (name: string): boolean => stateSlots(state, name) <= entering(state, reading, name);
  return limitedStates(state, issueState).some(isFull) ? verdict('no_state_slot', whose) : null;
}

const FOR_RETRIES = 'a retry that is due has the free slot';
const FOR_READ_AGAIN = 'an issue that is being read has the free slot';

/** The candidates that were worked on before and are being read by themselves. */
function readAgain({ pending, holds }: State): readonly IssueRef[] {
  const read = [...(pending['read-candidate']?.keys() ?? [])].map((id) => holds.get(id));
  return read.flatMap((hold) => (hold?.reason === 'read_again' ? [hold.issue] : []));
}

/** The waiting issues that are being read before they run again. */
function retriesRead({ pending, claims }: State): readonly (IssueRef | undefined)[] {
  return [...(pending['read-issue']?.keys() ?? [])].map((id) => claims.get(id)?.issue);
}

/** Said of thousands of candidates at every poll: it is made once for each number that was ever configured. */
function allTaken(slots: number): HoldVerdict {
  const known = ALL_TAKEN.get(slots);
  if (known) return known;
  const made = verdict('no_global_slot', slots === 1 ? 'the only slot is taken' : `all ${slots} slots are taken`);
  ALL_TAKEN.set(slots, made);
  return made;
}

const ALL_TAKEN = new Map<number, HoldVerdict>();

export function globalSlots(state: State): number {
  return Math.max(0, state.settings.agent.maxConcurrentAgents - state.elsewhere - state.occupied);
}

/** Free slots that nobody is being read for. */
export function openSlots(state: State): number {
  const { 'read-issue': waiting, 'read-candidate': candidates } = state.pending;
  return globalSlots(state) - (waiting?.size ?? 0) - (candidates?.size ?? 0);
}

/** Whether an issue of this state could have a slot that nobody is being read for. */
export function hasOpenSlot(state: State, issueState: string): boolean {
  if (openSlots(state) <= 0) return false;
  return limitedStates(state, issueState).every((name) => stateSlots(state, name) > readFor(state, name));
}

/** Of the states an issue would enter, those with a limit of their own. */
function limitedStates(state: State, issueState: string): readonly string[] {
  const limits = state.settings.agent.maxConcurrentAgentsByState;
  return statesEntered(state, issueState).filter((name) => limits[normalState(name)] !== undefined);
}

/** How many are being read that would take a slot of this state. */
function readFor(state: State, name: string): number {
  const candidates = [...(state.pending['read-candidate']?.keys() ?? [])].map((id) => state.holds.get(id)?.issue);
  return entering(state, [...retriesRead(state), ...candidates], name);
}

function entering(state: State, issues: readonly (IssueRef | undefined)[], name: string): number {
  return issues.filter((issue) => issue && statesEntered(state, issue.state).some((entered) => sameState(entered, name))).length;
}

/** Free slots of one state: its own limit where it has one, never more than the global ones. */
export function stateSlots(state: State, issueState: string): number {
  const { maxConcurrentAgentsByState: limits } = state.settings.agent;
  const name = normalState(issueState);
  const limit = Object.hasOwn(limits, name) ? limits[name] : undefined;
  if (limit === undefined) return globalSlots(state);
  const used = [...state.live.values()].filter((live) => occupiesState(state, live, issueState)).length;
  return Math.max(0, Math.min(limit - used - usedElsewhere(state, issueState), globalSlots(state)));
}

/**
 * Slots of the state that are taken without a session here: by what is being handed off, and by sessions of another
 * process, which whoever looks at the records of a running daemon knows only by their claims.
 */
function usedElsewhere(state: State, issueState: string): number {
  if (state.occupied <= state.live.size) return 0;
  const others = [...state.claims.values()].filter((claim) => holdsSlot(claim) && !state.live.has(claim.issue.id));
  return others.filter(({ issue }) => {
    const departed = state.departed.get(issue.id) ?? { issue, pickedFrom: issue.state };
    return occupiesState(state, departed, issueState);
  }).length;
}

/** Whether it may run, but for a slot. */
export function isSlotTaken(held: HoldVerdict | undefined): boolean {
  return held?.reason === 'no_global_slot' || held?.reason === 'no_state_slot';
}

/** A run counts for the state it was picked from, for the one it is moved to, also before that is done, and for the one it is in. */
function occupiesState(state: State, { issue, pickedFrom }: Pick<Live, 'issue' | 'pickedFrom'>, issueState: string): boolean {
  if (sameState(issue.state, issueState)) return true;
  return enteredFrom(settingsFor(state, issue.id), pickedFrom).some((entered) => sameState(entered, issueState));
}

/** A dispatched issue takes a slot of its own state and of the in-progress state it is moved to. */
function statesEntered(state: State, issueState: string): readonly string[] {
  return enteredFrom(state.settings, issueState);
}

/** Who works in a state that is not active, as a reaction does in the handoff state, is not moved. */
function enteredFrom({ tracker }: Settings, issueState: string): readonly string[] {
  const { inProgressState, activeStates } = tracker;
  return inProgressState === null || !stateIn(activeStates, issueState) ? [issueState] : [issueState, inProgressState];
}

function verdict(reason: HoldReason, detail: string): HoldVerdict {
  return { reason, detail };
}
