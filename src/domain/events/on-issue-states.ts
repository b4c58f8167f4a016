import { announce, order, putLive, type Draft } from '../draft.ts';
import type { Answer } from '../model/fault.ts';
import { refIn, sameState, stateIn } from '../model/issue.ts';
import type { StopReason } from '../model/run.ts';
import { settingsFor, type Live, type State } from '../model/state.ts';
import { reconcileParked } from './parking.ts';

/** Polls in a row that may read no state before a running issue is stopped. */
const UNSEEN_LIMIT = 2;

/** Holds what the tracker says against what we run and what is parked. After a failed lookup, polls in a row are counted anew. */
export function reconcile(draft: Draft, asked: readonly string[], states: Answer<ReadonlyMap<string, string>>): void {
  if (!states.ok) {
    if (asked.length > 0) announce(draft, 'poll:states:failed', { error: states.fault.message, running: draft.state.live.size });
    for (const id of asked) forgetMissed(draft, id);
    return;
  }
  for (const id of asked) {
    const live = draft.state.live.get(id);
    if (live) reconcileRunning(draft, live, states.value.get(id) ?? '');
    const parked = draft.state.parked.get(id);
    if (parked) reconcileParked(draft, parked, states.value.get(id));
  }
}

export function forgetMissed(draft: Draft, id: string): void {
  const live = draft.state.live.get(id);
  if (live && live.unseen > 0) putLive(draft, { ...live, unseen: 0 });
}

function reconcileRunning(draft: Draft, live: Live, state: string): void {
  const issue = state === '' ? live.issue : refIn(live.issue, state);
  if (live.stopping !== null) {
    // What becomes of it is decided when it has exited, by the state of then.
    if (issue !== live.issue) putLive(draft, { ...live, issue });
    return;
  }
  if (state === '') {
    putLive(draft, { ...live, unseen: live.unseen + 1 });
    if (live.unseen + 1 >= UNSEEN_LIMIT) stopRun(draft, live.issue.id, 'vanished');
    return;
  }
  // Of most there is nothing new, and all that was made of them still holds.
  if (issue !== live.issue || live.unseen > 0) putLive(draft, { ...live, unseen: 0, issue });
  const reason = reasonToStop(draft.state, live, state);
  if (reason === null) announce(draft, 'reconcile:issue:kept', { issue: live.issue });
  else stopRun(draft, live.issue.id, reason);
}

/** A run may go on in an active state, and one that a reaction started in the handoff state too. */
export function reasonToStop(state: State, live: Pick<Live, 'issue' | 'pickedFrom'>, issueState: string): StopReason | null {
  const { activeStates, terminalStates, handoffState } = settingsFor(state, live.issue.id).tracker;
  if (stateIn(terminalStates, issueState)) return 'terminal';
  if (stateIn(activeStates, issueState)) return null;
  const fromHandoff = handoffState !== null && sameState(live.pickedFrom, handoffState);
  return fromHandoff && sameState(issueState, handoffState) ? null : 'inactive';
}

/** Tells a run to stop, once. What follows is decided when it has exited. */
export function stopRun(draft: Draft, issueId: string, reason: StopReason): void {
  const live = draft.state.live.get(issueId);
  if (live === undefined || live.stopping !== null) return;
  putLive(draft, { ...live, stopping: reason });
  if (RECONCILED.has(reason)) announce(draft, 'reconcile:issue:stopped', { issue: live.issue, reason, state: live.issue.state });
  else announce(draft, 'run:stop:requested', { issue: live.issue, runId: live.runId, reason });
  order(draft, { do: 'stop-run', runId: live.runId, issueId, reason });
}

const RECONCILED: ReadonlySet<StopReason> = new Set(['terminal', 'inactive', 'vanished']);
