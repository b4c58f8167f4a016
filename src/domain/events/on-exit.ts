import { CONTINUATION_MS } from '../rules/backoff.ts';
import { spentOn, usdText } from '../rules/budget.ts';
import { removeWorkspaceOf } from '../workspace-records.ts';
import { ask, settle } from '../pending-effects.ts';
import {
  announce,
  changeTotals,
  dropLive,
  dropWatch,
  putClaim,
  putDeparted,
  putRun,
  queueWrite,
  release,
  type Draft,
} from '../draft.ts';
import type { AgentErrorKind } from '../model/errors.ts';
import type { Event, RunExit } from '../model/event.ts';
import { stateIn, type IssueRef } from '../model/issue.ts';
import { reasonToStop } from './on-issue-states.ts';
import { stoppedBy } from './on-operator.ts';
import { countCost, saveEvents } from './on-run.ts';
import type { RunStatus, StopReason } from '../model/run.ts';
import { settingsFor, type Live, type State } from '../model/state.ts';
import { stopComment } from '../rules/stop-comment.ts';
import { stopperOf, type Handoff, type ParkReason, type RunningClaim, type Verdict } from '../model/claim.ts';
import { leaveTurn } from '../reactions/queued-turn.ts';
import { armWatch } from './watching.ts';
import { onFailure, wait } from './on-failure.ts';
import { park } from './parking.ts';
import { uncountSession } from './spent.ts';
import { runOf } from './start-run.ts';

export function onRunExited(draft: Draft, event: Extract<Event, { type: 'run-exited' }>): void {
  settle(draft, 'start-run', event.runId);
  const live = draft.state.live.get(event.issueId);
  const claim = draft.state.claims.get(event.issueId);
  if (live === undefined || live.runId !== event.runId || claim?.phase !== 'running') return;
  const verdict = judgeExit(draft.state, live, event.exit);
  closeRun(draft, live, claim, event.exit, verdict);
  postStatement(draft, live, event.exit);
  armWatch(draft, live, event.exit, verdict);
  follow(draft, live.issue, { ...claim, issue: live.issue }, verdict);
  if (event.exit.kind !== 'normal' || verdict.then === 'park') leaveTurn(draft, claim);
}

/** The table of exits. A stop we asked for wins over what the agent says, unless it had finished anyway. */
export function judgeExit(state: State, live: Live, exit: RunExit): Verdict {
  const stopping = stopReasonOf(state, live);
  const stopped = stopping === null ? null : afterStop(stopping, state, live, exit);
  if (stopped) return stopped;
  if (exit.kind === 'normal') return afterNormalExit(state, live, exit);
  if (isOver(state, live)) return OVER;
  const fault = exit.fault ?? { kind: 'internal_error', message: 'the run ended without saying why', consequence: 'back-off' };
  return { then: 'retry', fault };
}

/** A person's word counts more than our own reasons. */
function stopReasonOf(state: State, live: Live): StopReason | null {
  return operatorOf(state, live) !== null ? 'operator' : live.stopping;
}

/** By the state that was read last. */
function isOver(state: State, { issue }: Live): boolean {
  return stateIn(settingsFor(state, issue.id).tracker.terminalStates, issue.state);
}

function operatorOf(state: State, live: Live): string | null {
  return stopperOf(state.claims.get(live.issue.id));
}

function parkedByOperator(state: State, live: Live): Verdict {
  if (isOver(state, live)) return OVER;
  return { then: 'park', reason: 'stopped_by_operator', detail: stoppedBy(operatorOf(state, live) ?? '') };
}

function afterStop(reason: StopReason, state: State, live: Live, exit: RunExit): Verdict | null {
  const { agent } = settingsFor(state, live.issue.id);
  switch (reason) {
    case 'terminal':
    case 'inactive':
      // A stop takes a while: the issue may have been moved again, and one that is open keeps its workspace.
      return isOver(state, live) ? OVER : released(`the issue moved to "${live.issue.state}"`);
    case 'vanished':
      return released('the tracker no longer gives the issue a state');
    case 'stalled':
      return retry('turn_stalled', `no sign of life for ${agent.stallTimeoutMs} ms (agent.stall_timeout_ms)`);
    case 'tool_timeout':
      return retry('turn_stalled', `a tool call gave no sign of life for ${agent.toolTimeoutMs} ms (agent.tool_timeout_ms)`);
    case 'turn_timeout':
      return retry('turn_timeout', `turn ${live.turn} took longer than ${agent.turnTimeoutMs} ms (agent.turn_timeout_ms)`);
    case 'token_budget':
      return {
        then: 'park',
        reason,
        detail: `${spentOn(state, live.issue.id).tokens} tokens used (agent.max_tokens is ${agent.maxTokens})`,
      };
    case 'cost_budget':
      return {
        then: 'park',
        reason,
        detail: `${usdText(spentOn(state, live.issue.id).costUsd)} USD used (agent.max_cost_usd is ${agent.maxCostUsd})`,
      };
    case 'operator':
      return parkedByOperator(state, live);
    case 'shutdown':
    case 'recalled':
      return exit.kind === 'normal' ? null : { then: 'resume', error: CUT_SHORT[reason] };
  }
}

function afterNormalExit(state: State, live: Live, exit: RunExit): Verdict {
  const { handoffState, noChangeState, activeStates } = settingsFor(state, live.issue.id).tracker;
  const moved = reasonToStop(state, live, live.issue.state);
  if (moved === 'terminal') return OVER;
  const word = exit.status?.word ?? null;
  if (word === 'blocked') return { then: 'park', reason: 'blocked', detail: exit.status?.statement ?? '' };
  if (moved !== null) return released(`the issue moved to "${live.issue.state}"`);
  if (!stateIn(activeStates, live.issue.state)) return released('the reaction ended');
  const target = word === 'no-change-needed' ? (noChangeState ?? handoffState) : handoffState;
  if (target !== null) return { then: 'hand-off', target };
  if (word !== null) return { then: 'park', reason: 'needs_review', detail: exit.status?.statement ?? '' };
  return { then: 'continue' };
}

/** Ends the session's books: history, totals, the record. */
function closeRun(draft: Draft, live: Live, claim: RunningClaim, exit: RunExit, verdict: Verdict): void {
  const error = verdict.then === 'retry' ? verdict.fault.message : null;
  const status = statusOf(exit, verdict);
  const durationMs = draft.now - live.startedAt;
  putRun(draft, { ...runOf(draft, live, claim.trigger, status, error ?? whyCancelled(status, verdict)), turns: exit.turns });
  saveEvents(draft, live);
  countCost(draft, live, live.costUsd ?? 0);
  const { totals } = draft.state;
  changeTotals(draft, { ...totals, seconds: totals.seconds + durationMs / 1000 });
  dropLive(draft, live.issue.id);
  if (verdict.then === 'hand-off') putDeparted(draft, { ...live, lastEvent: 'handing_off', lastEventAt: draft.now });
  announce(draft, 'run:worker:exited', {
    issue: live.issue,
    runId: live.runId,
    // A run that we stopped because it stalled or took too long has failed, as its history says too.
    exitKind: status === 'failed' ? 'error' : exit.kind,
    status,
    turns: exit.turns,
    durationMs,
    error,
  });
}

/** What the history says of a run that did not fail and was ended all the same. */
function whyCancelled(status: RunStatus, verdict: Verdict): string | null {
  if (status !== 'cancelled') return null;
  if (verdict.then === 'park') return verdict.detail;
  return verdict.then === 'release' ? verdict.reason : null;
}

function statusOf(exit: RunExit, verdict: Verdict): RunStatus {
  if (verdict.then === 'resume') return 'interrupted';
  if (verdict.then === 'retry') return 'failed';
  if (verdict.then === 'park' && verdict.reason !== 'stopped_by_operator') return PARK_STATUS[verdict.reason] ?? 'succeeded';
  return exit.kind === 'normal' ? 'succeeded' : 'cancelled';
}

const PARK_STATUS: Readonly<Partial<Record<ParkReason, RunStatus>>> = {
  blocked: 'blocked',
  token_budget: 'budget_stopped',
  cost_budget: 'budget_stopped',
};

/** What the agent had to say when it stopped by its own word goes to the tracker. */
function postStatement(draft: Draft, live: Live, exit: RunExit): void {
  if (exit.kind !== 'normal' || exit.status === null || exit.status.statement === '') return;
  const text = stopComment(exit.status, live.runId);
  queueWrite(draft, live.issue, `statement:${live.runId}`, { kind: 'comment', text });
}

function follow(draft: Draft, issue: IssueRef, claim: RunningClaim, verdict: Verdict): void {
  switch (verdict.then) {
    case 'hand-off':
      handOff(draft, { ...claim, failures: 0 }, { runId: claim.runId, target: verdict.target }, { begun: false });
      return;
    case 'continue':
      wait(draft, claim, { trigger: 'continuation', delayMs: CONTINUATION_MS, error: '', keepSession: true, failures: 0 });
      return;
    case 'resume':
      uncountSession(draft, issue.id);
      wait(draft, claim, { trigger: 'restart', delayMs: 0, error: verdict.error, keepSession: true, failures: claim.failures });
      return;
    case 'retry':
      onFailure(draft, issue, claim, verdict.fault);
      return;
    case 'park':
      park(draft, issue, verdict.reason, verdict.detail);
      return;
    case 'release': {
      const { handoffState } = settingsFor(draft.state, issue.id).tracker;
      release(draft, issue, verdict.reason);
      if (verdict.terminal) {
        dropWatch(draft, issue.id);
        removeWorkspaceOf(draft, issue, 'the issue is terminal');
      }
      if (handoffState !== null) {
        announce(draft, 'handoff:transition:skipped', {
          issue,
          state: handoffState,
          reason: verdict.reason,
        });
      }
      return;
    }
  }
}

export const RESTART_ERROR = 'the run was cut short by a restart of the service';
/** The same where it may still go on for a while: its issue must wait. */
export const NEW_LEADER_ERROR = 'the run was cut short by a change of leader';
const CUT_SHORT = { shutdown: RESTART_ERROR, recalled: 'the run was taken out of the queue before a worker had it' } as const;

/** Moves a claim to the handoff: durable before the tracker is asked. An earlier try of one that was `begun` may have got half way. */
export function handOff(
  draft: Draft,
  claim: Omit<RunningClaim, 'phase'>,
  handoff: Handoff,
  { begun }: { readonly begun: boolean },
): void {
  const { issue, attempt, failures, refusals, sessionId } = claim;
  putClaim(draft, { phase: 'handing-off', issue, attempt, failures, refusals, sessionId, since: draft.now, handoff });
  ask(draft, { do: 'hand-off', issue, handoff, settings: settingsFor(draft.state, issue.id), begun });
}

const OVER: Verdict = { then: 'release', reason: 'the issue is terminal', terminal: true };

/** Of an issue that goes on without us. */
function released(reason: string): Verdict {
  return { then: 'release', reason, terminal: false };
}

function retry(kind: AgentErrorKind, detail: string): Verdict {
  return { then: 'retry', fault: { kind, message: `agent: ${kind}: ${detail}`, consequence: 'back-off' } };
}
