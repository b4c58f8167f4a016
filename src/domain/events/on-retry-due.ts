import { backoffMs } from '../rules/backoff.ts';
import { budgetSpent } from '../rules/budget.ts';
import { earliestDue, type WaitingClaim } from '../model/claim.ts';
import { removeWorkspaceOf } from '../workspace-records.ts';
import { ask, isPending, settleRead } from '../pending-effects.ts';
import { announce, change, dropWatch, putClaim, type Draft } from '../draft.ts';
import { blockersHold, INCOMPLETE } from '../rules/dispatch-filters.ts';
import { removalHold, serviceHold } from '../rules/eligibility.ts';
import { heldError, heldFor } from '../rules/held-retry.ts';
import { globalSlots, hasOpenSlot, isSlotTaken, slotHold } from '../rules/slots.ts';
import type { Event } from '../model/event.ts';
import type { HoldVerdict } from '../model/hold.ts';
import { presentState, refIn, refOf, sameState, stateIn, type Issue, type IssueRef } from '../model/issue.ts';
import { withEntry } from '../model/versioned-map.ts';
import { approvalHold, authorHold } from '../rules/trust.ts';
import {
  beginTurn,
  dropTurn,
  dropUnlooked,
  mayBegin,
  releaseGone,
  releaseWaiting,
  whyUnlooked,
} from '../reactions/queued-turn.ts';
import { noteApproval } from './approval.ts';
import { handOff } from './on-exit.ts';
import { park } from './parking.ts';
import { startRun } from './start-run.ts';
import type { State } from '../model/state.ts';

/** Whatever in the queue has fallen due: handoffs are tried again, runs first have their issue read. */
export function fireDueRetries(draft: Draft): void {
  if (draft.state.lifecycle === 'draining') return;
  if (draft.now < draft.state.retriesFrom) return;
  const due = dueClaims(draft.state, draft.now);
  if (due.length === 0) change(draft, { retriesFrom: earliestDue(draft.state.claims.values()) });
  for (const claim of due) {
    if (claim.then.kind === 'handoff')
      handOff(
        draft,
        { ...claim, runId: claim.then.handoff.runId, trigger: 'error', reaction: null, stoppedBy: null },
        claim.then.handoff,
        { begun: true },
      );
    else if (!mayBegin(draft.state, claim)) dropUnlooked(draft, claim);
    else if (mayRead(draft.state, claim)) ask(draft, { do: 'read-issue', issueId: claim.issue.id });
  }
}

/** Due claims in the order they fell due. */
function dueClaims(state: State, now: number): readonly WaitingClaim[] {
  if (state.claims.size === state.occupied) return [];
  const due: WaitingClaim[] = [];
  for (const claim of state.claims.values()) if (claim.phase === 'waiting' && claim.dueAt <= now) due.push(claim);
  return due.sort((a, b) => a.dueAt - b.dueAt);
}

/** A run waits for a slot of its own without asking the tracker meanwhile. */
function mayRead(state: State, claim: WaitingClaim): boolean {
  const isFree = mayStartRuns(state) && hasOpenSlot(state, claim.issue.state);
  return isFree && !isPending(state, 'read-issue', claim.issue.id);
}

/** When the next claim falls due. Those that are due and have no slot are woken by whatever frees one. */
export function nextRetry(state: State): number {
  let next = Infinity;
  if (state.claims.size === state.occupied) return next;
  for (const claim of state.claims.values()) {
    if (claim.phase !== 'waiting' || claim.dueAt >= next) continue;
    const isAwaited = mayBegin(state, claim) ? mayRead(state, claim) : whyUnlooked(state, claim) !== null;
    if (claim.then.kind === 'handoff' || isAwaited) next = claim.dueAt;
    if (next <= state.retriesFrom) break;
  }
  return next;
}

export function mayStartRuns(state: State): boolean {
  return serviceHold(state) === null && globalSlots(state) > 0;
}

/** The waiting issue as the tracker has it now: it runs, waits on, or is let go. */
export function onIssueRead(draft: Draft, event: Extract<Event, { type: 'issue-read' }>): void {
  if (!settleRead(draft, 'read-issue', event.issueId)) return;
  const claim = draft.state.claims.get(event.issueId);
  if (claim?.phase !== 'waiting' || claim.then.kind !== 'run' || draft.state.lifecycle === 'leaving') return;
  if (!event.issue.ok) {
    const delayMs = backoffMs(claim.failures, draft.state.settings.agent.maxRetryBackoffMs, claim.issue.id);
    waitOn(draft, claim, { delayMs, reason: event.issue.fault.message, error: event.issue.fault.message });
    return;
  }
  if (event.issue.value === null) return releaseGone(draft, claim);
  noteApproval(draft, event.issue.value);
  resume(draft, claim, event.issue.value);
}

function resume(draft: Draft, claim: WaitingClaim, issue: Issue): void {
  const { state } = draft;
  if (claim.then.kind !== 'run') return;
  const issueState = presentState(issue);
  const moved = reasonToLetGo(state, claim, issueState);
  if (moved === 'terminal') {
    releaseWaiting(draft, { ...claim, issue: refIn(refOf(issue), issueState) }, 'the issue is terminal');
    dropWatch(draft, issue.id);
    removeWorkspaceOf(draft, refOf(issue), 'the issue is terminal');
    return;
  }
  if (moved === 'inactive') {
    const why = whyInactive(issue, claim.issue.state);
    releaseWaiting(draft, { ...claim, issue: refIn(refOf(issue), issueState) }, why);
    return;
  }
  const budget = budgetSpent(state, issue.id);
  if (budget) {
    park(draft, refOf(issue), budget.reason, budget.detail);
    dropTurn(draft, claim, `parked: ${budget.reason}`);
    return;
  }
  const held = authorHold(state.settings.tracker, issue) ?? approvalHold(state, issue) ?? blockersHold(state, issue, INCOMPLETE);
  if (held) return waitHeld(draft, claim, refOf(issue), held);
  const hold = removalHold(state, issue.id) ?? (mayStartRuns(state) ? slotHold(state, issue.state) : NOT_NOW);
  if (hold) {
    const delayMs = isSlotTaken(hold) ? 0 : state.settings.polling.intervalMs;
    const error = heldFor(claim) === null ? claim.error : '';
    waitOn(draft, { ...claim, issue: refOf(issue) }, { delayMs, reason: hold.detail, error });
    return;
  }
  const { attempt, failures, refusals, sessionId } = claim;
  const { trigger, reaction } = claim.then;
  beginTurn(draft, claim);
  startRun(draft, refOf(issue), { attempt, failures, refusals, trigger, sessionId, reaction }, issue);
}

function whyInactive({ state, isClosed }: Issue, before: string): string {
  if (isClosed) return 'the issue is closed';
  // It did not move: the states that are worked on were edited.
  if (state !== '' && sameState(state, before))
    return `issues in state "${state}" are no longer worked on (tracker.active_states)`;
  return state === '' ? 'the tracker tells no state of the issue' : `the issue moved to "${state}"`;
}

/** Until the next poll. Told once per reason, as that of a candidate is. */
function waitHeld(draft: Draft, claim: WaitingClaim, issue: IssueRef, held: HoldVerdict): void {
  const { holds, settings } = draft.state;
  if (heldFor(claim)?.reason !== held.reason) {
    announce(draft, 'issue:candidate:held', { issue, ...held });
    if (holds.has(issue.id)) change(draft, { holds: withEntry(holds, issue.id, { issue, ...held, since: draft.now }) });
  }
  const error = heldError(held);
  waitOn(draft, { ...claim, issue }, { delayMs: settings.polling.intervalMs, reason: error, error });
}

const NOT_NOW = { reason: 'no_global_slot', detail: 'no available orchestrator slots' } as const;

/** Why a waiting issue would not run again from this state. A continuation that a reaction started may from the handoff state. */
export function reasonToLetGo(
  { settings }: State,
  claim: Pick<WaitingClaim, 'then'>,
  issueState: string,
): 'terminal' | 'inactive' | null {
  const { activeStates, terminalStates, handoffState } = settings.tracker;
  if (stateIn(terminalStates, issueState)) return 'terminal';
  if (stateIn(activeStates, issueState)) return null;
  const isReaction = claim.then.kind === 'run' && claim.then.reaction !== null;
  return isReaction && handoffState !== null && sameState(issueState, handoffState) ? null : 'inactive';
}

/** Stays in the queue with the same attempt: nothing was tried. The error stays unless there is a new one. */
function waitOn(draft: Draft, claim: WaitingClaim, wait: { delayMs: number; reason: string; error: string }): void {
  const { delayMs, reason, error } = wait;
  putClaim(draft, { ...claim, since: draft.now, dueAt: draft.now + delayMs, error });
  announce(draft, 'retry:entry:deferred', { issue: claim.issue, attempt: claim.attempt, delayMs, reason });
}
