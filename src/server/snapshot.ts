import type { Context } from 'hono';
import type { Snapshot } from '../domain/views/snapshot.ts';
import type { Daemon } from '../ports/daemon.ts';
import { failure, sendJson } from './http/envelope.ts';

/** A snapshot that fails to be made is one that is not there. */
export function readSnapshot(daemon: Daemon): Snapshot | null {
  try {
    return daemon.snapshot();
  } catch (error) {
    daemon.logger.error('snapshot failed', { error: String(error) });
    return null;
  }
}

/** What the API answers then. */
export const NO_SNAPSHOT = failure('snapshot_unavailable', 'The state of the service could not be read. Try again in a moment.');

export function noSnapshot(c: Context): Response {
  return sendJson(c, NO_SNAPSHOT);
}
