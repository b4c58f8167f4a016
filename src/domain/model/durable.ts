import type { AgentPause, Approval, Claim, OutboxEntry, Parked, WorkspaceRecord } from './claim.ts';
import type { Told } from './notification.ts';
import type { OperatorAnswer, OperatorPause } from './operator.ts';
import type { Run, RunEvent, Spent } from './run.ts';
import type { Watch } from './watch.ts';

/** What survives the process, and how it is changed. */
export interface Durable {
  readonly claims: readonly Claim[];
  readonly parked: readonly Parked[];
  readonly outbox: readonly OutboxEntry[];
  readonly workspaces: readonly WorkspaceRecord[];
  readonly spent: readonly Spent[];
  readonly pauses: readonly AgentPause[];
  readonly watches: readonly Watch[];
  readonly approvals: readonly Approval[];
  readonly operatorPause: OperatorPause | null;
  readonly told: readonly Told[];
}

export const NOTHING_DURABLE: Durable = {
  claims: [],
  parked: [],
  outbox: [],
  workspaces: [],
  spent: [],
  pauses: [],
  watches: [],
  approvals: [],
  operatorPause: null,
  told: [],
};

export type Write =
  | { readonly write: 'claim'; readonly claim: Claim }
  | { readonly write: 'release'; readonly issueId: string }
  | { readonly write: 'park'; readonly parked: Parked }
  | { readonly write: 'unpark'; readonly issueId: string }
  /** Inserts or replaces the run. */
  | { readonly write: 'run'; readonly run: Run }
  /** Marks every run that is still `running` as `interrupted`: their process is gone. */
  | { readonly write: 'interrupt-runs'; readonly at: number }
  /** Of a run that exceeds `maxBytes` the oldest events are dropped, and how many they were is kept. */
  | { readonly write: 'run-events'; readonly events: readonly RunEvent[]; readonly maxBytes: number }
  | { readonly write: 'outbox'; readonly entry: OutboxEntry }
  | { readonly write: 'outbox-done'; readonly id: string }
  | { readonly write: 'workspace'; readonly workspace: WorkspaceRecord }
  | { readonly write: 'workspace-gone'; readonly path: string }
  /** Replaces what the issue has used of its budgets. */
  | { readonly write: 'spent'; readonly spent: Spent }
  | { readonly write: 'pause'; readonly pause: AgentPause }
  | { readonly write: 'resume'; readonly agentKind: string }
  /** Inserts or replaces the watched merge request of an issue. */
  | { readonly write: 'watch'; readonly watch: Watch }
  | { readonly write: 'unwatch'; readonly issueId: string }
  /** Inserts or replaces what was approved of an issue. */
  | { readonly write: 'approve'; readonly approval: Approval }
  /** The label is gone. */
  | { readonly write: 'unapprove'; readonly issueId: string }
  /** Null lets issues be dispatched again. */
  | { readonly write: 'operator-pause'; readonly pause: OperatorPause | null }
  /** Inserts or replaces what was told of something that lasts. */
  | { readonly write: 'told'; readonly told: Told }
  /** It is over. */
  | { readonly write: 'told-over'; readonly subject: Told['subject'] }
  /** What became of a request; it is not handed out again. */
  | { readonly write: 'answer'; readonly requestId: string; readonly answer: OperatorAnswer; readonly at: number };
