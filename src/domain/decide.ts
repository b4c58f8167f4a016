import { onCleanupAnswered, onSweepAnswered, onWorkspaceRemoved } from './events/cleanup.ts';
import { pendingWrites } from './pending-effects.ts';
import { announce, change, changePoll, closeDraft, openDraft, putClaim, type Draft } from './draft.ts';
import type { Decision, Pending } from './model/effect.ts';
import { leavePauses } from './events/agent-pauses.ts';
import { answerOfFailure } from './events/effect-failed.ts';
import type { Event } from './model/event.ts';
import { onClockJumped, onWokeLate } from './events/clock-set.ts';
import { onClock } from './events/on-clock.ts';
import { onRunExited } from './events/on-exit.ts';
import { onHandoffAnswered } from './events/on-handoff.ts';
import { stopRun } from './events/on-issue-states.ts';
import { onOperatorAsked } from './events/on-operator.ts';
import { onOutboxAnswered, waitsForWritesUntil } from './events/on-outbox.ts';
import { fillSlots, onCandidateRead } from './events/fill-slots.ts';
import { onBlockersAnswered, onPollAnswered, onWentOn } from './events/on-poll.ts';
import { dropCandidates, pollAgain } from './events/poll-stages.ts';
import { onInspected } from './events/on-reaction.ts';
import { onIssueRead } from './events/on-retry-due.ts';
import { onRunProgress } from './events/on-run.ts';
import { recallAll, recallMoved } from './events/queued-runs.ts';
import { onMergeAnswered } from './reactions/merge-answer.ts';
import { onBranchDeleted } from './reactions/branch.ts';
import { onLabelRemoved } from './reactions/label-commands.ts';
import { onCompletionAnswered } from './reactions/merge-completion.ts';
import { lookAfterEdit } from './reactions/look-sooner.ts';
import { lookAgain } from './reactions/queued-turn.ts';
import { endWait, onQuotasRead } from './events/on-quotas.ts';
import { onWebhookReceived } from './events/on-webhook.ts';
import { queueNews } from './events/news.ts';
import { LONGEST_WAIT_MS, unpaidPoll } from './rules/quota.ts';
import { withoutEntry } from './model/versioned-map.ts';
import type { Claim } from './model/claim.ts';
import type { State } from './model/state.ts';

/** Requests for a refresh within this time become one. */
const REFRESH_MERGE_MS = 100;

/** The heart: what happens next, as data. Pure; the same state, event and time always give the same answer. */
export function decide(state: State, event: Event, now: number): Decision {
  const draft = openDraft(state, now);
  handle(draft, event);
  if (!KEEPS_SLOTS.has(event.type)) fillSlots(draft);
  queueNews(draft, state);
  return closeDraft(draft);
}

/** What a session says while it works frees no slot, and comes often. */
const KEEPS_SLOTS: ReadonlySet<Event['type']> = new Set(['agent-spoke', 'turn-started', 'turn-completed', 'session-started']);

function handle<Type extends Event['type']>(draft: Draft, event: EventNamed<Type>): void {
  const react: (draft: Draft, event: EventNamed<Type>) => void = REACT_TO[event.type];
  react(draft, event);
}

type EventNamed<Type extends Event['type']> = Extract<Event, { type: Type }>;

/** What each event leads to. */
const REACT_TO: { readonly [Type in Event['type']]: (draft: Draft, event: EventNamed<Type>) => void } = {
  clock: onClock,
  'clock-jumped': (draft, { byMs }) => onClockJumped(draft, byMs),
  'woke-late': (draft, { byMs }) => onWokeLate(draft, byMs),
  'settings-changed': onSettingsChanged,
  'polls-postponed': onPollsPostponed,
  'tracker-left': onTrackerLeft,
  'sessions-elsewhere': (draft, { running }) => change(draft, { elsewhere: running }),
  'agent-paused': onAgentPaused,
  'agent-resumed': (draft, { agentKind }) => change(draft, { pauses: withoutEntry(draft.state.pauses, agentKind) }),
  'service-paused': (draft, { pause }) => change(draft, { operatorPause: pause }),
  'news-told': (draft, { told }) => change(draft, { told: new Map(told.map((one) => [one.subject, one])) }),
  'refresh-requested': onRefreshRequested,
  'quotas-read': (draft, { quotas }) => onQuotasRead(draft, quotas),
  'webhook-received': onWebhookReceived,
  'stop-requested': onStopRequested,
  'operator-asked': onOperatorAsked,
  'poll-answered': onPollAnswered,
  'blockers-answered': onBlockersAnswered,
  'went-on': onWentOn,
  'candidate-read': onCandidateRead,
  'issue-read': onIssueRead,
  'workspace-chosen': onRunProgress,
  'run-prepared': onRunProgress,
  'state-seen': onRunProgress,
  'session-started': onRunProgress,
  'turn-started': onRunProgress,
  'turn-completed': onRunProgress,
  'agent-spoke': onRunProgress,
  'run-exited': onRunExited,
  'handoff-answered': onHandoffAnswered,
  'outbox-answered': onOutboxAnswered,
  'cleanup-answered': onCleanupAnswered,
  'sweep-answered': onSweepAnswered,
  'workspace-removed': onWorkspaceRemoved,
  inspected: onInspected,
  'merge-answered': onMergeAnswered,
  'branch-deleted': onBranchDeleted,
  'label-removed': onLabelRemoved,
  'completion-answered': onCompletionAnswered,
  'effect-failed': (draft, event) => handle(draft, answerOfFailure(draft, event)),
};

/** It is stored already. */
function onAgentPaused(draft: Draft, { pause }: EventNamed<'agent-paused'>): void {
  const { pauses } = draft.state;
  if ((pauses.get(pause.agentKind)?.until ?? 0) < pause.until)
    change(draft, { pauses: new Map(pauses).set(pause.agentKind, pause) });
}

/** New settings hold for everything from here on; runs keep what they started with once somebody has them. A poll follows at once. */
function onSettingsChanged(draft: Draft, event: Extract<Event, { type: 'settings-changed' }>): void {
  const { reactions } = draft.state.settings;
  if (!event.isSame) {
    wakeAwaiting(draft);
    dropCandidates(draft);
  }
  change(draft, { settings: event.settings, outdated: screenedReads(draft.state.pending) });
  leavePauses(draft);
  recallMoved(draft);
  lookAgain(draft);
  lookAfterEdit(draft, reactions);
  if (draft.state.lifecycle === 'leaving') change(draft, { lifecycle: 'serving' });
  pollAgain(draft, draft.now);
}

/**
 * What is under way of the reads that leave out whose word does not count, which the settings tell. Copies: an old version
 * of a map that goes on changing is dear to keep.
 */
function screenedReads({ 'read-candidate': candidates, 'read-issue': issues, inspect }: Pending): Pending {
  return {
    ...(candidates && { 'read-candidate': new Map(candidates) }),
    ...(issues && { 'read-issue': new Map(issues) }),
    ...(inspect && { inspect: new Map(inspect) }),
  };
}

/** What no waiting heals may wait for just this edit: a template, a program, a credential. */
function wakeAwaiting(draft: Draft): void {
  for (const id of draft.state.awaitingEdit.keys()) {
    const claim = draft.state.claims.get(id);
    if (claim?.phase !== 'waiting' || claim.dueAt <= draft.now) continue;
    putClaim(draft, { ...claim, since: draft.now, dueAt: draft.now });
  }
}

/** Polls and the cleanup at start wait for the tracker. */
function onPollsPostponed(draft: Draft, { byMs, error, remedy }: EventNamed<'polls-postponed'>): void {
  const { nextAt, cleanupAt } = draft.state.poll;
  const until = draft.now + Math.min(byMs, LONGEST_WAIT_MS);
  changePoll(draft, {
    nextAt: Math.max(nextAt, until),
    waitsUntil: until,
    cleanupAt: cleanupAt === null ? null : Math.max(cleanupAt, until),
    last: { at: draft.now, durationMs: 0, candidates: 0, error, remedy },
  });
}

/** Runs that began and what they still have to write go on; everything else of this tracker rests until it is watched again. */
function onTrackerLeft(draft: Draft): void {
  if (draft.state.lifecycle !== 'serving') return;
  change(draft, { lifecycle: 'leaving', holds: new Map() });
  recallAll(draft);
  endWait(draft);
}

function onRefreshRequested(draft: Draft, { byPerson }: EventNamed<'refresh-requested'>): void {
  if (draft.state.lifecycle !== 'serving' || draft.state.poll.refreshAt !== null) return;
  const mustWait = draft.state.poll.waitsUntil > draft.now || unpaidPoll(draft.state, draft.now) !== null;
  if (mustWait && !byPerson) return;
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
 * short. What hangs is given up at the end of the grace, and a message to somebody before that.
 */
export function isDrained(state: State, now: number): boolean {
  if (state.lifecycle !== 'draining') return false;
  return (state.drainBy !== null && now >= state.drainBy) || (state.live.size === 0 && now >= waitsForWritesUntil(state));
}

/** Whether a tracker that is no longer watched has nothing left to do: no session, no handoff, no comment. */
export function isRetired(state: State): boolean {
  if (state.lifecycle !== 'leaving' || state.live.size > 0 || state.outbox.size > 0) return false;
  return pendingWrites(state).length === 0 && ![...state.claims.values()].some(isHandoff);
}

function isHandoff(claim: Claim): boolean {
  return claim.phase === 'handing-off' || (claim.phase === 'waiting' && claim.then.kind === 'handoff');
}
