import type { Blocker, Issue, IssueComment, Person } from '../domain/model/issue.ts';

/**
 * One issue tracker. Every call is an independent request, safe to make at once with others; every failure is a
 * TrackerError. Nothing here knows of claims, slots or sessions, and a feature a tracker lacks is an absent member,
 * never a method that throws.
 */
export interface PreflightOptions {
  /** Something else is in force, and stays so until this is proven. */
  readonly mustAnswer?: boolean;
}

export interface Tracker {
  /** The canonical kind. */
  readonly kind: string;
  /** Set where no request leaves the machine: then its calls are counted in their place. */
  readonly isLocal?: true;
  /** Issues in active states. `comments` is null on each; `blockedBy` is null where the list does not tell. */
  fetchCandidateIssues(signal: AbortSignal): Promise<readonly Issue[]>;
  /** One full issue with comments, parent and blockers. A missing one is `tracker_not_found`. */
  fetchIssueById(id: string, signal: AbortSignal): Promise<Issue>;
  /** Issues in the given states. No states, no request. */
  fetchIssuesByStates(states: readonly string[], signal: AbortSignal): Promise<readonly Issue[]>;
  /**
   * Current states by id; what is not found is left out, an issue without a state maps to ''. Into `closed` go those that are
   * closed while their state says that they are not finished; into `unknown` those of which nobody can say whether they are
   * there. Without `unknown` these fail the call.
   */
  fetchIssueStatesByIds(
    ids: readonly string[],
    signal: AbortSignal,
    closed?: Set<string>,
    unknown?: Set<string>,
  ): Promise<ReadonlyMap<string, string>>;
  /** The same by human identifier. */
  fetchIssueStatesByIdentifiers(
    identifiers: readonly string[],
    signal: AbortSignal,
    closed?: Set<string>,
  ): Promise<ReadonlyMap<string, string>>;
  /** All comments, oldest first. A missing issue is `tracker_not_found`. */
  fetchIssueComments(id: string, signal: AbortSignal): Promise<readonly IssueComment[]>;
  /** Moves an issue to a state. Safe to repeat. */
  transitionIssue(id: string, state: string, signal: AbortSignal): Promise<void>;
  /** A move that broke off may leave the old state beside the new one: it is finished by another. */
  readonly movesInSteps?: true;
  /** Posts a plain-text comment; fenced code blocks are kept literal. */
  commentIssue(id: string, text: string, signal: AbortSignal): Promise<void>;
  /** A line of a comment that begins with a slash can be a command there: to the forge itself, or to a bot of it. */
  readonly obeysComments?: true;
  /** Listing issues by finished states costs of a small budget: few are better asked about one by one. */
  readonly finishedAreCostly?: true;
  /** Present when issues carry labels that can be written. Both are safe to repeat. */
  readonly labels?: LabelWriter;
  /** Present when the candidate list lacks blockers and they are read one issue at a time. */
  readonly blockers?: BlockerReader;
  /** Who we are and who may write, where the tracker tells. */
  readonly people?: People;
  /** Which setting of a label an issue carries: another text whenever it was set again; empty where there is none to be found. */
  readLabelling?(id: string, label: string, signal: AbortSignal): Promise<string>;
  /**
   * Proves credentials and project before the first poll. A rejection ends start-up. Where the kind starts with a remote that
   * is only away, that is one as well when it must answer.
   */
  preflight?(signal: AbortSignal, options?: PreflightOptions): Promise<void>;
  /** The preflight is the first page of the candidates, which the first poll then has for nothing. */
  readonly provesByPoll?: true;
  /** What the remote says of the project itself. Asked after the preflight; null where it does not say. */
  describeProject?(signal: AbortSignal): Promise<ProjectFacts | null>;
  /** What the credential may do, as far as the vendor tells. Only for diagnosis. */
  readRights?(signal: AbortSignal, uses?: TokenUses): Promise<Rights>;
  /** The states that an issue can be moved to from where it is; where a workflow forbids some. Only for diagnosis. */
  readMoves?(id: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface ProjectFacts {
  /** The one name that never changes, where the same project may be configured by several; else null. */
  readonly id: string | null;
  readonly path: string;
  /** It goes by another name by now, and the remote takes no writes under the old one. */
  readonly isRenamed?: true;
  /** Whether anybody can see it and open issues; null where the remote does not say. */
  readonly isPublic: boolean | null;
  /** Whether the credential may change issues; absent or null where the remote does not say. */
  readonly mayWrite?: boolean | null;
  /** Whether its account may push to the repository of the project; absent or null where the remote does not say. */
  readonly mayPush?: boolean | null;
}

/** What runs do by the credential of the tracker besides changing issues. */
export interface TokenUses {
  readonly pushes: boolean;
  readonly opensRequests: boolean;
}

/** Scopes and permissions, as the vendor calls them. */
export interface Rights {
  /** Those that a run needs and the credential lacks. */
  readonly missing: readonly string[];
  /** Those that it needs and that only show when they are used. */
  readonly untold: readonly string[];
}

export interface People {
  /** The id of the credential's own account. */
  readSelf(signal: AbortSignal): Promise<string>;
  /** Present where write access takes a request to be found out. */
  mayWrite?(person: Person, signal: AbortSignal): Promise<boolean>;
}

export interface LabelWriter {
  add(id: string, label: string, signal: AbortSignal): Promise<void>;
  remove(id: string, label: string, signal: AbortSignal): Promise<void>;
}

export interface BlockerReader {
  read(id: string, signal: AbortSignal): Promise<readonly Blocker[]>;
}

/** The name each operation has in `svc_tracker_requests_total`. */
export const TRACKER_OPERATIONS = [
  'fetch_candidates',
  'fetch_issue',
  'fetch_by_states',
  'fetch_states_by_ids',
  'fetch_states_by_identifiers',
  'fetch_comments',
  'transition',
  'comment',
  'add_label',
  'remove_label',
  'fetch_blockers',
  'fetch_people',
  'fetch_labelling',
  'preflight',
] as const;
export type TrackerOperation = (typeof TRACKER_OPERATIONS)[number];
