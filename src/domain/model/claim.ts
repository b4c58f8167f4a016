import type { Approvable, IssueRef } from './issue.ts';
import type { NotificationWrite } from './notification.ts';
import type { ReactionContext } from './reaction.ts';
import type { Trigger } from './run.ts';
import type { Fault } from './fault.ts';

/**
 * Our hold on one issue, durable: written before anything is done for the issue and deleted only when it is released.
 * One issue has at most one claim, so it is running, waiting or being handed off, never two of these at once.
 */
export type Claim = RunningClaim | WaitingClaim | HandoffClaim;

/** Sessions and handoffs under way both hold a slot. */
export function holdsSlot(claim: Claim | undefined): boolean {
  return claim !== undefined && claim.phase !== 'waiting';
}

/** Who asked for the end of a session that is not over yet. */
export function stopperOf(claim: Claim | undefined): string | null {
  return claim?.phase === 'running' ? claim.stoppedBy : null;
}

/** When the first of those that wait falls due; Infinity when none waits. */
export function earliestDue(claims: Iterable<Claim>): number {
  let earliest = Infinity;
  for (const claim of claims) if (claim.phase === 'waiting' && claim.dueAt < earliest) earliest = claim.dueAt;
  return earliest;
}

interface ClaimBase {
  readonly issue: IssueRef;
  /** 0 for the first run; grows with every further one and never falls while the claim lives. */
  readonly attempt: number;
  /** Failed runs in a row, or tries of a handoff: drives the backoff, and of runs `agent.max_attempts`. */
  readonly failures: number;
  /** Handoffs in a row that the tracker refused for lack of permission. */
  readonly refusals: number;
  /** The agent's conversation to go on with, where there is one. */
  readonly sessionId: string | null;
  readonly since: number;
}

/** A session is being prepared or runs. */
export interface RunningClaim extends ClaimBase {
  readonly phase: 'running';
  readonly runId: string;
  readonly trigger: Trigger;
  /** What a reaction has to tell the agent on its first turn. */
  readonly reaction: ReactionContext | null;
  /** Who asked for its end; then it is parked when the session is over. */
  readonly stoppedBy: string | null;
}

/** Waiting in the retry queue for its time. */
export interface WaitingClaim extends ClaimBase {
  readonly phase: 'waiting';
  readonly dueAt: number;
  readonly error: string;
  /** What happens when it falls due: another run, or the handoff that the tracker did not take. */
  readonly then: WaitingFor;
}

export type WaitingFor =
  | { readonly kind: 'run'; readonly trigger: Trigger; readonly reaction: ReactionContext | null }
  | { readonly kind: 'handoff'; readonly handoff: Handoff };

/** The run ended well and the tracker is being told. */
export interface HandoffClaim extends ClaimBase {
  readonly phase: 'handing-off';
  readonly handoff: Handoff;
}

/** A handoff, decided once and carried out until the tracker has it. */
export interface Handoff {
  readonly runId: string;
  readonly target: string;
}

export const PARK_REASONS = [
  'blocked',
  'needs_review',
  'needs_person',
  'refused',
  'session_budget',
  'token_budget',
  'cost_budget',
  'out_of_attempts',
  'escalated',
  'stopped_by_operator',
] as const;
export type ParkReason = (typeof PARK_REASONS)[number];

/** An issue that waits for a person. Released by a change of its tracker state or by `foray unpark`. */
export interface Parked {
  readonly issue: IssueRef;
  readonly reason: ParkReason;
  /** For people: the agent's statement, the budget that ran out, the last error. */
  readonly detail: string;
  readonly parkedAt: number;
  /** The tracker state a change is measured against: the first one that was read after the park, null until then. */
  readonly stateAtPark: string | null;
}

/** A comment or label for the tracker, or a message for people: recorded before it is tried, forgotten when it arrived. */
export interface OutboxEntry {
  readonly id: string;
  readonly issue: IssueRef;
  readonly write: TrackerWrite | NotificationWrite;
  readonly tries: number;
  readonly dueAt: number;
}

export type TrackerWrite =
  { readonly kind: 'comment'; readonly text: string } | { readonly kind: 'label'; readonly label: string };

/** What an issue said when its approval label was first seen. It stays: the same label approves no later edit. */
export interface Approval extends Approvable {
  readonly issueId: string;
  /** The label that approved it. */
  readonly label: string;
  readonly seenAt: number;
}

/** A workspace directory we made, kept until it is removed. */
export interface WorkspaceRecord {
  readonly path: string;
  readonly issueId: string;
  readonly identifier: string;
  readonly title: string;
  readonly lastUsedAt: number;
}

/** An agent kind that may not start sessions until its provider's limit lifts. */
export interface AgentPause {
  readonly agentKind: string;
  readonly until: number;
  readonly reason: string;
}

/** What follows a run, decided from how it ended and from the freshest state of the issue. */
export type Verdict =
  | { readonly then: 'hand-off'; readonly target: string }
  | { readonly then: 'continue' }
  | { readonly then: 'retry'; readonly fault: Fault }
  | { readonly then: 'park'; readonly reason: ParkReason; readonly detail: string }
  | { readonly then: 'resume'; readonly error: string }
  | { readonly then: 'release'; readonly reason: string; readonly terminal: boolean };
