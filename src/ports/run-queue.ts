import type { ToldTrackerFacts } from '../domain/model/errors.ts';
import type { Fault } from '../domain/model/fault.ts';
import type { RunPlan } from '../domain/model/effect.ts';
import type { RunReport } from '../domain/model/event.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { StopReason } from '../domain/model/run.ts';
import type { PushAnswer } from './carrier.ts';
import type { RepoKey } from './scm.ts';
import type { Removal, RemovalSubject } from './workspace.ts';

/** All that a worker needs for a run. It holds no credential of the tracker. */
export interface RunJob {
  readonly plan: RunPlan;
  /** The prompt's template and where it begins in the workflow file. */
  readonly template: { readonly body: string; readonly line: number };
  /** What marks of workspaces are signed with. */
  readonly markKey: string;
  /** Null where hooks fill the workspaces. */
  readonly repository: CarriedRepository | null;
  /** What the leader's clock said when it gave the run; absent from an earlier version. */
  readonly leaderNow?: number;
}

/** `workspace.repo` as a worker knows it: the leader reaches it. */
export interface CarriedRepository {
  /** Names it; it is not called by the worker. */
  readonly url: string;
  readonly push: boolean;
  readonly project: RepoKey;
  /** Whether a merge request is opened for a branch that was pushed. */
  readonly opensRequests: boolean;
}

/** A workspace that nobody works in any more. */
export interface RemovalJob {
  readonly removal: RemovalSubject;
  readonly removedDays: number;
  readonly markKey: string;
}

/** Begins the ids of removals, which are no runs. */
export const REMOVAL_PREFIX = 'removal-';

export type Job = RunJob | RemovalJob;

/** What a job says, in the order in which it was said. The last message of a removal is what came of it. */
export type RunMessage = { readonly report: RunReport } | { readonly notice: Notice } | { readonly removed: ToldAnswer<Removal> };

/** Numbered from 1 for each job, so that one that comes twice is heard once. */
export interface MessageBatch {
  readonly runId: string;
  readonly number: number;
  readonly messages: readonly RunMessage[];
}

/** What a run asks of its tracker and its repository. It is carried out by the leader, for the run's own issue alone. */
export type RunRequest =
  | { readonly ask: 'issue' }
  /** `tellClosed`: an issue that is closed is told as that, whatever state its labels name. */
  | { readonly ask: 'state'; readonly tellClosed?: true }
  | { readonly ask: 'move'; readonly state: string }
  /** A call of one of the agent's tools, as the agent made it. */
  | { readonly ask: 'tool'; readonly name: string; readonly args: Readonly<Record<string, unknown>> }
  /** The calls of a Carrier. */
  | { readonly ask: 'pack'; readonly have: readonly string[] }
  | { readonly ask: 'pack-part'; readonly at: number }
  | { readonly ask: 'work-part'; readonly at: number; readonly part: string }
  | { readonly ask: 'push'; readonly sha: string }
  | { readonly ask: 'propose' };

/** `error` is what the error is made anew from on the other side; absent for others, and from an earlier version. */
export type ToldAnswer<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault; readonly error?: ToldError };

export type ToldError =
  | { readonly of: 'tracker'; readonly facts: ToldTrackerFacts }
  | { readonly of: 'workspace'; readonly what: string; readonly detail: string; readonly retryable: boolean };

export type RunAnswer = ToldAnswer<unknown>;

/** What the answer to a push holds: one of an earlier version has `refused` alone, which is what git said, or null. */
export type PushValue = (PushAnswer | { readonly kind?: undefined }) & { readonly refused: string | null };

export interface AskedOfTheLeader {
  readonly id: string;
  readonly runId: string;
  readonly request: RunRequest;
}

/** A worker as the database knows it. */
export interface WorkerRow {
  /** Of this very process. */
  readonly id: string;
  /** What it is known by: as it was called, or its host's name and its identity. */
  readonly name: string;
  /** Stored beside its workspaces; empty for one of an older version. */
  readonly identity: string;
  readonly labels: readonly string[];
  readonly slots: number;
  readonly version: string;
  readonly load: number;
  readonly heardAt: number;
  /** Since its last heartbeat, by the clock of the database. */
  readonly silentMs: number;
  /** Takes no more runs. */
  readonly draining: boolean;
}

/** What the leader knows of the queue already: it is not told again. */
export interface KnownOfQueue {
  /** Batches that were heard: they are dropped. */
  readonly heard: readonly Pick<MessageBatch, 'runId' | 'number'>[];
  /** Requests that are being answered. */
  readonly answering: readonly string[];
}

export interface QueueNews {
  readonly batches: readonly MessageBatch[];
  readonly requests: readonly AskedOfTheLeader[];
  readonly workers: readonly WorkerRow[];
}

export interface GivenJob {
  /** Of the run, or of the removal. */
  readonly id: string;
  readonly workerId: string;
  readonly job: Job;
}

/** The leader's side. Whatever it writes is fenced by its epoch, and done wholly or not at all. */
export interface RunQueue {
  /** Ends whatever an earlier leader gave out: its runs are nobody's. */
  revokeAll(): Promise<void>;
  /** All that is new. A look whose answer was lost may be repeated. */
  look(known: KnownOfQueue): Promise<QueueNews>;
  /** Tells a worker why it gets no runs; null for one that does. */
  refuse(workerId: string, why: string | null): Promise<void>;
  give(jobs: readonly GivenJob[]): Promise<void>;
  tellStop(runId: string, reason: StopReason): Promise<void>;
  answer(requestId: string, answer: RunAnswer): Promise<void>;
  /** These are over here: from now on their workers can store nothing for them. */
  revoke(ids: readonly string[]): Promise<void>;
  forgetWorker(workerId: string): Promise<void>;
  close(): Promise<void>;
}

/** The worker's side. */
export interface WorkerConnection {
  /** Takes jobs as they come, as many at once as there are slots and one more for a removal, until it is drained. */
  takeJobs(work: (id: string) => Promise<void>): Promise<{ drain(): Promise<void> }>;
  /** What was given to this worker; null when it was taken back meanwhile. */
  jobOf(id: string): Promise<Job | null>;
  beat(facts: { readonly load: number; readonly draining: boolean }): Promise<WorkerNews>;
  /** False: the run is no longer this worker's, and nothing was stored. */
  say(runId: string, number: number, messages: readonly RunMessage[]): Promise<boolean>;
  /** Null: the run is no longer this worker's. The answers that were heard are dropped. */
  ask(runId: string, requestId: string, request: RunRequest, heard: readonly string[]): Promise<'asked' | null>;
  /** Stays until it is known to be heard: one that is lost on the way is read again. */
  answerTo(requestId: string): Promise<RunAnswer | null>;
  leave(): Promise<void>;
  close(): Promise<void>;
}

export interface WorkerNews {
  /** Why this worker gets no runs, or null. */
  readonly refused: string | null;
  /** The runs that are this worker's, and whether each is told to stop. */
  readonly runs: ReadonlyMap<string, StopReason | null>;
}
