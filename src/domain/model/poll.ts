import type { Answer } from './fault.ts';
import type { Blocker, Issue, IssueRef } from './issue.ts';
import type { PostponedPoll } from './quota.ts';
import type { HoldsSoFar } from './holds-so-far.ts';
import type { Hold, HoldCounts } from './hold.ts';

/** When polls come, and what the last one left behind. */
export interface PollState {
  readonly nextAt: number;
  /** The tracker asked to be left alone until then: only a person has it polled before. */
  readonly waitsUntil: number;
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
  /** When candidates that wait for a slot were last read whole without being started. */
  readonly readInVainAt: ReadonlyMap<string, number>;
  /** When terminal issues are fetched for cleanup; null once that succeeded. */
  readonly cleanupAt: number | null;
  readonly queue: SlotQueue;
  /** Set while the next poll waits for the tracker's quota. */
  readonly postponed: PostponedPoll | null;
  /** The interval that polls are slowed to by the tracker's quota; null where they come as configured. */
  readonly pacedTo: number | null;
  /** The workspace after which the next sweep goes on. */
  readonly sweepAfter: string;
  /** Waiting issues that the last sweep did not find. */
  readonly unseenWaiting: ReadonlySet<string>;
  /** Why workspaces could not be removed, as it was last told, by issue id. */
  readonly keptTold: ReadonlyMap<string, string>;
  readonly last: {
    readonly at: number;
    readonly durationMs: number;
    readonly candidates: number;
    readonly error: string | null;
    /** What a person can do about the error. */
    readonly remedy?: string | null;
  } | null;
}

/** A poll under way. */
export interface PollInFlight {
  readonly startedAt: number;
  /** Ids whose states were asked for. */
  readonly asked: readonly string[];
  /** Candidates were not: the tracker is no longer watched. */
  readonly onlyStates?: boolean;
  /** Issues whose claim or completion ended after this poll began: what it says of them may be older than that. */
  readonly releasedMeanwhile: ReadonlySet<string>;
  /** Issues that have been known for no candidates since it began. */
  readonly left?: ReadonlySet<string>;
  /** Something changed since this poll began, which it may have read before that: another one follows at once. */
  readonly again?: true;
  /** The settings are others since: its candidates were listed by the ones before. */
  readonly isOutdated?: true;
  readonly stage: PollStage;
}

/** So many candidates are looked at before everything else gets its turn. */
export const CANDIDATES_PER_SLICE = 2_000;

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
  readonly held: HoldsSoFar;
  /** The holds as they were, and how far the walk over them has come beside that over the candidates. */
  readonly last: { readonly holds: ReadonlyMap<string, Hold>; readonly list: readonly Hold[]; readonly walked: number };
  /** The last candidate so far. */
  readonly seen: string | null;
  /** Candidates whose blockers were read and that may not run all the same. */
  readonly fruitless: number;
  /** Those whose approval label is seen for the first time. */
  readonly firstSights: readonly IssueRef[];
  /** How many are held for each reason, and how many of them were not before. */
  readonly counts: HoldCounts;
  readonly news: HoldCounts;
}

/** Candidates of the last poll that wait for a slot, in the order of dispatch. A slot that becomes free is filled from here. */
export interface SlotQueue {
  /** One for each state where states have limits of their own, otherwise one for all. */
  readonly lanes: readonly Lane[];
  /** Reads since the last poll that led to no start. */
  readonly fruitless: number;
}

export const NO_QUEUE: SlotQueue = { lanes: [], fruitless: 0 };

export interface Lane {
  /** Those that wait for something else are passed over. */
  readonly holds: readonly Hold[];
  /** The place of each among those of all lanes; empty where there is but one lane. */
  readonly places: readonly number[];
  /** The next one to look at. */
  readonly next: number;
}
