import { addTokens, higherTokens, NO_TOKENS, subtractTokens, type AgentEvent, type TokenUsage } from '../model/agent-event.ts';
import {
  blindCeilings,
  budgetBroken,
  costOf,
  priceOf,
  ratesOf,
  reportedBy,
  spentOn,
  withModel,
  withMoreSpent,
} from '../rules/budget.ts';
import { soundEvent } from '../rules/sound-event.ts';
import { toolTime } from '../rules/tool-time.ts';
import { announce, changeTotals, putClaim, putLive, putRun, putRunEvents, putSpent, type Draft } from '../draft.ts';
import { putWorkspace } from '../draft-workspaces.ts';
import type { Event } from '../model/event.ts';
import { refIn } from '../model/issue.ts';
import { stopRun } from './on-issue-states.ts';
import type { RunEvent, RunEventDetails } from '../model/run.ts';
import { runOf } from './start-run.ts';
import { settingsFor, type Live } from '../model/state.ts';

/** A live run's figures and events are stored at least this often. */
const SAVE_EVERY_MS = 5_000;
/** Commands read the store, and a crash leaves what is there: a run that is not over by then shows that it began. */
const FIRST_SAVE_MS = 1_000;
/** More events than this are stored at once. */
const MOST_UNSAVED = 200;
const USAGE_EVERY_MS = 5_000;
const MESSAGE_LENGTH = 500;
const PROMPT_LENGTH = 16_384;

type RunProgress = Extract<
  Event,
  {
    type:
      'workspace-chosen' | 'run-prepared' | 'state-seen' | 'session-started' | 'turn-started' | 'turn-completed' | 'agent-spoke';
  }
>;

/** What a running session tells of itself. A word of a run that is no longer live is dropped. */
export function onRunProgress(draft: Draft, event: RunProgress): void {
  const live = draft.state.live.get(event.issueId);
  if (live === undefined || live.runId !== event.runId) return;
  const { maxTurns } = settingsFor(draft.state, event.issueId).agent;
  const { issue, runId } = live;
  switch (event.type) {
    case 'workspace-chosen':
      putLive(draft, placed(live, event));
      return;
    case 'run-prepared':
      note(draft, { ...live, workspacePath: event.workspacePath }, 'workspace_prepared', '');
      putWorkspace(draft, workspaceRecord(draft, live, event.workspacePath));
      announce(draft, 'run:workspace:prepared', { issue, runId, workspace: event.workspacePath });
      return;
    case 'state-seen':
      putLive(draft, { ...live, unseen: 0, issue: refIn(issue, event.state) });
      return;
    case 'session-started':
      note(draft, { ...live, sessionId: event.sessionId }, 'session_started', '');
      keepSession(draft, live, event.sessionId);
      announce(draft, 'run:session:started', { issue, runId, sessionId: event.sessionId });
      return;
    case 'turn-started':
      note(draft, { ...live, turn: event.turn, turnStartedAt: draft.now }, 'turn_started', '', turnDetails(event));
      announce(draft, 'run:turn:started', { issue, runId, turn: event.turn, maxTurns });
      return;
    case 'turn-completed':
      noteUsage(draft, live);
      note(draft, { ...current(draft, live), turnStartedAt: null }, 'turn_completed', '', { kind: 'turn', turn: event.turn });
      announce(draft, 'run:turn:completed', { issue, runId, turn: event.turn, maxTurns });
      if (event.turn === 1) tellBlindCeilings(draft, live);
      return;
    case 'agent-spoke':
      onAgentEvent(draft, live, soundEvent(event.event));
      return;
  }
}

/** Given to a host, of which the path is told later: what was said while the run waited for one is over. */
function placed(live: Live, { workspacePath, host }: Extract<Event, { type: 'workspace-chosen' }>): Live {
  return { ...live, workspacePath, host: host ?? null, lastMessage: workspacePath === '' ? '' : live.lastMessage };
}

/** When its figures and events are to be stored again. */
export function nextSave({ startedAt, savedAt }: Live): number {
  return savedAt + (savedAt === startedAt ? FIRST_SAVE_MS : SAVE_EVERY_MS);
}

/** Stores figures and events that a crash would lose. */
export function saveLive(draft: Draft, live: Live): void {
  if (!saveFigures(draft, live)) return;
  saveEvents(draft, live);
  putLive(draft, { ...live, savedAt: draft.now, unsavedEvents: [] });
}

function saveFigures(draft: Draft, live: Live): boolean {
  const claim = draft.state.claims.get(live.issue.id);
  if (claim?.phase !== 'running') return false;
  putRun(draft, runOf(draft, live, claim.trigger, 'running', null));
  return true;
}

export function saveEvents(draft: Draft, { unsavedEvents }: Live): void {
  putRunEvents(draft, unsavedEvents, draft.state.settings.agent.maxRecordedBytes);
}

function onAgentEvent(draft: Draft, live: Live, event: AgentEvent): void {
  switch (event.type) {
    case 'session_started':
      note(draft, { ...withModel(live, event.model), sessionId: event.sessionId || live.sessionId }, event.type, '');
      if (event.sessionId !== '' && event.sessionId !== live.sessionId) keepSession(draft, live, event.sessionId);
      return;
    case 'message':
    case 'notice':
      note(draft, live, event.type, event.text);
      return;
    case 'tool_started':
      onToolStarted(draft, live, event);
      return;
    case 'tool_ended':
      onToolEnded(draft, live, event);
      return;
    case 'alive':
      putLive(draft, { ...live, lastEventAt: draft.now });
      return;
    case 'usage':
      onUsage(draft, live, event);
      return;
  }
}

function onToolStarted(draft: Draft, live: Live, event: Extract<AgentEvent, { type: 'tool_started' }>): void {
  const { toolId, name, input = '' } = event;
  const openTools = { ...live.openTools, [toolId]: { startedAt: draft.now, input } };
  const toolsSince = live.toolsSince ?? draft.now;
  note(draft, { ...live, openTools, toolsSince }, event.type, callText(name, input), { kind: 'call', toolId, name, input });
}

function onToolEnded(draft: Draft, live: Live, event: Extract<AgentEvent, { type: 'tool_ended' }>): void {
  const { toolId, name, ok, output = '' } = event;
  const { [toolId]: started, ...openTools } = live.openTools;
  const input = event.input ?? started?.input ?? '';
  const durationMs = event.durationMs ?? (started === undefined ? null : draft.now - started.startedAt);
  const text = ok ? callText(name, input) : `${callText(name, input)} failed`;
  const next: Live = { ...live, openTools, ...toolTime(live, openTools, draft.now) };
  note(draft, next, event.type, text, { kind: 'result', toolId, name, input, ok, durationMs, output });
}

function callText(name: string, input: string): string {
  return input === '' ? name : `${name}: ${input}`;
}

/** Tokens only grow: a late or smaller report takes nothing back. A cost that was guessed gives way to one that is told. */
function onUsage(draft: Draft, live: Live, event: Extract<AgentEvent, { type: 'usage' }>): void {
  const tokens = higherTokens(live.tokens, event.tokens);
  const added = subtractTokens(tokens, live.tokens);
  const reported = reportedBy(live, event, tokens);
  const rates = ratesOf(settingsFor(draft.state, live.issue.id), live.model);
  const next: Live = {
    ...live,
    tokens,
    tokensMeasured: live.tokensMeasured || tokens.totalTokens > 0,
    requests: Math.max(live.requests, event.requests ?? live.requests),
    requestsByModel: event.requestsByModel ?? live.requestsByModel,
    apiMs: event.apiMs ?? live.apiMs,
    ...reported,
    costUsd: costOf(tokens, reported.settled, rates),
    lastEvent: 'usage',
    lastEventAt: draft.now,
  };
  putLive(draft, next);
  const addedCost = (next.costUsd ?? 0) - (live.costUsd ?? 0);
  if (added.totalTokens > 0 || addedCost !== 0) {
    countSpent(draft, live, added, addedCost);
    // With it, so that after a crash the history has what the budget counts.
    saveFigures(draft, next);
  }
  countCost(draft, next, reported.reportedCost ?? 0);
  const guess = { ...NO_TOKENS, inputTokens: event.estimatedTokens ?? 0 };
  const underWay = { tokens: guess.inputTokens, costUsd: rates === null ? 0 : priceOf(guess, rates) };
  const broken = budgetBroken(draft.state, next, underWay);
  if (broken) stopRun(draft, live.issue.id, broken.reason);
  if (broken || draft.now - (live.usageNoted?.at ?? 0) >= USAGE_EVERY_MS) noteUsage(draft, next);
}

/** Records the figures as they stand, unless they have not changed. */
function noteUsage(draft: Draft, before: Live): void {
  const live = current(draft, before);
  const { tokens, costUsd, requests, usageNoted } = live;
  if (!live.tokensMeasured || (usageNoted?.totalTokens === tokens.totalTokens && usageNoted.costUsd === costUsd)) return;
  const noted = { at: draft.now, totalTokens: tokens.totalTokens, costUsd };
  note(draft, { ...live, usageNoted: noted }, 'usage', '', { kind: 'usage', tokens, costUsd, requests });
}

/** A ceiling without figures stops nothing: that must not pass in silence. */
function tellBlindCeilings(draft: Draft, { issue, runId }: Live): void {
  const live = draft.state.live.get(issue.id);
  const keys = live ? blindCeilings(settingsFor(draft.state, issue.id), live) : [];
  if (keys.length > 0) announce(draft, 'run:ceiling:blind', { issue, runId, keys });
}

/** The session as it is now: an earlier part of the same event may have changed it. */
function current(draft: Draft, live: Live): Live {
  return draft.state.live.get(live.issue.id) ?? live;
}

function countSpent(draft: Draft, live: Live, added: TokenUsage, addedCost: number): void {
  const { issue, runId } = live;
  putSpent(draft, withMoreSpent(spentOn(draft.state, issue.id), added.totalTokens, addedCost));
  const { totals } = draft.state;
  changeTotals(draft, { ...totals, tokens: addTokens(totals.tokens, added), costUsd: totals.costUsd + addedCost });
  announce(draft, 'run:tokens:counted', { issue, runId, tokens: added });
}

/** Tells what the run has cost for certain since it was last told: a counter takes nothing back. */
export function countCost(draft: Draft, live: Live, certainUsd: number): void {
  const costUsd = certainUsd - live.costCounted;
  if (costUsd <= 0) return;
  const { issue, runId } = live;
  putLive(draft, { ...current(draft, live), costCounted: certainUsd });
  announce(draft, 'run:cost:counted', { issue, runId, agentKind: settingsFor(draft.state, issue.id).agent.kind, costUsd });
}

/** Remembers the last event and records it. */
function note(draft: Draft, live: Live, type: string, text: string, details?: RunEventDetails): void {
  const more = details === undefined ? {} : { details };
  const event: RunEvent = { runId: live.runId, at: draft.now, type, text: text.slice(0, 4 * MESSAGE_LENGTH), ...more };
  const unsavedEvents = [...live.unsavedEvents, event];
  const lastMessage = text === '' ? live.lastMessage : text.slice(0, MESSAGE_LENGTH);
  putLive(draft, { ...live, lastEvent: type, lastMessage, lastEventAt: draft.now, unsavedEvents });
  if (unsavedEvents.length >= MOST_UNSAVED) saveLive(draft, current(draft, live));
  announce(draft, 'run:agent:spoke', { issue: live.issue, runId: live.runId, type, text: event.text, ...more });
}

function turnDetails({ turn, prompt }: Extract<Event, { type: 'turn-started' }>): RunEventDetails {
  return { kind: 'turn', turn, ...(prompt === undefined ? {} : { prompt: prompt.slice(0, PROMPT_LENGTH) }) };
}

/** The conversation's id is durable: a restart goes on with it. */
function keepSession(draft: Draft, live: Live, sessionId: string): void {
  const claim = draft.state.claims.get(live.issue.id);
  if (claim?.phase === 'running') putClaim(draft, { ...claim, sessionId });
}

function workspaceRecord(draft: Draft, live: Live, path: string) {
  const { id, identifier, title } = live.issue;
  return { path, issueId: id, identifier, title, lastUsedAt: draft.now };
}
