import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { withRetries, type RetryDeps } from '../shared/retry.ts';
import type { LinearClient } from './client.ts';
import { VIEWER } from './operations.ts';
import { KEY_PREFIX } from './settings.ts';
import type { TeamReader } from './team.ts';

export interface PreflightParts {
  readonly client: LinearClient;
  readonly team: TeamReader;
  /** Waits between the tries. */
  readonly retryDelaysMs: readonly number[];
  readonly deps: RetryDeps;
}

/** Proves the key, then the team and its states. What may heal is tried again; every failure that is left ends start-up. */
export async function preflight(parts: PreflightParts, signal: AbortSignal): Promise<void> {
  const { client, team, deps, retryDelaysMs: delaysMs } = parts;
  try {
    await withRetries(() => client.run(VIEWER, {}, signal), { delaysMs, deps }, signal);
    await withRetries(() => team.read(signal), { delaysMs, deps }, signal);
  } catch (error) {
    throw withRemedy(client, error);
  }
}

const UNREACHABLE = 'check that tracker.endpoint is the address of the API and that it can be reached';

/** What an operator can do. An unusable answer says so itself. */
const REMEDIES: Partial<Record<TrackerErrorKind, string>> = {
  tracker_auth_error: `check tracker.api_key: a personal API key (${KEY_PREFIX}...) that is not revoked, without a scheme such as Bearer`,
  tracker_transport_error: UNREACHABLE,
  tracker_api_error: UNREACHABLE,
};

function withRemedy(client: LinearClient, error: unknown): unknown {
  if (!(error instanceof TrackerError)) return error;
  const { kind, detail, status, retryable } = error;
  const remedy = error.asksToWait ? undefined : REMEDIES[kind];
  if (remedy === undefined) return error;
  return client.fault(kind, `${detail}; ${remedy}`, { status, retryable, cause: error });
}
