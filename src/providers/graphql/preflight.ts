import { TrackerError } from '../../domain/errors.ts';
import { withRetries } from '../retry.ts';
import type { GraphqlClient } from './client.ts';
import { VIEWER } from './operations.ts';
import { KEY_PREFIX } from './settings.ts';
import type { TeamReader } from './team.ts';

export interface PreflightParts {
  readonly client: GraphqlClient;
  readonly team: TeamReader;
  /** Waits between the tries. */
  readonly retryDelaysMs: readonly number[];
}

/** Proves the key, then the team and its states. What may heal is tried again; every failure that is left ends start-up. */
export async function preflight({ client, team, retryDelaysMs }: PreflightParts, signal: AbortSignal): Promise<void> {
  try {
    await withRetries(() => client.run(VIEWER, {}, signal), retryDelaysMs, signal);
  } catch (error) {
    throw withRemedy(client, error);
  }
  await withRetries(() => team.read(signal), retryDelaysMs, signal);
}

function withRemedy(client: GraphqlClient, error: unknown): unknown {
  if (!(error instanceof TrackerError) || error.kind !== 'tracker_auth_error') return error;
  const remedy = `check tracker.api_key: a personal API key (${KEY_PREFIX}...) that is not revoked, without a scheme such as Bearer`;
  return client.fault(error.kind, `${error.detail}; ${remedy}`, { status: error.status, cause: error });
}
