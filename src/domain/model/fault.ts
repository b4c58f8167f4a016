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
  isFaultKind,
  type Consequence,
  type FaultKind,
} from './errors.ts';

/** An error as data: what the core, the store and the API keep of one. */
export interface Fault {
  readonly kind: FaultKind;
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
  if (error instanceof FaultError) return error.fault;
  const message = error instanceof Error ? error.message : String(error);
  for (const judge of BY_CLASS) {
    const judged = judge(error);
    if (judged !== null) return { message, ...judged };
  }
  return { message, kind: 'internal_error', consequence: 'back-off' };
}

/** The one table that says what retries, and how. */
const BY_CLASS: readonly ((error: unknown) => Judged | null)[] = [
  of(AgentError, ({ kind, resetsAt }) => ({
    kind,
    consequence: AGENT_ERROR_CONSEQUENCE[kind],
    ...(resetsAt ? { resetsAt } : {}),
  })),
  of(TrackerError, (error) => ({
    kind: error.kind,
    consequence: error.retryable ? 'back-off' : 'back-off-at-cap',
    ...waitOf(error),
    ...natureOf(error),
  })),
  of(ScmConflictError, () => ({ kind: 'scm_conflict_error', consequence: 'back-off' })),
  of(WorkspaceError, ({ retryable }) => ({ kind: 'workspace_error', consequence: retryable ? 'back-off' : 'back-off-at-cap' })),
  of(DeliveryError, ({ retryable }) => ({ kind: 'delivery_error', consequence: retryable ? 'back-off' : 'park' })),
  of(NotificationError, (error) => ({ kind: 'notification_error', consequence: 'back-off', ...waitOf(error) })),
  of(RecordsError, ({ isAway }) => ({ kind: isAway ? 'database_away' : 'internal_error', consequence: 'back-off' })),
  of(TemplateError, () => ({ kind: 'template_error', consequence: 'back-off-at-cap' })),
];

type Judged = Omit<Fault, 'message'>;

function of<E>(kind: abstract new (...args: never[]) => E, judge: (error: E) => Judged) {
  return (error: unknown): Judged | null => (error instanceof kind ? judge(error) : null);
}

/** A fault that another process tells of, which may be of another version and have kinds of its own. */
export function heardFault(fault: Fault): Fault {
  return isFaultKind(fault.kind) ? fault : { ...(fault as Fault), kind: 'internal_error' };
}

function natureOf({ isGarbled, isLimit, status }: TrackerError): Pick<Fault, 'isGarbled' | 'isLimit' | 'isUnauthorized'> {
  return { ...(isGarbled && { isGarbled }), ...(isLimit && { isLimit }), ...(status === 401 && { isUnauthorized: true }) };
}

function waitOf({ retryAfterMs }: { readonly retryAfterMs: number | undefined }): Pick<Fault, 'retryAfterMs'> {
  return retryAfterMs === undefined ? {} : { retryAfterMs };
}

/** What an effect brought back: a value or the fault that kept it from coming. */
export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };
