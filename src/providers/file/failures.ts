import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerErrorFacts, TrackerErrorKind } from '../../domain/model/errors.ts';
import { EditRefusedError } from './edit.ts';

export type FileAccess = 'READ' | 'WRITE';

function fileError(facts: TrackerErrorFacts & { readonly method: FileAccess }): TrackerError {
  return new TrackerError({ ...facts, isOfFile: true });
}

export function payloadError(method: FileAccess, path: string, detail: string): TrackerError {
  return fileError({ kind: 'tracker_payload_error', method, path, detail });
}

/** A text that breaks off or is not what it shall be: perhaps somebody is just saving it, so it may heal within moments. */
export function unreadable(method: FileAccess, path: string, detail: string): TrackerError {
  return fileError({ kind: 'tracker_payload_error', method, path, detail, retryable: true });
}

export function isUnreadable(error: unknown): boolean {
  return error instanceof TrackerError && error.kind === 'tracker_payload_error' && error.retryable;
}

export function notFound(method: FileAccess, path: string, id: string): TrackerError {
  return fileError({ kind: 'tracker_not_found', method, path, detail: `no issue has the id "${id}"` });
}

/** What the system says, in the words of a tracker: a refused access is a lack of rights, the rest may heal. */
const KINDS: Readonly<Record<string, TrackerErrorKind>> = {
  EACCES: 'tracker_auth_error',
  EPERM: 'tracker_auth_error',
  EROFS: 'tracker_auth_error',
};

const DETAILS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or directory; create it or correct file.path',
  EACCES: 'this user may not use it; change its rights or those of its directory',
};

/** What is to be told of a failure of the system. */
export function systemDetail({ code = '', message }: NodeJS.ErrnoException): string {
  return DETAILS[code] ?? message;
}

/** Every failure as a TrackerError; an abort leaves as its own reason. */
export async function asTrackerErrors<T>(
  method: FileAccess,
  path: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    if (error instanceof TrackerError || signal.aborted) throw error;
    if (error instanceof EditRefusedError) throw payloadError(method, path, error.message);
    const fault = error as NodeJS.ErrnoException;
    throw fileError({
      kind: KINDS[fault.code ?? ''] ?? 'tracker_transport_error',
      method,
      path,
      detail: systemDetail(fault),
      cause: error,
    });
  }
}
