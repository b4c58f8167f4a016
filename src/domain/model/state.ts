import { addTokens, NO_TOKENS, type TokenUsage } from './agent-event.ts';
import type { AgentPause, Approval, Claim, OutboxEntry, Parked, WorkspaceRecord } from './claim.ts';
import type { Pending } from './effect.ts';
import type { IssueRef } from './issue.ts';
import type { Told } from './notification.ts';
import type { OperatorPause } from './operator.ts';
import type { RequestReading } from './findings.ts';
import type { Quota } from './quota.ts';
import type { ReactionKind } from './reaction.ts';
import type { RunEvent, Spent, StopReason } from './run.ts';
import type { Settings } from './settings.ts';
import type { Watch } from './watch.ts';
import type { Hold } from './hold.ts';
import type { PollState } from './poll.ts';

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
 * `claims` to `told` are durable: each is changed only together with the write that stores it (see draft.ts), so
 * memory equals the store after every event (of `spent`, the part that is in memory). The rest is rebuilt after a restart.
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
  /** None of them falls due before this moment: there may be thousands that wait. */
  readonly retriesFrom: number;
  readonly parked: ReadonlyMap<string, Parked>;
  readonly outbox: ReadonlyMap<string, OutboxEntry>;
  /** By path. */
  readonly workspaces: ReadonlyMap<string, WorkspaceRecord>;
  /** Their paths by issue id: an issue may have one on each host. */
  readonly workspacePaths: ReadonlyMap<string, readonly string[]>;
  /** Of the issues that may run; the store keeps it of all. */
  readonly spent: ReadonlyMap<string, Spent>;
  /** By agent kind. */
  readonly pauses: ReadonlyMap<string, AgentPause>;
  readonly watches: ReadonlyMap<string, Watch>;
  /** What was approved of each issue, where approval is asked for. */
  readonly approvals: ReadonlyMap<string, Approval>;
  /** Set while a person keeps the service from dispatching. */
  readonly operatorPause: OperatorPause | null;
  /** What lasts and was told, by subject. */
  readonly told: ReadonlyMap<Told['subject'], Told>;

  /** The settings that each issue's last run began with: they hold until its handoff is written. By issue id. */
  readonly runSettings: ReadonlyMap<string, Settings>;
  /** Those of the run that each comment or label is written for, by the id of its entry in the outbox. */
  readonly writeSettings: ReadonlyMap<string, Settings>;
  /** The settings under which each queued turn of a reaction was last judged, by issue id. */
  readonly judgedUnder: ReadonlyMap<string, Settings>;
  /** Ids of issues whose last fault no waiting heals: an edit may. Not stored, after a restart they wait their time. */
  readonly awaitingEdit: ReadonlyMap<string, true>;
  /** What is known of each running session, by issue id. */
  readonly live: ReadonlyMap<string, Live>;
  /** Sessions that ended and whose handoff is under way, as they were at the end. */
  readonly departed: ReadonlyMap<string, Live>;
  /**
   * Until when the last session of an issue may go on under the leader before, by issue id: whatever is asked or edited, none
   * starts here earlier.
   */
  readonly endingElsewhere: ReadonlyMap<string, number>;
  /** Why each candidate of the last poll was not dispatched, by issue id. */
  readonly holds: ReadonlyMap<string, Hold>;
  readonly poll: PollState;
  /** What remotes said is left of their budgets, by kind and resource. */
  readonly quotas: ReadonlyMap<string, Quota>;
  /** Effects under way, so that none is asked for twice. */
  readonly pending: Pending;
  /** Those of them that read under settings no longer in force, or before a run that began since: what they bring is not acted upon. */
  readonly outdated: Pending;
  /** Null when dispatch may go on; otherwise what stands in its way. */
  readonly preflightProblem: string | null;
  readonly totals: Totals;
  /** The last look at each watched merge request, by issue id. */
  readonly readings: ReadonlyMap<string, RequestReading>;
  /** Watched merge requests that may have changed since the look under way at them began, by issue id. */
  readonly changedSinceLook: ReadonlyMap<string, true>;
  /** What could not be read at the last looks and was told, by issue id: each cause with the reactions that met it. */
  readonly unreadable: ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<ReactionKind>>>;
  /** Why the forge will not tell the account of our credential, as it was told; null while that is not so. */
  readonly accountUnknown: string | null;
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
  /** Milliseconds in which a tool call was under way, however many at once; null until one finished. */
  readonly toolMs: number | null;
  /** Since when calls are under way that is not in `toolMs` yet; null while there are none. */
  readonly toolsSince: number | null;
  /** Tool calls under way, by tool id. */
  readonly openTools: Readonly<Record<string, OpenTool>>;
  readonly costUsd: number | null;
  /** The last cost that the agent itself told. */
  readonly reportedCost: number | null;
  /** What is paid for, and the tokens it covers: only those after them have a price still. Null while all have. */
  readonly settled: { readonly costUsd: number; readonly tokens: TokenUsage } | null;
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
  toolsSince: null,
  openTools: {},
  costUsd: null,
  reportedCost: null,
  settled: null,
  costCounted: 0,
  unseen: 0,
  stopping: null,
  unsavedEvents: [],
  usageNoted: null,
} as const satisfies Partial<Live>;

/** Cumulative since start, without the sessions that still run. */
export interface Totals {
  readonly tokens: TokenUsage;
  readonly seconds: number;
  readonly costUsd: number;
}

export const NO_TOTALS: Totals = { tokens: NO_TOKENS, seconds: 0, costUsd: 0 };

export function addTotals(a: Totals, b: Totals): Totals {
  return { tokens: addTokens(a.tokens, b.tokens), seconds: a.seconds + b.seconds, costUsd: a.costUsd + b.costUsd };
}
