import type { Snapshot } from '../domain/views/snapshot.ts';
import type { ProblemFacts } from '../domain/model/problem.ts';
import type { OperatorAnswer, OperatorRequest } from '../domain/model/operator.ts';
import type { NoticeBus } from './events.ts';
import type { ProviderFacts } from './provider.ts';
import type { HostView } from './runner.ts';
import type { Clock, Logger } from './runtime.ts';
import type { Store } from './store.ts';
import type { JournalEntry, PollSample } from '../domain/views/chronicle.ts';

/** What the HTTP side sees of the running service: reads, and what people may ask for. */
export interface Daemon {
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly notices: NoticeBus;
  /** Null when no snapshot can be produced. */
  snapshot(): Snapshot | null;
  /** Asks for one poll and one reconcile. Refused while draining. */
  requestRefresh(): Refresh | Promise<Refresh>;
  /** Changes whenever something the snapshot shows may have changed. */
  revision(): unknown;
  /** Hears of changes that no notice tells of; absent where notices tell of all. Returns the way to stop listening. */
  whenChanged?(listener: () => void): () => void;
  /** Something may have changed at the tracker or forge: the next poll and looks come sooner. */
  hint(): void;
  /** Of the tracker and the forge that are watched: by which names webhooks of theirs come, and how these are known. */
  watchedKinds(): readonly WatchedKind[];
  /** The identity of the tracker at work that has something of an issue of this name; of the watched one where none has. */
  trackerOf(identifier: string): string;
  /** Asks for something as an operator; `by` says who. The answer comes when it has been stored. */
  ask(request: OperatorRequest, by: string): Promise<OperatorAnswer>;
  /** A text that came from outside, without the secrets that are known. */
  mask(text: string): string;
  /** Where this service is: two of them must never look alike. */
  readonly place: ServicePlace;
  workflow(): WorkflowStatus;
  /** The hosts that runs are given to; none when all run on this machine. */
  hosts(): readonly HostView[];
  /** Whether this one leads, and who does; absent where the database is not shared. */
  leader?(): LeadershipView;
  isDraining(): boolean;
  /** The three checks of readiness, run now. */
  checkReadiness(): Promise<Readiness>;
  readonly chronicle: Chronicle;
  /** What is kept over restarts, by subject. */
  readonly notes: Pick<Store, 'addNotes' | 'listNotes'>;
  readonly history: Pick<Store, 'listRuns' | 'findRun' | 'totals' | 'statistics'>;
}

export type WatchedKind = Pick<ProviderFacts, 'kind' | 'aliases' | 'webhook'>;

export interface Refresh {
  readonly queued: boolean;
  /** Whether it was merged with one that waited already. */
  readonly coalesced: boolean;
}

export interface LeadershipView {
  readonly role: 'leader' | 'standby';
  /** Null while nobody leads. */
  readonly leader: LeaderView | null;
  /** Since when a standby has read nothing of what the leader stores; absent while it does. */
  readonly unreadSince?: number;
}

export interface LeaderView {
  readonly host: string;
  readonly pid: number;
  /** Where it serves its pages; null where it does not, or where this is it. */
  readonly url: string | null;
  readonly since: number;
  readonly epoch: number;
}

export interface Readiness {
  readonly database: boolean;
  readonly preflight: boolean;
  readonly workflow: boolean;
}

export interface ServicePlace {
  /** Name of the machine. */
  readonly host: string;
  /** What the tracker's project is called; empty where the kind has none. */
  readonly project: string;
}

/** The workflow file in force, and the last edit of it where that was not taken. */
export interface WorkflowStatus {
  readonly path: string;
  readonly appliedAt: number;
  /** One line each, as `foray validate` prints them. */
  readonly warnings: readonly string[];
  readonly rejected: EditNotTaken | null;
  /** What the file in force is warned of, and what keeps the edit out. */
  readonly problems: readonly ProblemFacts[];
}

export interface EditNotTaken {
  readonly at: number;
  readonly reason: string;
  /** Nothing is wrong with it so far: its tracker has not answered yet. */
  readonly isAwaited?: true;
}

/** What people look back on, over restarts. */
export interface Chronicle {
  /** What happened to an issue between and after its runs, oldest first. */
  journalOf(identifier: string, tracker: string): Promise<readonly JournalEntry[]>;
  /** How polls went since a moment, oldest first. */
  samplesSince(since: number): Promise<readonly PollSample[]>;
}
