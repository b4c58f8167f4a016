import { shortDetail } from './short-detail.ts';

/** Every kind of fault there is. */
export type FaultKind = TrackerErrorKind | AgentErrorKind | OtherErrorKind;

/** What went wrong with a tracker, in the words of the specification; whether it may heal by itself, so that trying again soon makes sense. */
export const TRACKER_ERROR_RETRYABLE = {
  tracker_auth_error: false,
  tracker_payload_error: false,
  tracker_not_found: false,
  tracker_api_error: true,
  tracker_transport_error: true,
  tracker_missing_end_cursor: true,
  missing_tracker_project: false,
} as const satisfies Readonly<Record<string, boolean>>;
export type TrackerErrorKind = keyof typeof TRACKER_ERROR_RETRYABLE;

export function isTrackerErrorKind(kind: string): kind is TrackerErrorKind {
  return Object.hasOwn(TRACKER_ERROR_RETRYABLE, kind);
}

export interface TrackerErrorFacts {
  readonly kind: TrackerErrorKind;
  /** HTTP method, or the operation's name where there is no request. */
  readonly method: string;
  readonly path: string;
  readonly detail: string;
  /** Overrides the table where one status of a kind behaves differently. */
  readonly retryable?: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** A limit of requests: the remote wants to be left alone, whether or not it says for how long. */
  readonly isLimit?: boolean;
  /** Of a file or folder of this machine: there is no remote. */
  readonly isOfFile?: boolean;
  /** Names of the workflow file that the tracker has no state of. */
  readonly unknownStates?: readonly string[];
  readonly cause?: unknown;
}

/** What can be told to another machine. */
export type ToldTrackerFacts = Omit<TrackerErrorFacts, 'cause'>;

/** Reads `tracker: <kind>: <method> <path>: <detail>`. The detail never holds a credential. */
export class TrackerError extends Error {
  readonly kind: TrackerErrorKind;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly isLimit: boolean;
  readonly isOfFile: boolean;
  readonly unknownStates: readonly string[];
  readonly detail: string;
  readonly #facts: TrackerErrorFacts;

  constructor(facts: TrackerErrorFacts) {
    const detail = shortDetail(facts.detail);
    super(`tracker: ${facts.kind}: ${facts.method} ${facts.path}: ${detail}`, { cause: facts.cause });
    this.name = 'TrackerError';
    this.kind = facts.kind;
    this.retryable = facts.retryable ?? TRACKER_ERROR_RETRYABLE[facts.kind];
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.isLimit = facts.isLimit ?? facts.status === 429;
    this.isOfFile = facts.isOfFile ?? false;
    this.unknownStates = facts.unknownStates ?? [];
    this.detail = detail;
    this.#facts = { ...facts, detail };
  }

  get facts(): ToldTrackerFacts {
    const { cause: _cause, ...facts } = this.#facts;
    return facts;
  }

  /** The same where the wait that the remote asks for is told, and not kept. */
  withoutWait(): TrackerError {
    return new TrackerError({ ...this.#facts, retryAfterMs: undefined });
  }

  /** A success that could not be read: it was spoiled on its way, or something else than the tracker answers there. */
  get isGarbled(): boolean {
    return this.kind === 'tracker_payload_error' && this.status !== undefined && this.status >= 200 && this.status < 300;
  }

  /** A start goes on without it, and the first poll comes when it may. */
  get asksToWait(): boolean {
    return this.isLimit || this.retryAfterMs !== undefined;
  }
}

export type Consequence = 'back-off' | 'back-off-at-cap' | 'pause-agent' | 'park';

/** What went wrong with an agent, and what happens next. */
export const AGENT_ERROR_CONSEQUENCE = {
  agent_not_found: 'back-off-at-cap',
  agent_not_logged_in: 'back-off-at-cap',
  agent_usage_limit: 'pause-agent',
  agent_refused: 'park',
  agent_needs_person: 'park',
  agent_protocol_error: 'back-off',
  agent_exited: 'back-off',
  agent_did_nothing: 'back-off',
  verification_failed: 'back-off',
  agent_no_evidence: 'back-off',
  turn_failed: 'back-off',
  turn_timeout: 'back-off',
  turn_stalled: 'back-off',
  turn_cancelled: 'back-off',
} as const satisfies Readonly<Record<string, Consequence>>;
export type AgentErrorKind = keyof typeof AGENT_ERROR_CONSEQUENCE;

export function isAgentErrorKind(kind: string): kind is AgentErrorKind {
  return Object.hasOwn(AGENT_ERROR_CONSEQUENCE, kind);
}

/** What went wrong with anything else. */
const OTHER_ERROR_KINDS = [
  'scm_conflict_error',
  'scm_branch_kept',
  'workspace_error',
  'delivery_error',
  'notification_error',
  'template_error',
  'database_away',
  'worker_lost',
  'internal_error',
] as const;
type OtherErrorKind = (typeof OTHER_ERROR_KINDS)[number];

export function isFaultKind(kind: string): kind is FaultKind {
  return isTrackerErrorKind(kind) || isAgentErrorKind(kind) || OTHER_ERROR_KINDS.some((known) => known === kind);
}

export interface AgentErrorFacts {
  readonly kind: AgentErrorKind;
  readonly detail: string;
  /** Epoch milliseconds at which a usage limit lifts, where the agent says so. */
  readonly resetsAt?: number;
  readonly cause?: unknown;
}

/** Reads `agent: <kind>: <detail>`. */
export class AgentError extends Error {
  readonly kind: AgentErrorKind;
  readonly resetsAt: number | undefined;

  constructor(facts: AgentErrorFacts) {
    super(`agent: ${facts.kind}: ${facts.detail}`, { cause: facts.cause });
    this.name = 'AgentError';
    this.kind = facts.kind;
    this.resetsAt = facts.resetsAt;
  }
}

/** A merge that the forge refused: a stale head, a draft, a conflict, or because somebody else was faster. */
export class ScmConflictError extends Error {
  /** Set only after a re-read showed the request merged. */
  readonly alreadyMerged: boolean;
  /** The forge is not done with something of its own and asks to come again: nothing was decided. */
  readonly isBusy: boolean;
  /** Set only after a re-read showed the request open at another head than the expected one: nothing was said of that one. */
  readonly headMoved: boolean;
  /** The forge took the order without merging at once, or the request could not be read again: it may be merged, or be yet. */
  readonly isUnsure: boolean;

  constructor(detail: string, { alreadyMerged = false, isBusy = false, headMoved = false, isUnsure = false } = {}) {
    super(`scm: scm_conflict_error: ${shortDetail(detail)}`);
    this.name = 'ScmConflictError';
    this.alreadyMerged = alreadyMerged;
    this.isBusy = isBusy;
    this.headMoved = headMoved;
    this.isUnsure = isUnsure;
  }
}

/** A workspace or hook that could not be used. Reads `workspace: <what>: <detail>`. */
export class WorkspaceError extends Error {
  readonly what: string;
  readonly detail: string;
  /** A path that is refused stays refused; a failed hook or disk may work next time. */
  readonly retryable: boolean;

  constructor(what: string, detail: string, options: { retryable: boolean; cause?: unknown }) {
    super(`workspace: ${what}: ${detail}`, { cause: options.cause });
    this.name = 'WorkspaceError';
    this.what = what;
    this.detail = detail;
    this.retryable = options.retryable;
  }
}

/** Finished work that could not be pushed or proposed. Reads `delivery: <what>: <detail>`. */
export class DeliveryError extends Error {
  /** What a person must settle first is not tried again: every try would cost another session. */
  readonly retryable: boolean;

  constructor(what: string, detail: string, options: { retryable: boolean; cause?: unknown }) {
    super(`delivery: ${what}: ${detail}`, { cause: options.cause });
    this.name = 'DeliveryError';
    this.retryable = options.retryable;
  }
}

/** A message that did not arrive. Reads `notification: <detail>`; the detail never holds the address. */
export class NotificationError extends Error {
  readonly retryAfterMs: number | undefined;

  constructor(detail: string, retryAfterMs?: number) {
    super(`notification: ${detail}`);
    this.name = 'NotificationError';
    this.retryAfterMs = retryAfterMs;
  }
}

/** A prompt template that cannot be rendered for this issue. */
export class TemplateError extends Error {
  /** What is wrong, without the place. */
  readonly detail: string;
  readonly line: number;
  readonly column: number;

  constructor(detail: string, place: { line: number; column: number }) {
    super(`template: line ${place.line}, column ${place.column}: ${detail}`);
    this.name = 'TemplateError';
    this.detail = detail;
    this.line = place.line;
    this.column = place.column;
  }
}

/** The records could not be read or written. */
export abstract class RecordsError extends Error {
  /** The database is out of reach or another service's: no fault of this one, and it may come back. */
  abstract readonly isAway: boolean;
}
