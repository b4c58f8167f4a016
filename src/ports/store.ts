import type { Durable, Write } from '../domain/model/durable.ts';
import type { TokenUsage } from '../domain/model/agent-event.ts';
import type { CostSum } from '../domain/model/cost.ts';
import type { AskedRequest, OperatorAnswer, OperatorRequest } from '../domain/model/operator.ts';
import type { Run, RunEvent, RunStatus, Spent } from '../domain/model/run.ts';

/**
 * What survives the process. The core decides, the store remembers: it holds no rule of its own. Writes come as units
 * of work that are applied wholly or not at all, in order, before the effects they announce are tried.
 */
export interface Store {
  /**
   * A tracker is about to be watched: notes the names it goes by, gives it what an older version stored without a
   * tracker, and tells what is stored for others.
   */
  enter(tracker: TrackerNames): Promise<readonly ForeignRecords[]>;
  /** The identity that a tracker is known by under this name; a new one is known by the name itself. */
  identityOf(name: string): Promise<string>;
  /** Lets another name lead to this identity, unless it leads to one already. Says to which it leads. */
  nameTracker(name: string, identity: string): Promise<string>;
  /** Everything the core needs to go on with one tracker after a restart. */
  load(tracker: string): Promise<Durable>;
  /** One unit of work on the records of one tracker. */
  apply(tracker: string, writes: readonly Write[]): Promise<void>;
  /** What each of these issues has used up; one that used nothing is left out. */
  spentOn(tracker: string, issueIds: readonly string[]): Promise<readonly Spent[]>;
  /** History, newest first. */
  listRuns(query: RunQuery): Promise<readonly Run[]>;
  findRun(id: string): Promise<{ readonly run: Run; readonly events: readonly RunEvent[] } | null>;
  /** Sums over all runs ever finished. */
  totals(): Promise<LifetimeTotals>;
  /** Keeps what people look back on. Notes of one moment keep their order. */
  addNotes(notes: readonly Note[]): Promise<void>;
  /** The newest notes on a subject, oldest first. */
  listNotes(query: NoteQuery): Promise<readonly Note[]>;
  /**
   * Forgets finished runs with their events, the oldest first, and notes of that time; the totals keep the runs. At most so
   * many records go, and fewer where it would keep others waiting. Returns whether there is more.
   */
  forgetRuns(endedBefore: number, limit: number): Promise<boolean>;
  /** Sums over the runs since a moment, gathered by one thing: what `foray stats` and the statistics page show. */
  statistics(query: StatisticsQuery): Promise<readonly StatisticsRow[]>;
  /** Leaves a request for the daemon; gives its id. One about an issue is of this tracker; null where nobody says of which. */
  addRequest(request: OperatorRequest, by: string, tracker: string | null): Promise<string>;
  /**
   * What people asked of these trackers or of the service since the last call. Each is handed out once by one daemon, and
   * again by the next while it is unanswered.
   */
  takeRequests(trackers: readonly string[]): Promise<readonly AskedRequest[]>;
  /** What became of a request; null while it waits. */
  findAnswer(requestId: string): Promise<OperatorAnswer | null>;
  /** Takes back a request that nobody answered: it does not come true later. Gives the answer that came meanwhile, else null. */
  withdrawRequest(requestId: string): Promise<OperatorAnswer | null>;
  /** Resolves when the store answers, rejects when it does not. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export { NOTHING_DURABLE } from '../domain/model/durable.ts';
export type { Durable, Write } from '../domain/model/durable.ts';

/** The names of one tracker. */
export interface TrackerNames {
  /** What its records are kept under. */
  readonly identity: string;
  /** What the workflow file alone says; the vendor may know the same project by another name. */
  readonly configured: string;
  /** For people. */
  readonly label: string;
}

/** What is stored for a tracker that is not the one being watched. */
export interface ForeignRecords {
  readonly identity: string;
  readonly label: string;
  readonly claims: number;
  readonly retries: number;
  readonly parked: number;
  readonly outbox: number;
  readonly watches: number;
  readonly workspaces: number;
}

/** Which runs are meant. */
export interface RunSelection {
  /** Only runs of this tracker. */
  readonly tracker?: string;
  readonly identifier?: string;
  /** With an identifier that no run has: that of the newest run whose name differs from it only in upper and lower case. */
  readonly anyCase?: boolean;
  /** With an identifier: only runs of one tracker, this one where it has any of that name, else the one that had the last. */
  readonly mostly?: string;
}

export interface RunQuery extends RunSelection {
  readonly limit: number;
  /** Only runs that started before this moment. */
  readonly before?: number;
  /** Only runs that come after this one in the list; it need not exist any more. */
  readonly after?: { readonly startedAt: number; readonly id: string };
}

/** Something worth looking back on. The store does not read what stands in it. */
export interface Note {
  readonly at: number;
  readonly subject: string;
  readonly body: string;
  /** It takes the place of all others on its subject. */
  readonly isOnly?: true;
}

export interface NoteQuery {
  readonly subject: string;
  readonly since?: number;
  readonly limit: number;
}

export const STATISTICS_BY = ['day', 'agent', 'state', 'issue'] as const;
export type StatisticsBy = (typeof STATISTICS_BY)[number];

export interface StatisticsQuery extends RunSelection {
  readonly since: number;
  readonly by: StatisticsBy;
  /** Only runs of this agent kind. */
  readonly agent?: string;
}

/** What the runs of one day, agent kind, tracker state or issue come to. Runs under way have no seconds yet. */
export interface StatisticsRow extends CostSum {
  readonly key: string;
  readonly runs: number;
  readonly outcomes: Readonly<Partial<Record<RunStatus, number>>>;
  readonly seconds: number;
  readonly longestSeconds: number;
  readonly tokens: TokenUsage;
}

export interface LifetimeTotals extends CostSum {
  readonly runs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cacheReadTokens: number;
  readonly seconds: number;
}
