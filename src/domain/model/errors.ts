/** What went wrong with a tracker, in the words of the specification. */
export type TrackerErrorKind =
  | 'tracker_auth_error'
  | 'tracker_payload_error'
  | 'tracker_not_found'
  | 'tracker_api_error'
  | 'tracker_transport_error'
  | 'tracker_missing_end_cursor'
  | 'missing_tracker_project';

/** Which kinds may heal by themselves, so that trying again soon makes sense. */
export const TRACKER_ERROR_RETRYABLE: Readonly<Record<TrackerErrorKind, boolean>> = {
  tracker_auth_error: false,
  tracker_payload_error: false,
  tracker_not_found: false,
  tracker_api_error: true,
  tracker_transport_error: true,
  tracker_missing_end_cursor: true,
  missing_tracker_project: false,
};

/** What to do about a limit of requests. */
export const LIMITED_REMEDY = 'the tracker limits requests: it is waited for; raise polling.interval_ms where that happens often';

/** What a person can do about a tracker that cannot be read, by the kind of the error. */
const TRACKER_REMEDIES: Readonly<Record<TrackerErrorKind, string>> = {
  tracker_auth_error: 'the token may have expired or lost a right: renew it; foray doctor tells more',
  tracker_payload_error: 'check states, labels and filter of the workflow file; foray doctor tells more',
  tracker_not_found: 'the project may be gone, renamed or hidden from the token: check tracker.project',
  tracker_api_error: 'it is asked again by itself; raise polling.interval_ms where this stays',
  tracker_transport_error: 'it is asked again by itself; check tracker.endpoint and the network where this stays',
  tracker_missing_end_cursor: 'it is asked again by itself',
  missing_tracker_project: 'set tracker.project',
};

export function remedyFor(kind: string): string | null {
  return Object.hasOwn(TRACKER_REMEDIES, kind) ? TRACKER_REMEDIES[kind as TrackerErrorKind] : null;
}

/** What a person can do about what ended a run, read from the words it is kept in; null where only time helps. */
export function remedyForRun(error: string): string | null {
  const hook = /\bworkspace: hook (\w+):/.exec(error)?.[1];
  if (hook !== undefined) return `mend hooks.${hook} of the workflow file`;
  const [, area, kind = ''] = /\b(agent|tracker): (\w+): /.exec(error) ?? [];
  if (area === 'tracker') return remedyFor(kind);
  return area === 'agent' && Object.hasOwn(AGENT_REMEDIES, kind) ? (AGENT_REMEDIES[kind] ?? null) : null;
}

/** Those of its kinds where a person has to do something. */
const AGENT_REMEDIES: Readonly<Record<string, string>> = {
  agent_not_found: 'install the program, or set agent.command to where it is',
  agent_not_logged_in: 'log the program in as the user of the service',
  agent_protocol_error: 'update the program of the agent: foray doctor tells its version',
  agent_exited: 'read its last words; an option or subcommand that it does not know asks for a newer version of the program',
  agent_did_nothing: 'look at the prompt and at the login of the agent',
  agent_no_evidence: 'let the agent say no-change-needed where that is right',
  verification_failed: 'read the output of the command in foray logs',
  turn_timeout: 'raise agent.turn_timeout_ms, or make the issue smaller',
  turn_stalled: 'raise agent.stall_timeout_ms where tools run long',
};

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
  readonly cause?: unknown;
}

/** Reads `tracker: <kind>: <method> <path>: <detail>`. The detail never holds a credential. */
export class TrackerError extends Error {
  readonly kind: TrackerErrorKind;
  readonly retryable: boolean;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly detail: string;

  constructor(facts: TrackerErrorFacts) {
    super(`tracker: ${facts.kind}: ${facts.method} ${facts.path}: ${facts.detail}`, { cause: facts.cause });
    this.name = 'TrackerError';
    this.kind = facts.kind;
    this.retryable = facts.retryable ?? TRACKER_ERROR_RETRYABLE[facts.kind];
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.detail = facts.detail;
  }
}

/** What went wrong with an agent. The class decides what happens next, see AGENT_ERROR_CONSEQUENCE. */
export type AgentErrorKind =
  | 'agent_not_found'
  | 'agent_not_logged_in'
  | 'agent_usage_limit'
  | 'agent_refused'
  | 'agent_needs_person'
  | 'agent_protocol_error'
  | 'agent_exited'
  | 'agent_did_nothing'
  | 'verification_failed'
  | 'agent_no_evidence'
  | 'turn_failed'
  | 'turn_timeout'
  | 'turn_stalled'
  | 'turn_cancelled';

export type Consequence = 'back-off' | 'back-off-at-cap' | 'pause-agent' | 'park';

export const AGENT_ERROR_CONSEQUENCE: Readonly<Record<AgentErrorKind, Consequence>> = {
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
};

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

  constructor(detail: string, alreadyMerged: boolean, isBusy = false) {
    super(`scm: scm_conflict_error: ${detail}`);
    this.name = 'ScmConflictError';
    this.alreadyMerged = alreadyMerged;
    this.isBusy = isBusy;
  }
}

/** A workspace or hook that could not be used. Reads `workspace: <what>: <detail>`. */
export class WorkspaceError extends Error {
  /** A path that is refused stays refused; a failed hook or disk may work next time. */
  readonly retryable: boolean;

  constructor(what: string, detail: string, options: { retryable: boolean; cause?: unknown }) {
    super(`workspace: ${what}: ${detail}`, { cause: options.cause });
    this.name = 'WorkspaceError';
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

/** An error as data: what the core, the store and the API keep of one. */
export interface Fault {
  readonly kind: string;
  readonly message: string;
  readonly consequence: Consequence;
  readonly resetsAt?: number;
  /** How long the remote asked to be left alone. */
  readonly retryAfterMs?: number;
}

/** Turns anything thrown into a fault. This is the one table that says what retries, and how. */
export function faultOf(error: unknown): Fault {
  if (error instanceof AgentError) {
    const consequence = AGENT_ERROR_CONSEQUENCE[error.kind];
    return { kind: error.kind, message: error.message, consequence, ...(error.resetsAt ? { resetsAt: error.resetsAt } : {}) };
  }
  if (error instanceof TrackerError) {
    const consequence = error.retryable ? 'back-off' : 'back-off-at-cap';
    return { kind: error.kind, message: error.message, consequence, ...waitOf(error) };
  }
  if (error instanceof ScmConflictError) return { kind: 'scm_conflict_error', message: error.message, consequence: 'back-off' };
  if (error instanceof WorkspaceError) {
    return { kind: 'workspace_error', message: error.message, consequence: error.retryable ? 'back-off' : 'back-off-at-cap' };
  }
  if (error instanceof DeliveryError) {
    return { kind: 'delivery_error', message: error.message, consequence: error.retryable ? 'back-off' : 'park' };
  }
  if (error instanceof NotificationError) {
    return { kind: 'notification_error', message: error.message, consequence: 'back-off', ...waitOf(error) };
  }
  if (error instanceof TemplateError) return { kind: 'template_error', message: error.message, consequence: 'back-off-at-cap' };
  return { kind: 'internal_error', message: error instanceof Error ? error.message : String(error), consequence: 'back-off' };
}

function waitOf({ retryAfterMs }: { readonly retryAfterMs: number | undefined }): Pick<Fault, 'retryAfterMs'> {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** What an effect brought back: a value or the fault that kept it from coming. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };
