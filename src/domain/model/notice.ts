import type { TokenUsage } from './agent-event.ts';
import type { ParkReason } from './claim.ts';
import type { FaultKind } from './errors.ts';
import type { IssueRef } from './issue.ts';
import type { NotificationEvent } from './notification.ts';
import type { OperatorAnswer, OperatorRequest } from './operator.ts';
import type { ProblemFacts } from './problem.ts';
import type { Quota } from './quota.ts';
import type { Escalation, ReactionKind } from './reaction.ts';
import type { HoldCounts, HoldReason } from './hold.ts';
import type { ExitKind, RunEventDetails, RunStatus, StopReason, Trigger } from './run.ts';

/**
 * Everything worth telling, by name `area:thing:outcome`. The log, the metrics, the event stream and the history are
 * listeners of this one map; none of them can change what happens.
 */
export interface Notices {
  'poll:tick:completed': {
    candidates: number;
    dispatched: number;
    running: number;
    retrying: number;
    durationMs: number;
    /** How many candidates without a claim are held, by reason. */
    held?: HoldCounts;
  };
  /** `waitsUntil` is set where the remote asked for a longer wait than that between polls. */
  'poll:tick:failed': { error: string; kind: FaultKind; retryInMs: number; durationMs: number; waitsUntil?: number };
  /** It takes long to prove itself at start, or to answer a poll. */
  'tracker:answer:awaited': { kind: string };
  /** A read at start failed in a way that may heal, and is tried again. `tries` counts those that failed. */
  'tracker:start:failed': { error: string; kind: FaultKind; retryInMs: number; tries: number };
  'tracker:start:postponed': { error: string; kind: FaultKind; retryInMs: number };
  /** Told once for each wait. */
  'poll:tick:postponed': { reason: string; resource: string; until: number };
  /** It no longer waits. */
  'poll:tick:resumed': Record<never, never>;
  'poll:pace:slowed': { intervalMs: number };
  'poll:pace:restored': { intervalMs: number };
  'poll:states:failed': { error: string; running: number };
  'poll:preflight:failed': { problem: string };
  'poll:preflight:passed': Record<never, never>;
  'issue:dispatch:started': { issue: IssueRef; runId: string; attempt: number; trigger: Trigger; agentKind: string };
  /** Told when the reason is new. */
  'issue:candidate:held': { issue: IssueRef; reason: HoldReason; detail: string };
  /** Told instead of one record for each when many are held for the same reason. */
  'poll:candidates:held': { reason: HoldReason; candidates: number };
  /** How many candidates of one poll were held, by reason. */
  'poll:holds:counted': { counts: HoldCounts };
  'issue:claim:released': { issue: IssueRef; reason: string };
  'issue:park:entered': { issue: IssueRef; reason: ParkReason; detail: string };
  'issue:park:released': { issue: IssueRef; reason: string };
  'issue:in-progress:succeeded': { issue: IssueRef; state: string };
  'issue:in-progress:refused': { issue: IssueRef; state: string; error: string };
  'issue:state:unreadable': { issue: IssueRef; error: string };
  'run:workspace:prepared': { issue: IssueRef; runId: string; workspace: string };
  'run:session:started': { issue: IssueRef; runId: string; sessionId: string };
  'run:turn:started': { issue: IssueRef; runId: string; turn: number; maxTurns: number };
  'run:turn:completed': { issue: IssueRef; runId: string; turn: number; maxTurns: number };
  'run:agent:spoke': { issue: IssueRef; runId: string; type: string; text: string; details?: RunEventDetails };
  'run:tokens:counted': { issue: IssueRef; runId: string; tokens: TokenUsage };
  /** What became certain since the last time: a guess is told only when the run is over. */
  'run:cost:counted': { issue: IssueRef; runId: string; agentKind: string; costUsd: number };
  /** The agent told no figures in its first turn, so these ceilings stop nothing. */
  'run:ceiling:blind': { issue: IssueRef; runId: string; keys: readonly string[] };
  'run:stop:requested': { issue: IssueRef; runId: string; reason: StopReason };
  'run:review:failed': { issue: IssueRef; runId: string; command: string; output: string; iteration: number; isLast: boolean };
  'run:worker:exited': {
    issue: IssueRef;
    runId: string;
    exitKind: ExitKind;
    status: RunStatus;
    turns: number;
    durationMs: number;
    error: string | null;
  };
  'handoff:transition:succeeded': { issue: IssueRef; state: string };
  'handoff:transition:refused': { issue: IssueRef; state: string; error: string };
  'handoff:transition:failed': { issue: IssueRef; state: string; error: string };
  'handoff:transition:skipped': { issue: IssueRef; state: string; reason: string };
  'retry:entry:scheduled': { issue: IssueRef; attempt: number; trigger: Trigger | 'handoff'; delayMs: number; error: string };
  'retry:entry:deferred': { issue: IssueRef; attempt: number; delayMs: number; reason: string };
  'retry:entry:dropped': { issue: IssueRef; attempt: number; reason: string };
  'reconcile:issue:stopped': { issue: IssueRef; reason: StopReason; state: string };
  'reconcile:issue:kept': { issue: IssueRef };
  'workspace:directory:removed': { issueId: string; identifier: string; workspace: string; why: string };
  /** It had the issue's name, but no mark of ours. */
  'workspace:directory:aside': { issueId: string; identifier: string; workspace: string; aside: string };
  'workspace:directory:kept': { issueId: string; identifier: string; workspace: string; error: string };
  'cleanup:read:failed': { error: string; retryInMs: number };
  'cleanup:root:failed': { error: string; retryInMs: number };
  'outbox:write:sent': { issue: IssueRef; kind: 'comment' | 'label' };
  'outbox:write:failed': { issue: IssueRef; kind: 'comment' | 'label'; error: string; gaveUp: boolean };
  'notification:message:sent': { target: string; event: NotificationEvent };
  'notification:message:failed': { target: string; event: NotificationEvent; error: string; tries: number; gaveUp: boolean };
  /** Too many wait for the target already. */
  'notification:message:dropped': { target: string; event: NotificationEvent };
  'agent:kind:paused': { agentKind: string; until: number; reason: string };
  'agent:kind:resumed': { agentKind: string };
  'reaction:watch:armed': { issue: IssueRef; owner: string; repo: string; number: number };
  'reaction:request:refused': { issue: IssueRef; owner: string; repo: string; number: number; why: string };
  'reaction:request:closed': { issue: IssueRef; owner: string; repo: string; number: number };
  'reaction:issue:closed': { issue: IssueRef; owner: string; repo: string; number: number };
  'reaction:issue:gone': { issue: IssueRef; owner: string; repo: string; number: number };
  'reaction:request:gone': { issue: IssueRef; owner: string; repo: string; number: number };
  /** Once per cause and request. */
  'reaction:read:failed': { issue: IssueRef; number: number; error: string };
  /** Once per cause. */
  'reaction:account:unknown': { error: string };
  'reaction:merge:queued': { issue: IssueRef; number: number; headSha: string };
  /** Once per head. */
  'reaction:merge:postponed': { issue: IssueRef; number: number; headSha: string; why: string };
  'reaction:watch:ended': { issue: IssueRef; why: string };
  'reaction:check:completed': { issue: IssueRef; kind: ReactionKind; result: string; detail: string };
  'reaction:turn:queued': { issue: IssueRef; kind: ReactionKind; attempt: number };
  'reaction:turn:dropped': { issue: IssueRef; kind: ReactionKind; why: string };
  'reaction:escalation:raised': { issue: IssueRef; kind: ReactionKind; action: Escalation; why: string };
  'reaction:merge:succeeded': { issue: IssueRef; number: number; headSha: string; byUs: boolean };
  'reaction:merge:failed': { issue: IssueRef; number: number; error: string };
  'reaction:merge:would': { issue: IssueRef; number: number; headSha: string; strategy: string };
  'reaction:merge:disabled': { why: string };
  'reaction:branch:deleted': { issue: IssueRef; branch: string };
  'reaction:branch:kept': { issue: IssueRef; branch: string; error: string };
  'reaction:completion:succeeded': { issue: IssueRef; state: string };
  'reaction:completion:failed': { issue: IssueRef; state: string; error: string };
  'reaction:label:kept': { issue: IssueRef; label: string; error: string };
  /** What is stored for another tracker and therefore not acted upon. */
  'tracker:records:left': {
    label: string;
    claims: number;
    retries: number;
    parked: number;
    outbox: number;
    watches: number;
    workspaces: number;
  };
  'tracker:request:made': { operation: string; result: 'success' | 'error' };
  /** A request of a reaction or a delivery. */
  'forge:request:made': { kind: string; result: 'success' | 'error' };
  'tracker:quotas:read': { quotas: readonly Quota[] };
  'workflow:file:reloaded': { path: string };
  /** An edit is not in force yet: its tracker takes long to prove itself. */
  'workflow:file:awaited': { path: string; kind: string };
  'workflow:file:rejected': { path: string; problems: readonly string[]; faults: readonly ProblemFacts[] };
  /** A person asked for something and was answered. */
  'operator:request:answered': { id: string; request: OperatorRequest; by: string; answer: OperatorAnswer };
  'daemon:drain:started': { running: number };
  'daemon:drain:cut': { running: number; writes: readonly string[] };
  'daemon:effect:failed': { effect: string; error: string };
}

export type NoticeName = keyof Notices;
export type Notice = {
  readonly [Name in NoticeName]: {
    readonly name: Name;
    readonly facts: Notices[Name];
    /** The identity of the tracker whose loop tells it; none for what the service itself tells. */
    readonly tracker?: string;
  };
}[NoticeName];
