import {
  AGENT_ERROR_CONSEQUENCE,
  AgentError,
  DeliveryError,
  NotificationError,
  RecordsError,
  ScmConflictError,
  TemplateError,
  TrackerError,
  WorkspaceError,
  type Consequence,
} from './errors.ts';

/** An error as data: what the core, the store and the API keep of one. */
export interface Fault {
  readonly kind: string;
  readonly message: string;
  readonly consequence: Consequence;
  readonly resetsAt?: number;
  /** How long the remote asked to be left alone. */
  readonly retryAfterMs?: number;
  /** A limit of requests, which says nothing of what was asked for. */
  readonly isLimit?: boolean;
  /** The remote said yes, and the rest of its answer could not be read: what was asked for may be done. */
  readonly isGarbled?: boolean;
  /** The remote did not take the credential itself, which says nothing of what it may do. */
  readonly isUnauthorized?: boolean;
}

/** Whether trying again cannot help: a lack of rights, or a request that the remote does not take as it is. */
export function isRefusal({ kind, consequence, isGarbled = false }: Fault): boolean {
  return kind === 'tracker_auth_error' || (kind === 'tracker_payload_error' && consequence !== 'back-off' && !isGarbled);
}

/** Whether the remote will never tell it to this credential. One that was not taken at all may be taken the next time. */
export function isNeverTold({ kind, isUnauthorized = false }: Fault): boolean {
  return (kind === 'tracker_auth_error' || kind === 'tracker_not_found') && !isUnauthorized;
}

/** A fault that was told, thrown as it is. */
export class FaultError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.name = 'FaultError';
    this.fault = fault;
  }
}

/** Turns anything thrown into a fault. */
export function faultOf(error: unknown): Fault {
  return error instanceof FaultError ? error.fault : judged(error);
}

/** This is the one table that says what retries, and how. */
function judged(error: unknown): Fault {
  if (error instanceof AgentError) {
    const consequence = AGENT_ERROR_CONSEQUENCE[error.kind];
    return { kind: error.kind, message: error.message, consequence, ...(error.resetsAt ? { resetsAt: error.resetsAt } : {}) };
  }
  if (error instanceof TrackerError) {
    const consequence = error.retryable ? 'back-off' : 'back-off-at-cap';
    return { kind: error.kind, message: error.message, consequence, ...waitOf(error), ...natureOf(error) };
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
  if (error instanceof RecordsError && error.isAway)
    return { kind: 'database_away', message: error.message, consequence: 'back-off' };
  if (error instanceof TemplateError) return { kind: 'template_error', message: error.message, consequence: 'back-off-at-cap' };
  return { kind: 'internal_error', message: error instanceof Error ? error.message : String(error), consequence: 'back-off' };
}

function natureOf({ isGarbled, isLimit, status }: TrackerError): Pick<Fault, 'isGarbled' | 'isLimit' | 'isUnauthorized'> {
  return { ...(isGarbled && { isGarbled }), ...(isLimit && { isLimit }), ...(status === 401 && { isUnauthorized: true }) };
}

function waitOf({ retryAfterMs }: { readonly retryAfterMs: number | undefined }): Pick<Fault, 'retryAfterMs'> {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** What an effect brought back: a value or the fault that kept it from coming. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };
