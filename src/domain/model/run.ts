import type { TokenUsage } from './agent-event.ts';
import type { IssueRef } from './issue.ts';

/** How a worker ended, as the records and metrics name it. */
export type ExitKind = 'normal' | 'error' | 'cancelled';

/** What became of a run. `interrupted` is a run that a stop or crash of the daemon cut short. */
export type RunStatus = 'running' | 'succeeded' | 'failed' | 'cancelled' | 'interrupted' | 'budget_stopped' | 'blocked';

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

/** Why a run was started. The last ones are reactions to a merge request. */
export type Trigger =
  | 'fresh'
  | 'error'
  | 'continuation'
  | 'restart'
  | 'ci_failure'
  | 'review_comments'
  | 'bot_review'
  | 'merge_conflicts'
  | 'label_commands';

/** One line of a run's story, kept with it. */
export interface RunEvent {
  readonly runId: string;
  readonly at: number;
  readonly type: string;
  readonly text: string;
}

/** What an issue has used of its budgets, over all its runs since it was last released by a person. */
export interface Spent {
  readonly issueId: string;
  readonly sessions: number;
  readonly tokens: number;
  readonly costUsd: number;
}

/** Why a run was told to stop from outside. */
export type StopReason =
  'terminal' | 'inactive' | 'vanished' | 'stalled' | 'turn_timeout' | 'token_budget' | 'cost_budget' | 'shutdown';
