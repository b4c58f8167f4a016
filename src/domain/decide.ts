import { onCleanupAnswered, onSweepAnswered, onWorkspaceRemoved } from './events/cleanup.ts';
import { announce, change, changePoll, closeDraft, openDraft, pendingWrites, putClaim, type Draft } from './draft.ts';
import type { Decision } from './model/effect.ts';
import { answerOfFailure } from './events/effect-failed.ts';
import type { Event } from './model/event.ts';
import { onClockJumped } from './events/clock-set.ts';
import { onClock } from './events/on-clock.ts';
import { onRunExited } from './events/on-exit.ts';
import { onHandoffAnswered } from './events/on-handoff.ts';
import { stopRun } from './events/on-issue-states.ts';
import { onOperatorAsked } from './events/on-operator.ts';
import { onOutboxAnswered } from './events/on-outbox.ts';
import { fillSlots, onCandidateRead } from './events/fill-slots.ts';
import { onBlockersAnswered, onPollAnswered, onWentOn } from './events/on-poll.ts';
import { onInspected } from './events/on-reaction.ts';
import { onIssueRead } from './events/on-retry-due.ts';
import { onRunProgress } from './events/on-run.ts';
import { onMergeAnswered } from './reactions/auto-merge.ts';
import { onBranchDeleted } from './reactions/branch.ts';
import { onLabelRemoved } from './reactions/label-commands.ts';
import { onCompletionAnswered } from './reactions/merge-completion.ts';
import { onQuotasRead } from './events/on-quotas.ts';
import { onWebhookReceived } from './events/on-webhook.ts';
import type { Claim } from './model/claim.ts';
import type { State } from './model/state.ts';

/** Requests for a refresh within this time become one. */
const REFRESH_MERGE_MS = 100;

/** The heart: what happens next, as data. Pure; the same state, event and time always give the same answer. */
export function decide(state: State, event: Event, now: number): Decision {
  const draft = openDraft(state, now);
  handle(draft, event);
  if (!KEEPS_SLOTS.has(event.type)) fillSlots(draft);
  return closeDraft(draft);
}

/** What a session says while it works frees no slot, and comes often. */
const KEEPS_SLOTS: ReadonlySet<Event['type']> = new Set(['agent-spoke', 'turn-started', 'turn-completed', 'session-started']);

function handle(draft: Draft, event: Event): void {
  switch (event.type) {
    case 'clock':
      return onClock(draft);
    case 'clock-jumped':
      return onClockJumped(draft, event.byMs);
    case 'settings-changed':
      return onSettingsChanged(draft, event);
    case 'polls-postponed':
      return onPollsPostponed(draft, event.byMs);
    case 'tracker-left':
      return onTrackerLeft(draft);
    case 'sessions-elsewhere':
      return change(draft, { elsewhere: event.running });
    case 'agent-paused':
      return change(draft, { pauses: new Map(draft.state.pauses).set(event.pause.agentKind, event.pause) });
    case 'refresh-requested':
      return onRefreshRequested(draft);
    case 'quotas-read':
      return onQuotasRead(draft, event.quotas);
    case 'webhook-received':
      return onWebhookReceived(draft);
    case 'stop-requested':
      return onStopRequested(draft);
    case 'operator-asked':
      return onOperatorAsked(draft, event);
    case 'poll-answered':
      return onPollAnswered(draft, event);
    case 'blockers-answered':
      return onBlockersAnswered(draft, event);
    case 'went-on':
      return onWentOn(draft);
    case 'candidate-read':
      return onCandidateRead(draft, event);
    case 'issue-read':
      return onIssueRead(draft, event);
    case 'workspace-chosen':
    case 'run-prepared':
    case 'state-seen':
    case 'session-started':
    case 'turn-started':
    case 'turn-completed':
    case 'agent-spoke':
      return onRunProgress(draft, event);
    case 'run-exited':
      return onRunExited(draft, event);
    case 'handoff-answered':
      return onHandoffAnswered(draft, event);
    case 'outbox-answered':
      return onOutboxAnswered(draft, event);
    case 'cleanup-answered':
      return onCleanupAnswered(draft, event);
    case 'sweep-answered':
      return onSweepAnswered(draft, event);
    case 'workspace-removed':
      return onWorkspaceRemoved(draft, event);
    case 'inspected':
      return onInspected(draft, event);
    case 'merge-answered':
      return onMergeAnswered(draft, event);
    case 'branch-deleted':
      return onBranchDeleted(draft, event);
    case 'label-removed':
      return onLabelRemoved(draft, event);
    case 'effect-failed':
      return handle(draft, answerOfFailure(draft, event));
    case 'completion-answered':
      return onCompletionAnswered(draft, event);
  }
}

/** New settings hold for everything from here on; runs keep what they started with. A poll follows at once. */
function onSettingsChanged(draft: Draft, event: Extract<Event, { type: 'settings-changed' }>): void {
  wakeCapped(draft, draft.state.settings.agent.maxRetryBackoffMs);
  change(draft, { settings: event.settings });
  if (draft.state.lifecycle === 'leaving') change(draft, { lifecycle: 'serving' });
  changePoll(draft, { nextAt: Math.min(draft.state.poll.nextAt, draft.now) });
}

/** What waits at the cap may wait for just this edit: a template, a program, a credential. */
function wakeCapped(draft: Draft, capMs: number): void {
  for (const claim of draft.state.claims.values()) {
    if (claim.phase !== 'waiting' || claim.dueAt - claim.since < capMs || claim.dueAt <= draft.now) continue;
    putClaim(draft, { ...claim, since: draft.now, dueAt: draft.now });
  }
}

/** Polls and the cleanup at start wait for the tracker. */
function onPollsPostponed(draft: Draft, byMs: number): void {
  const { nextAt, cleanupAt } = draft.state.poll;
  const until = draft.now + byMs;
  changePoll(draft, {
    nextAt: Math.max(nextAt, until),
    cleanupAt: cleanupAt === null ? null : Math.max(cleanupAt, until),
  });
}

/** Runs and what they still have to write go on; everything else of this tracker rests until it is watched again. */
function onTrackerLeft(draft: Draft): void {
  if (draft.state.lifecycle === 'serving') change(draft, { lifecycle: 'leaving', holds: new Map() });
}

function onRefreshRequested(draft: Draft): void {
  if (draft.state.lifecycle !== 'serving' || draft.state.poll.refreshAt !== null) return;
  changePoll(draft, { refreshAt: draft.now + REFRESH_MERGE_MS });
}

/** Besides the grace that sessions have, everything under way has this long when the daemon stops. */
const DRAIN_MS = 10_000;

/** Nothing new is started from here on; what runs is told to stop. */
function onStopRequested(draft: Draft): void {
  if (draft.state.lifecycle === 'draining') return;
  change(draft, { lifecycle: 'draining', drainBy: draft.now + draft.state.settings.agent.stopGraceMs + DRAIN_MS });
  announce(draft, 'daemon:drain:started', { running: draft.state.live.size });
  for (const id of draft.state.live.keys()) stopRun(draft, id, 'shutdown');
}

/**
 * Whether a draining daemon has nothing left to wait for: no session, and no write that is under way. Reads may be cut
 * short. What hangs is given up at the end of the grace.
 */
export function isDrained(state: State, now: number): boolean {
  if (state.lifecycle !== 'draining') return false;
  return (state.drainBy !== null && now >= state.drainBy) || (state.live.size === 0 && pendingWrites(state).length === 0);
}

/** Whether a tracker that is no longer watched has nothing left to do: no session, no handoff, no comment. */
export function isRetired(state: State): boolean {
  if (state.lifecycle !== 'leaving' || state.live.size > 0 || state.outbox.size > 0) return false;
  return pendingWrites(state).length === 0 && ![...state.claims.values()].some(isHandoff);
}

function isHandoff(claim: Claim): boolean {
  return claim.phase === 'handing-off' || (claim.phase === 'waiting' && claim.then.kind === 'handoff');
}
