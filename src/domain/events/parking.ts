import { announce, dropParked, forgetHold, outdatePoll, putParked, putSpent, release, type Draft } from '../draft.ts';
import type { Parked, ParkReason } from '../model/claim.ts';
import { refIn, sameState, stateIn, type IssueRef } from '../model/issue.ts';
import { removeWorkspaceOf } from '../workspace-records.ts';
import { pollSoon } from './poll-stages.ts';

/**
 * Sets an issue aside for a person; its claim ends. What was last seen of its state may be older than the last move of its
 * agent: a change is measured against what is read after this, so that is read soon.
 */
export function park(draft: Draft, issue: IssueRef, reason: ParkReason, detail: string): void {
  if (draft.state.claims.has(issue.id)) release(draft, issue, `parked: ${reason}`);
  else outdatePoll(draft, issue.id);
  putParked(draft, { issue, reason, detail, parkedAt: draft.now, stateAtPark: null });
  announce(draft, 'issue:park:entered', { issue, reason, detail });
  pollSoon(draft);
}

/** Lets a parked issue run again, with its budgets and attempts fresh. */
export function unpark(draft: Draft, parked: Parked, reason: string): void {
  dropParked(draft, parked.issue.id);
  putSpent(draft, { issueId: parked.issue.id, sessions: 0, tokens: 0, costUsd: 0 });
  announce(draft, 'issue:park:released', { issue: parked.issue, reason });
}

/**
 * A parked issue is released by a change of its state, and by a terminal one at the first sight. One that is not found stays:
 * a person may still want to know.
 */
export function reconcileParked(draft: Draft, parked: Parked, state: string | undefined): void {
  if (state === undefined || state === '') return;
  const isTerminal = stateIn(draft.state.settings.tracker.terminalStates, state);
  if (parked.stateAtPark === null && !isTerminal) {
    putParked(draft, { ...parked, issue: refIn(parked.issue, state), stateAtPark: state });
  } else if (parked.stateAtPark === null || !sameState(parked.stateAtPark, state)) {
    unpark(draft, parked, `its state changed to "${state}"`);
    forgetHold(draft, parked.issue.id, state);
    if (isTerminal) removeWorkspaceOf(draft, parked.issue, 'the issue is terminal');
  }
}
