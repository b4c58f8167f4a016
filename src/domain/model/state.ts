import { NO_TOKENS, type TokenUsage } from './agent-event.ts';
import type { AgentPause, Approval, Claim, OutboxEntry, Parked, WorkspaceRecord } from './claim.ts';
import type { Pending } from './effect.ts';
import type { Answer } from './answer.ts';
import type { Blocker, Issue, IssueRef } from './issue.ts';
import type { OperatorPause } from './operator.ts';
import type { RequestReading } from '../reactions/findings.ts';
import type { PostponedPoll, Quota } from './quota.ts';
import type { RunEvent, Spent, StopReason } from './run.ts';
import type { Settings } from './settings.ts';
import type { Watch } from './watch.ts';

/**
 * The one runtime record.
 *
 * Life of an issue. A *candidate* is what a poll found in an active state. When every dispatch filter passes it is
 * *claimed* and *running*: its workspace is prepared, an agent session takes turns, and after each turn the issue is
 * read again. The run *exits*, and from there exactly one of these follows:
 *
 *   handing-off  it ended well and a handoff state is set: the tracker is told, then the claim is released
 *   waiting      it failed (backoff), ended well without a handoff state (continuation after a second), was cut short
 *                by a restart, or its handoff did not go through: it stays claimed in the retry queue until it is due
 *   parked       it needs a person: blocked, over budget, out of attempts; kept until its tracker state changes
 *   released     the issue is terminal, moved on, or gone
 *
 * `claims` to `operatorPause` are durable: each is changed only together with the write that stores it (see draft.ts), so
 * memory equals the store after every event. The rest is rebuilt after a restart.
 */
export interface State {
  readonly settings: Settings;
  /** `leaving`: another tracker is watched now; what runs is brought to its end, nothing new is begun. */
  readonly lifecycle: 'serving' | 'leaving' | 'draining';
  /** Sessions that still run for trackers watched before: they take slots too. */
  readonly elsewhere: number;
  /** When a draining daemon stops waiting, whatever is still under way. */
  readonly drainBy: number | null;
  readonly startedAt: number;
  /** Prefix of run ids, unique to this process. */
  readonly instance: string;
  readonly runsStarted: number;
  /** Messages queued by this process. */
  readonly newsTold: number;

  /** By issue id. */
  readonly claims: ReadonlyMap<string, Claim>;
  /** How many of them hold a slot. */
  readonly occupied: number;
  readonly parked: ReadonlyMap<string, Parked>;
  readonly outbox: ReadonlyMap<string, OutboxEntry>;
  /** By path. */
  readonly workspaces: ReadonlyMap<string, WorkspaceRecord>;
  readonly spent: ReadonlyMap<string, Spent>;
  /** By agent kind. */
  readonly pauses: ReadonlyMap<string, AgentPause>;
  readonly watches: ReadonlyMap<string, Watch>;
  /** What was approved of each issue, where approval is asked for. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** Set while a person keeps the service from dispatching. */
  readonly operatorPause: OperatorPause | null;

  /** The settings that each issue's last run began with: they hold until its handoff is written. By issue id. */
  readonly runSettings: ReadonlyMap<string, Settings>;
  /** What is known of each running session, by issue id. */
  readonly live: ReadonlyMap<string, Live>;
  /** Sessions that ended and whose handoff is under way, as they were at the end. */
  readonly departed: ReadonlyMap<string, Live>;
  /** Why each candidate of the last poll was not dispatched, by issue id. */
  readonly holds: ReadonlyMap<string, Hold>;
  readonly poll: PollState;
  /** What remotes said is left of their budgets, by kind and resource. */
  readonly quotas: ReadonlyMap<string, Quota>;
  /** Effects under way, so that none is asked for twice. */
  readonly pending: Pending;
  /** Null when dispatch may go on; otherwise what stands in its way. */
  readonly preflightProblem: string | null;
  readonly totals: Totals;
  /** The last look at each watched merge request, by issue id. */
  readonly readings: ReadonlyMap<string, RequestReading>;
  /** What could not be read at the last looks and was told, by issue id. */
  readonly unreadable: ReadonlyMap<string, ReadonlySet<string>>;
  /** Why this process merges nothing, or null when it may. */
  readonly autoMergeOff: string | null;
}

/** What holds for the run of an issue, whatever was edited since it began. */
export function settingsFor(state: State, issueId: string): Settings {
  return state.runSettings.get(issueId) ?? state.settings;
}

/** A session as it runs. */
export interface Live {
  readonly issue: IssueRef;
  readonly runId: string;
  readonly attempt: number;
  /** The state the issue was picked from; counts against that state's slots for the whole run. */
  readonly pickedFrom: string;
  readonly startedAt: number;
  readonly workspacePath: string;
  /** The host it runs on; null for this machine. */
  readonly host: string | null;
  readonly sessionId: string;
  readonly turn: number;
  readonly turnStartedAt: number | null;
  readonly lastEvent: string;
  readonly lastMessage: string;
  readonly lastEventAt: number;
  readonly model: string | null;
  readonly tokens: TokenUsage;
  readonly tokensMeasured: boolean;
  readonly requests: number;
  readonly requestsByModel: Readonly<Record<string, number>>;
  readonly apiMs: number | null;
  /** Milliseconds in finished tool calls; null until one finished. */
  readonly toolMs: number | null;
  /** Tool calls under way, by tool id. */
  readonly openTools: Readonly<Record<string, OpenTool>>;
  readonly costUsd: number | null;
  /** The last cost that the agent itself told, and the tokens it was told with. */
  readonly reportedCost: { readonly costUsd: number; readonly tokens: TokenUsage } | null;
  /** How much of the cost was told to those who count. */
  readonly costCounted: number;
  /** Polls in a row that read no state for the issue. */
  readonly unseen: number;
  /** Set once the run was told to stop. */
  readonly stopping: StopReason | null;
  readonly savedAt: number;
  readonly unsavedEvents: readonly RunEvent[];
  /** The figures that were last recorded as an event; null before the first. */
  readonly usageNoted: { readonly at: number; readonly totalTokens: number; readonly costUsd: number | null } | null;
}

export interface OpenTool {
  readonly startedAt: number;
  readonly input: string;
}

/** What a session has before it said anything. */
export const NO_SESSION = {
  workspacePath: '',
  host: null,
  sessionId: '',
  turn: 0,
  turnStartedAt: null,
  lastEvent: 'dispatched',
  lastMessage: '',
  model: null,
  tokens: NO_TOKENS,
  tokensMeasured: false,
  requests: 0,
  requestsByModel: {},
  apiMs: null,
  toolMs: null,
  openTools: {},
  costUsd: null,
  reportedCost: null,
  costCounted: 0,
  unseen: 0,
  stopping: null,
  unsavedEvents: [],
  usageNoted: null,
} as const satisfies Partial<Live>;

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
  just_released: { isPassing: true, means: 'it was released while the poll was under way' },
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

export interface Hold {
  readonly issue: IssueRef;
  readonly reason: HoldReason;
  readonly detail: string;
  readonly since: number;
}

export interface PollState {
  readonly nextAt: number;
  /** A requested refresh waits until then, so that requests close together become one. */
  readonly refreshAt: number | null;
  readonly inFlight: PollInFlight | null;
  /** When the last poll began. */
  readonly begunAt: number;
  /** Polls that failed in a row. */
  readonly failures: number;
  /** Polls finished since start. */
  readonly count: number;
  /** When each candidate's blockers were last read: the ones read longest ago go first. */
  readonly blockersReadAt: ReadonlyMap<string, number>;
  /** When each issue that changed after its approval was last read whole. */
  readonly changedReadAt: ReadonlyMap<string, number>;
  /** When terminal issues are fetched for cleanup; null once that succeeded. */
  readonly cleanupAt: number | null;
  readonly queue: SlotQueue;
  /** Set while the next poll waits for the tracker's quota. */
  readonly postponed: PostponedPoll | null;
  /** The interval that polls are slowed to by the tracker's quota; null where they come as configured. */
  readonly pacedTo: number | null;
  /** The workspace after which the next sweep goes on. */
  readonly sweepAfter: string;
  readonly last: {
    readonly at: number;
    readonly durationMs: number;
    readonly candidates: number;
    readonly error: string | null;
  } | null;
}

export interface PollInFlight {
  readonly startedAt: number;
  /** Ids whose states were asked for. */
  readonly asked: readonly string[];
  /** Candidates were not: the tracker is no longer watched. */
  readonly onlyStates?: boolean;
  /** Issues whose claim ended after this poll began: what it says of them may be older than that. */
  readonly releasedMeanwhile: ReadonlySet<string>;
  readonly stage: PollStage;
}

/** How far a poll has come. Candidates are walked over in slices, so that a hundred thousand hold nothing up. */
export type PollStage =
  | { readonly at: 'reading' }
  /** Finding the candidates whose blockers are to be read. */
  | { readonly at: 'choosing'; readonly candidates: readonly Issue[]; readonly index: number; readonly chosen: readonly Issue[] }
  /** Their blockers are being read. */
  | { readonly at: 'blockers'; readonly candidates: readonly Issue[] }
  | DispatchStage;

/** Each candidate is started or gets a reason why not. */
export interface DispatchStage {
  readonly at: 'dispatching';
  readonly candidates: readonly Issue[];
  readonly index: number;
  readonly read: ReadonlyMap<string, Answer<readonly Blocker[]>>;
  readonly dispatched: number;
  /** Slice by slice, so that no slice copies what those before it found. */
  readonly held: readonly (readonly Hold[])[];
  /** Those whose approval label is seen for the first time. */
  readonly firstSights: readonly IssueRef[];
  /** How many are held for each reason, and how many of them were not before. */
  readonly counts: HoldCounts;
  readonly news: HoldCounts;
}

export type HoldCounts = Readonly<Partial<Record<HoldReason, number>>>;

/** Candidates of the last poll that wait for a slot, in the order of dispatch. A slot that becomes free is filled from here. */
export interface SlotQueue {
  readonly issues: readonly IssueRef[];
  /** The next one to look at. */
  readonly next: number;
  /** Reads since the last poll that led to no start. */
  readonly fruitless: number;
}

/** Cumulative since start, without the sessions that still run. */
export interface Totals {
  readonly tokens: TokenUsage;
  readonly seconds: number;
  readonly costUsd: number;
}
