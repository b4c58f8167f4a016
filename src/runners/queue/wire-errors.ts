import { isTrackerErrorKind, TrackerError, WorkspaceError, type TrackerErrorKind } from '../../domain/model/errors.ts';
import { FaultError, faultOf, heardFault, type Fault } from '../../domain/model/fault.ts';
import type { ToldAnswer, ToldError } from '../../ports/run-queue.ts';

/** What came of some work, to be told to another machine. */
export async function toldAnswer<T>(work: () => Promise<T>): Promise<ToldAnswer<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    return { ok: false, fault: faultOf(error), ...toldError(error) };
  }
}

function toldError(error: unknown): { readonly error?: ToldError } {
  if (error instanceof TrackerError) return { error: { of: 'tracker', facts: error.facts } };
  if (!(error instanceof WorkspaceError)) return {};
  const { what, detail, retryable } = error;
  return { error: { of: 'workspace', what, detail, retryable } };
}

/** The other machine's failure as the tracker, git or the forge would have told it here. */
export function errorOf({ fault, error }: Extract<ToldAnswer<unknown>, { readonly ok: false }>): Error {
  if (error?.of === 'tracker') return new TrackerError(error.facts);
  if (error?.of === 'workspace') return new WorkspaceError(error.what, error.detail, error);
  return errorOfFault(fault);
}

/** Where the other side told the fault alone, the rest is read from its message. */
function errorOfFault(fault: Fault): Error {
  const { kind, message, consequence } = fault;
  const retryable = consequence === 'back-off';
  const [, what, detail] = /^workspace: (.*?): (.*)$/s.exec(message) ?? [];
  if (kind === 'workspace_error' && what !== undefined && detail !== undefined)
    return new WorkspaceError(what, detail, { retryable });
  return (isTrackerErrorKind(kind) ? trackerErrorOf(fault, kind) : null) ?? new FaultError(heardFault(fault));
}

function trackerErrorOf({ message, consequence, ...fault }: Fault, kind: TrackerErrorKind): TrackerError | null {
  const [, method, path, detail] = /^tracker: \w+: (\S+) (.*?): (.*)$/s.exec(message) ?? [];
  if (method === undefined || path === undefined || detail === undefined) return null;
  const { retryAfterMs, isLimit = false } = fault;
  const told = { ...statusOf(fault), ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return new TrackerError({ kind, method, path, detail, retryable: consequence === 'back-off', isLimit, ...told });
}

/** What the status is known for. */
function statusOf({ isGarbled, isUnauthorized }: Pick<Fault, 'isGarbled' | 'isUnauthorized'>): { readonly status?: number } {
  if (isGarbled) return { status: 200 };
  return isUnauthorized ? { status: 401 } : {};
}
