import { TrackerError } from '../../domain/model/errors.ts';
import type { PreflightOptions } from '../../ports/tracker.ts';
import { withRetries, type RetryDeps } from '../shared/retry.ts';
import { REMEDIES } from './client.ts';
import { SEARCH_PATH } from './search.ts';
import { KIND } from './settings.ts';

export interface PreflightParts {
  /** The first page of the candidates: it proves the account, the project, the states and the filter at once. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  /** The statuses that the project has, for the message when one is named that it has not. */
  readonly statuses: (signal: AbortSignal) => Promise<readonly string[]>;
  readonly retryDelaysMs: readonly number[];
  readonly deps: RetryDeps;
}

/**
 * A wrong account or project ends start-up. A site that is only away does not: the first poll asks it again. One that
 * asks to wait is left alone until then, by whoever starts. What the site does not take, such as a status it does not
 * know, is no reason to end a start; but it does not replace what is in force and works.
 */
export async function preflight(
  parts: PreflightParts,
  { mustAnswer = false }: PreflightOptions,
  signal: AbortSignal,
): Promise<void> {
  const failure = await failureOf(parts, signal);
  if (!failure) return;
  if (failure.asksToWait || (mustAnswer && failure.retryable)) throw failure;
  const { kind, status, detail, retryable } = failure;
  const known = isUnknownStatus(failure) ? await knownStatuses(parts, signal) : undefined;
  const isFinal = mustAnswer && status === 400;
  const remedy = remedyFor(failure) ?? (isFinal ? editRemedy(known) : undefined);
  if (remedy === undefined) {
    const facts = { tracker_kind: KIND, error: failure.message, known_statuses: known };
    return parts.deps.logger.warn('tracker preflight failed for now, starting all the same', facts);
  }
  const place = { method: 'GET', path: SEARCH_PATH };
  throw new TrackerError({ ...place, kind, status, retryable, detail: detail + remedy, cause: failure });
}

async function failureOf(
  { probe, retryDelaysMs: delaysMs, deps }: PreflightParts,
  signal: AbortSignal,
): Promise<TrackerError | undefined> {
  try {
    await withRetries(() => probe(signal), { delaysMs, deps }, signal);
    return undefined;
  } catch (error) {
    if (error instanceof TrackerError) return error;
    throw error;
  }
}

// Jira Cloud platform REST API, "Search for issues using JQL": a name it does not know fails the whole expression.
function isUnknownStatus({ status, detail }: TrackerError): boolean {
  return status === 400 && /does not exist for the field '?status'?/i.test(detail);
}

/** The list only helps to read the message: the start does not wait for it. */
const STATUSES_MS = 2000;

async function knownStatuses({ statuses }: PreflightParts, signal: AbortSignal): Promise<string | undefined> {
  const names = await statuses(AbortSignal.any([signal, AbortSignal.timeout(STATUSES_MS)])).catch(() => []);
  return names.length === 0 ? undefined : names.map((name) => JSON.stringify(name)).join(', ');
}

function editRemedy(known: string | undefined): string {
  const states = known === undefined ? 'tracker.active_states' : `tracker.active_states (the project has ${known})`;
  return `; check ${states} and tracker.query_filter`;
}

/** What to do about a failure that no waiting heals. Undefined for all others. */
function remedyFor({ kind, status, detail }: TrackerError): string | undefined {
  if (kind === 'tracker_not_found') return '; there is no such API at this address: check tracker.endpoint';
  if (kind === 'tracker_auth_error') {
    const remedy = REMEDIES[status ?? 401] ?? REMEDIES[401] ?? '';
    return detail.includes('tracker.api_key') || detail.includes(remedy) ? '' : `; ${remedy}`;
  }
  // How the remote says that there is no such project; it cannot tell that from one it hides.
  if (status === 400 && /\bproject\b.*does not exist|does not exist.*\bproject\b/i.test(detail)) {
    return '; there is no such project, or the account of tracker.api_key may not see it: check tracker.project and the token';
  }
  return undefined;
}
