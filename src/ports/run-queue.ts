import type { RunPlan } from '../domain/model/effect.ts';
import type { RunReport } from '../domain/model/event.ts';
import type { Fault } from '../domain/model/errors.ts';
import type { Notice } from '../domain/model/notice.ts';
import type { StopReason } from '../domain/model/run.ts';

/** All that a worker needs for a run. It holds no credential of the tracker. */
export interface RunJob {
  readonly plan: RunPlan;
  /** The prompt's template and where it begins in the workflow file. */
  readonly template: { readonly body: string; readonly line: number };
  /** What marks of workspaces are signed with. */
  readonly markKey: string;
}

/** What a run says, in the order in which it was said. */
export type RunWord = { readonly report: RunReport } | { readonly notice: Notice };

/** Numbered from 1 for each run, so that one that comes twice is heard once. */
export interface WordBatch {
  readonly runId: string;
  readonly number: number;
  readonly words: readonly RunWord[];
}

/** What a run asks of its tracker. It is carried out by the leader, for the run's own issue alone. */
export type RunRequest = { readonly ask: 'issue' } | { readonly ask: 'state' } | { readonly ask: 'move'; readonly state: string };

export type RunAnswer = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly fault: Fault };

/** A worker as the database knows it. */
export interface WorkerRow {
  /** Of this very process. */
  readonly id: string;
  readonly name: string;
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

/** The leader's side. Whatever it writes is fenced by its epoch. */
export interface RunQueue {
  /** Ends whatever an earlier leader gave out: its runs are nobody's. */
  revokeAll(): Promise<void>;
  workers(): Promise<readonly WorkerRow[]>;
  /** Tells a worker why it gets no runs; null for one that does. */
  refuse(workerId: string, why: string | null): Promise<void>;
  give(runId: string, workerId: string, job: RunJob): Promise<void>;
  tellStop(runId: string, reason: StopReason): Promise<void>;
  /** Takes what runs said since the last time. */
  takeWords(): Promise<readonly WordBatch[]>;
  /** Requests that wait for an answer. */
  takeRequests(): Promise<readonly { readonly id: string; readonly runId: string; readonly request: RunRequest }[]>;
  answer(requestId: string, answer: RunAnswer): Promise<void>;
  /** The run is over here: from now on its worker can store nothing for it. */
  revoke(runId: string): Promise<void>;
  forgetWorker(workerId: string): Promise<void>;
  close(): Promise<void>;
}

/** The worker's side. */
export interface WorkerSeat {
  /** Takes runs as they come, as many at once as there are slots, until it is drained. */
  takeRuns(work: (runId: string) => Promise<void>): Promise<{ drain(): Promise<void> }>;
  /** What was given to this worker; null when it was taken back meanwhile. */
  jobOf(runId: string): Promise<RunJob | null>;
  beat(facts: { readonly load: number; readonly draining: boolean }): Promise<WorkerNews>;
  /** False: the run is no longer this worker's, and nothing was stored. */
  say(runId: string, number: number, words: readonly RunWord[]): Promise<boolean>;
  /** Null: the run is no longer this worker's. */
  ask(runId: string, requestId: string, request: RunRequest): Promise<'asked' | null>;
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
