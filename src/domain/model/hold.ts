import type { IssueRef } from './issue.ts';

interface HoldKind {
  /** It ends by itself, so its beginning is no news. */
  readonly isPassing: boolean;
  readonly means: string;
}

/** Why a candidate is not dispatched: one row for each reason, read by types, metrics, log and docs. */
export const HOLDS = {
  incomplete_record: { isPassing: false, means: 'the record lacks an id, identifier, title or state' },
  not_active: { isPassing: false, means: 'its state is not an active one' },
  running: { isPassing: true, means: 'a session works on it' },
  retrying: { isPassing: true, means: 'it waits in the retry queue' },
  handing_off: { isPassing: true, means: 'its handoff is under way' },
  completing: { isPassing: true, means: 'its merge request is merged, and the move to its last state is under way' },
  just_released: { isPassing: true, means: 'it was released while the poll was under way' },
  removing_workspace: { isPassing: true, means: 'the workspace of its last run is being removed' },
  ending_elsewhere: { isPassing: true, means: 'its last session may go on under the leader before' },
  parked: { isPassing: false, means: 'it waits for a person' },
  draining: { isPassing: false, means: 'the service is stopping' },
  paused: { isPassing: false, means: 'an operator paused the service' },
  preflight_failed: { isPassing: false, means: 'no session could start' },
  agent_paused: { isPassing: false, means: 'the agent rests until its limit lifts' },
  session_budget: { isPassing: false, means: 'agent.max_sessions is used up' },
  token_budget: { isPassing: false, means: 'agent.max_tokens is used up' },
  cost_budget: { isPassing: false, means: 'agent.max_cost_usd is used up' },
  untrusted_author: { isPassing: false, means: 'its author is none of those that tracker.authors trusts' },
  not_approved: { isPassing: false, means: 'it does not carry tracker.approval_label' },
  changed_after_approval: { isPassing: false, means: 'its text changed after tracker.approval_label was set' },
  approval_not_read: { isPassing: true, means: 'it waits to be read whole before it starts, as approval asks' },
  read_again: { isPassing: true, means: 'it was worked on before, and is read by itself before it starts again' },
  blocked_by: { isPassing: false, means: 'another issue blocks it' },
  blockers_unresolved: { isPassing: false, means: 'its blockers could not be read' },
  blockers_not_read: { isPassing: true, means: 'its blockers wait to be read' },
  no_global_slot: { isPassing: true, means: 'all slots are taken' },
  no_state_slot: { isPassing: true, means: 'all slots of its state are taken' },
  tracker_quota: { isPassing: true, means: "the next poll waits for the tracker's quota" },
  next_poll: { isPassing: true, means: 'nothing holds it now; the next poll looks at it again' },
} as const satisfies Record<string, HoldKind>;

export type HoldReason = keyof typeof HOLDS;

export const HOLD_REASONS = Object.keys(HOLDS) as readonly HoldReason[];

/** Held, but shown by another list: to tell of them again would bury the rest. */
export const SHOWN_ELSEWHERE: ReadonlySet<HoldReason> = new Set(['running', 'retrying', 'handing_off', 'parked']);

export interface Hold {
  readonly issue: IssueRef;
  readonly reason: HoldReason;
  readonly detail: string;
  readonly since: number;
}

export type HoldCounts = Readonly<Partial<Record<HoldReason, number>>>;

/** Why a candidate may not run, or null when it may. */
export interface HoldVerdict {
  readonly reason: HoldReason;
  readonly detail: string;
}
