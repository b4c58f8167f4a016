import type { AgentEvent, TokenUsage } from '../model/agent-event.ts';
import { budgetBroken, costOf, spentOn } from '../rules/budget.ts';
import { announce, changeTotals, putClaim, putLive, putRun, putSpent, putWorkspace, type Draft } from '../draft.ts';
import type { Event } from '../model/event.ts';
import { stopRun } from './on-issue-states.ts';
import type { RunEvent } from '../model/run.ts';
import { runOf } from './start-run.ts';
import type { Live } from '../model/state.ts';

/** A live run's figures and story are stored at least this often. */
export const SAVE_EVERY_MS = 5_000;
/** Lines of a run's story kept between two saves. */
const UNSAVED_EVENTS = 200;
const MESSAGE_LENGTH = 500;

type RunProgress = Extract<
  Event,
  { type: 'run-prepared' | 'state-seen' | 'session-started' | 'turn-started' | 'turn-completed' | 'agent-spoke' }
>;

/** What a running session tells of itself. A word of a run that is no longer live is dropped. */
export function onRunProgress(draft: Draft, event: RunProgress): void {
  const live = draft.state.live.get(event.issueId);
  if (live === undefined || live.runId !== event.runId) return;
  const { maxTurns } = draft.state.settings.agent;
  const { issue, runId } = live;
  switch (event.type) {
    case 'run-prepared':
      note(draft, { ...live, workspacePath: event.workspacePath }, 'workspace_prepared', '');
      putWorkspace(draft, workspaceRecord(draft, live, event.workspacePath));
      announce(draft, 'run:workspace:prepared', { issue, runId, workspace: event.workspacePath });
      return;
    case 'state-seen':
      putLive(draft, { ...live, unseen: 0, issue: { ...issue, state: event.state } });
      return;
    case 'session-started':
      note(draft, { ...live, sessionId: event.sessionId }, 'session_started', '');
      keepSession(draft, live, event.sessionId);
      announce(draft, 'run:session:started', { issue, runId, sessionId: event.sessionId });
      return;
    case 'turn-started':
      note(draft, { ...live, turn: event.turn, turnStartedAt: draft.now }, 'turn_started', '');
      announce(draft, 'run:turn:started', { issue, runId, turn: event.turn, maxTurns });
      return;
    case 'turn-completed':
      note(draft, { ...live, turnStartedAt: null }, 'turn_completed', '');
      announce(draft, 'run:turn:completed', { issue, runId, turn: event.turn, maxTurns });
      return;
    case 'agent-spoke':
      onAgentEvent(draft, live, event.event);
      return;
  }
}

/** Stores figures and story that a crash would lose. */
export function saveLive(draft: Draft, live: Live): void {
  const claim = draft.state.claims.get(live.issue.id);
  if (claim?.phase !== 'running') return;
  putRun(draft, runOf(draft, live, claim.trigger, 'running', null));
  if (live.unsavedEvents.length > 0) draft.writes.push({ write: 'run-events', events: live.unsavedEvents });
  putLive(draft, { ...live, savedAt: draft.now, unsavedEvents: [] });
}

function onAgentEvent(draft: Draft, live: Live, event: AgentEvent): void {
  switch (event.type) {
    case 'session_started':
      note(draft, { ...live, sessionId: event.sessionId || live.sessionId, model: event.model ?? live.model }, event.type, '');
      if (event.sessionId !== '' && event.sessionId !== live.sessionId) keepSession(draft, live, event.sessionId);
      return;
    case 'message':
    case 'notice':
      note(draft, live, event.type, event.text);
      return;
    case 'tool_started':
      note(draft, { ...live, openTools: { ...live.openTools, [event.toolId]: draft.now } }, event.type, event.name);
      return;
    case 'tool_ended':
      note(draft, endTool(live, event.toolId, draft.now), event.type, event.ok ? event.name : `${event.name} failed`);
      return;
    case 'usage':
      onUsage(draft, live, event);
      return;
  }
}

/** Figures only grow: a late or smaller report never takes anything back. */
function onUsage(draft: Draft, live: Live, event: Extract<AgentEvent, { type: 'usage' }>): void {
  const tokens = higher(live.tokens, event.tokens);
  const added = subtract(tokens, live.tokens);
  const { settings } = draft.state;
  const costUsd = costOf(tokens, event.costUsd, settings.tokenRates[settings.agent.kind]);
  const next: Live = {
    ...live,
    tokens,
    tokensMeasured: true,
    requests: Math.max(live.requests, event.requests ?? live.requests),
    requestsByModel: event.requestsByModel ?? live.requestsByModel,
    apiMs: event.apiMs ?? live.apiMs,
    costUsd: costUsd === null ? live.costUsd : Math.max(costUsd, live.costUsd ?? 0),
    lastEvent: 'usage',
    lastEventAt: draft.now,
  };
  putLive(draft, next);
  const addedCost = (next.costUsd ?? 0) - (live.costUsd ?? 0);
  if (added.totalTokens > 0 || addedCost > 0) countSpent(draft, live, added, addedCost);
  const broken = budgetBroken(draft.state, next);
  if (broken) stopRun(draft, live.issue.id, broken.reason);
}

function countSpent(draft: Draft, live: Live, added: TokenUsage, addedCost: number): void {
  const { issue, runId } = live;
  const spent = spentOn(draft.state, issue.id);
  putSpent(draft, { ...spent, tokens: spent.tokens + added.totalTokens, costUsd: spent.costUsd + addedCost });
  const { totals } = draft.state;
  changeTotals(draft, { ...totals, tokens: add(totals.tokens, added), costUsd: totals.costUsd + addedCost });
  announce(draft, 'run:tokens:counted', { issue, runId, tokens: added });
}

/** Remembers the last event and adds it to the run's story. */
function note(draft: Draft, live: Live, type: string, text: string): void {
  const line: RunEvent = { runId: live.runId, at: draft.now, type, text: text.slice(0, 4 * MESSAGE_LENGTH) };
  putLive(draft, {
    ...live,
    lastEvent: type,
    lastMessage: text === '' ? live.lastMessage : text.slice(0, MESSAGE_LENGTH),
    lastEventAt: draft.now,
    unsavedEvents: [...live.unsavedEvents, line].slice(-UNSAVED_EVENTS),
  });
  announce(draft, 'run:agent:spoke', { issue: live.issue, runId: live.runId, type, text: line.text });
}

/** The conversation's id is durable: a restart goes on with it. */
function keepSession(draft: Draft, live: Live, sessionId: string): void {
  const claim = draft.state.claims.get(live.issue.id);
  if (claim?.phase === 'running') putClaim(draft, { ...claim, sessionId });
}

function endTool(live: Live, toolId: string, now: number): Live {
  const { [toolId]: startedAt, ...openTools } = live.openTools;
  if (startedAt === undefined) return live;
  return { ...live, openTools, toolMs: (live.toolMs ?? 0) + (now - startedAt) };
}

function workspaceRecord(draft: Draft, live: Live, path: string) {
  const { id, identifier, title } = live.issue;
  return { path, issueId: id, identifier, title, lastUsedAt: draft.now };
}

function higher(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combine(a, b, Math.max);
}

function subtract(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combine(a, b, (x, y) => x - y);
}

function add(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combine(a, b, (x, y) => x + y);
}

function combine(a: TokenUsage, b: TokenUsage, op: (x: number, y: number) => number): TokenUsage {
  return {
    inputTokens: op(a.inputTokens, b.inputTokens),
    outputTokens: op(a.outputTokens, b.outputTokens),
    totalTokens: op(a.totalTokens, b.totalTokens),
    cacheReadTokens: op(a.cacheReadTokens, b.cacheReadTokens),
  };
}
