import { cleanupIfDue, sweepIfDue } from './cleanup.ts';
import { ask, isPending, pendingWrites } from '../pending-effects.ts';
import { announce, dropPause, type Draft } from '../draft.ts';
import { stopRun } from './on-issue-states.ts';
import { nextWrites, sendDueWrites, waitsForWritesUntil } from './on-outbox.ts';
import { beginPoll, lookUpRunning } from './on-poll.ts';
import { postponeUnpaid } from './on-quotas.ts';
import { inspectDueWatches, nextInspection } from './on-reaction.ts';
import { fireDueRetries, nextRetry } from './on-retry-due.ts';
import { nextSave, saveLive } from './on-run.ts';
import type { StopReason } from '../model/run.ts';
import { settingsFor, type Live, type State } from '../model/state.ts';
import { isAnythingLeft } from '../rules/quota.ts';

/** Time passed: everything that is due happens, whatever woke us. So a lost timer delays, and never loses. */
export function onClock(draft: Draft): void {
  for (const live of draft.state.live.values()) watchOver(draft, live);
  resumeHandoffs(draft);
  if (draft.state.lifecycle !== 'leaving') liftPauses(draft);
  sendDueWrites(draft);
  fireDueRetries(draft);
  if (draft.state.lifecycle === 'draining') {
    tellWhatHangs(draft);
    return;
  }
  if (draft.state.lifecycle === 'leaving') {
    if (draft.state.live.size > 0 && isPollDue(draft.state, draft.now)) lookUpRunning(draft);
    return;
  }
  inspectDueWatches(draft);
  cleanupIfDue(draft);
  if (!isPollDue(draft.state, draft.now)) return;
  const isAskedFor = draft.state.poll.refreshAt !== null;
  if (!postponeUnpaid(draft)) {
    sweepIfDue(draft);
    beginPoll(draft);
  } else if (isAskedFor && isAnythingLeft(draft.state, draft.now)) {
    // What polls leave to people is there for this.
    beginPoll(draft);
  } else if (draft.state.live.size > 0) {
    lookUpRunning(draft);
  }
}

/** The next moment at which something falls due; Infinity when nothing does. Asked whenever the loop has nothing left to do. */
export function nextWake(state: State): number {
  let next = nextOfLifecycle(state);
  for (const live of state.live.values()) next = Math.min(next, deadline(state, live));
  if (state.lifecycle !== 'leaving') for (const pause of state.pauses.values()) next = Math.min(next, pause.until);
  for (const entry of nextWrites(state)) if (!isPending(state, 'write-out', entry.id)) next = Math.min(next, entry.dueAt);
  return state.lifecycle === 'draining' || state.retriesFrom >= next ? next : Math.min(next, nextRetry(state));
}

/** What falls due while the service is as it is. */
function nextOfLifecycle(state: State): number {
  const { lifecycle, poll } = state;
  if (lifecycle === 'draining')
    return Math.min(state.drainBy ?? Infinity, state.live.size > 0 ? Infinity : waitsForWritesUntil(state));
  const isResting = poll.inFlight === null;
  if (lifecycle === 'leaving') return isResting && state.live.size > 0 ? poll.nextAt : Infinity;
  let next = Math.min(poll.cleanupAt ?? Infinity, isResting ? Math.min(poll.nextAt, poll.refreshAt ?? Infinity) : Infinity);
  for (const watch of state.watches.values()) next = Math.min(next, nextInspection(state, watch));
  return next;
}

/** At the end of the grace: what is left is told, and the daemon ends without it. */
function tellWhatHangs(draft: Draft): void {
  const { drainBy, live } = draft.state;
  if (drainBy === null || draft.now < drainBy) return;
  const writes = pendingWrites(draft.state).filter((name) => name !== 'start-run');
  if (live.size > 0 || writes.length > 0) announce(draft, 'daemon:drain:cut', { running: live.size, writes });
}

function watchOver(draft: Draft, live: Live): void {
  const reason = overdue(draft.state, live, draft.now);
  if (reason) stopRun(draft, live.issue.id, reason);
  if (draft.now >= nextSave(live)) {
    const current = draft.state.live.get(live.issue.id);
    if (current) saveLive(draft, current);
  }
}

/** A turn has a limit, and so has silence within a turn. Hooks have limits of their own. */
function overdue(state: State, live: Live, now: number): StopReason | null {
  if (live.turnStartedAt === null || live.stopping !== null) return null;
  if (now - live.turnStartedAt >= settingsFor(state, live.issue.id).agent.turnTimeoutMs) return 'turn_timeout';
  const { ms, reason } = patience(state, live);
  return ms > 0 && now - live.lastEventAt >= ms ? reason : null;
}

/** How long a turn may be silent: a command that runs needs more time than a model that writes. */
function patience(state: State, live: Live): { readonly ms: number; readonly reason: StopReason } {
  const { stallTimeoutMs, toolTimeoutMs } = settingsFor(state, live.issue.id).agent;
  if (Object.keys(live.openTools).length === 0) return { ms: stallTimeoutMs, reason: 'stalled' };
  return { ms: toolTimeoutMs, reason: 'tool_timeout' };
}

/** When a run is to be saved or stopped at the latest. */
function deadline(state: State, live: Live): number {
  const save = nextSave(live);
  if (live.turnStartedAt === null || live.stopping !== null) return save;
  const { ms } = patience(state, live);
  const silence = ms > 0 ? live.lastEventAt + ms : Infinity;
  return Math.min(save, live.turnStartedAt + settingsFor(state, live.issue.id).agent.turnTimeoutMs, silence);
}

/** A handoff that a crash cut short is asked for again. */
function resumeHandoffs(draft: Draft): void {
  for (const claim of draft.state.claims.values()) {
    if (claim.phase !== 'handing-off') continue;
    const { issue, handoff } = claim;
    ask(draft, { do: 'hand-off', issue, handoff, settings: settingsFor(draft.state, issue.id), begun: true });
  }
}

function liftPauses(draft: Draft): void {
  for (const pause of draft.state.pauses.values()) if (pause.until <= draft.now) dropPause(draft, pause.agentKind);
}

function isPollDue(state: State, now: number): boolean {
  const { inFlight, nextAt, refreshAt } = state.poll;
  if (inFlight !== null) return false;
  return nextAt <= now || (refreshAt !== null && refreshAt <= now);
}
