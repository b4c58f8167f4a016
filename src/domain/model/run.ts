import type { TokenUsage } from './agent-event.ts';
import type { IssueRef } from './issue.ts';
import type { TurnKind } from './reaction.ts';
import type { Issue } from './issue.ts';
import type { ReactionContext } from './reaction.ts';

/** How a worker ended, as the records and metrics name it. */
export type ExitKind = 'normal' | 'error' | 'cancelled';

/** What became of a run. `interrupted` is a run that a stop or crash of the daemon cut short. */
export const RUN_STATUSES = ['running', 'succeeded', 'failed', 'cancelled', 'interrupted', 'budget_stopped', 'blocked'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** One row of history: a session of one issue, from dispatch to exit. */
export interface Run {
  readonly id: string;
  readonly issue: IssueRef;
  readonly attempt: number;
  readonly trigger: Trigger;
  readonly agentKind: string;
  readonly status: RunStatus;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly turns: number;
  readonly sessionId: string;
  readonly workspacePath: string;
  readonly model: string | null;
  readonly tokens: TokenUsage;
  /** False when the agent reported no figures: then the tokens are unknown, not zero. */
  readonly tokensMeasured: boolean;
  readonly costUsd: number | null;
  readonly error: string | null;
}

/** Why a run was started, apart from those that a reaction starts. */
export const OWN_TRIGGERS = ['fresh', 'error', 'continuation', 'restart'] as const;
export type Trigger = (typeof OWN_TRIGGERS)[number] | TurnKind;

/**
 * One recorded event of a run. `type` and `text` are enough for a plain list; `details` holds what a page needs to show
 * more, by type:
 *
 *   workspace_prepared  no text, no details
 *   session_started     no text, no details
 *   turn_started        no text; details: turn and the prompt it was given
 *   turn_completed      no text; details: turn
 *   message             text: what the model wrote
 *   tool_started        text: the tool's name and its input; details: the call
 *   tool_ended          text: the same, with `failed` where it did; details: the call, its result and duration
 *   usage               no text; details: the figures of the whole run so far. At most one in 5 seconds and one a turn.
 *   notice              text: a remark of the agent or of a tool of ours
 *   left_out            text says how much of the oldest was dropped to stay within agent.max_recorded_bytes; always
 *                       first; details: how many events and bytes. Made when read, never written.
 */
export interface RunEvent {
  readonly runId: string;
  readonly at: number;
  readonly type: string;
  readonly text: string;
  readonly details?: RunEventDetails;
}

export type RunEventDetails =
  | { readonly kind: 'turn'; readonly turn: number; readonly prompt?: string }
  | { readonly kind: 'call'; readonly toolId: string; readonly name: string; readonly input: string }
  | {
      readonly kind: 'result';
      readonly toolId: string;
      readonly name: string;
      readonly input: string;
      readonly ok: boolean;
      /** Null when its start was not seen. */
      readonly durationMs: number | null;
      /** The last lines; empty when the agent does not tell. */
      readonly output: string;
    }
  | { readonly kind: 'usage'; readonly tokens: TokenUsage; readonly costUsd: number | null; readonly requests: number }
  | { readonly kind: 'left-out'; readonly events: number; readonly bytes: number };

/** What an issue has used of its budgets, over all its runs since it was last released by a person. */
export interface Spent {
  readonly issueId: string;
  readonly sessions: number;
  readonly tokens: number;
  readonly costUsd: number;
}

/** Why a run was told to stop from outside. */
export type StopReason =
  | 'terminal'
  | 'inactive'
  | 'vanished'
  | 'stalled'
  | 'tool_timeout'
  | 'turn_timeout'
  | 'token_budget'
  | 'cost_budget'
  | 'operator'
  | 'shutdown'
  /** It waits in the queue, and is to be dispatched anew. */
  | 'recalled';

/** What the prompt of one turn is made from. */
export interface TemplateInput {
  readonly issue: Issue;
  readonly attempt: number;
  readonly run: { readonly turnNumber: number; readonly maxTurns: number };
  readonly reaction: ReactionContext | null;
  /** Whether the session can call the tools of this service. */
  readonly hasTools: boolean;
}
