import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';

/**
 * Whether requests are merged by a queue could not be read: nothing is merged past it. Nothing was sent either, so that it
 * counts as no try. A limit, and a credential that is not taken, are told as they are.
 */
export function queueUnread(what: string, error: unknown): unknown {
  if (!(error instanceof TrackerError) || error.isLimit || error.kind === 'tracker_auth_error') return error;
  return new ScmConflictError(`${what} could not be read: ${error.message}`, { isBusy: true });
}
