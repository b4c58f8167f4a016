import { TrackerError } from '../../domain/model/errors.ts';
import { faultOf } from '../../domain/model/fault.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { PreflightOptions, ProjectFacts } from '../../ports/tracker.ts';
import { withRetries, type RetryDeps } from '../shared/retry.ts';
import type { Routes } from './routes.ts';
import type { WireRepository } from './schema.ts';
import { KIND, type TrackerInputs } from './settings.ts';

export interface PreflightParts {
  /** The first page of the candidates, which the first poll then has for nothing. */
  readonly probe: (signal: AbortSignal) => Promise<void>;
  readonly retryDelaysMs: readonly number[];
  readonly deps: RetryDeps;
}

/** Failures that no waiting heals: a wrong token, a wrong repository. */
const PREFLIGHT_STOPS: ReadonlySet<string> = new Set(['tracker_auth_error', 'tracker_not_found']);

/**
 * A wrong token or repository ends start-up. A remote that is only away does not: the first poll asks it again. One that
 * asks to wait is left alone until then, by whoever starts.
 */
export async function preflight(
  { probe, retryDelaysMs, deps }: PreflightParts,
  { mustAnswer = false }: PreflightOptions,
  signal: AbortSignal,
): Promise<void> {
  try {
    await withRetries(() => probe(signal), { delaysMs: retryDelaysMs, deps }, signal);
  } catch (error) {
    if (!(error instanceof TrackerError) || mustAnswer || PREFLIGHT_STOPS.has(error.kind) || error.asksToWait) throw error;
    deps.logger.warn('tracker preflight failed for now, starting all the same', { tracker_kind: KIND, error: error.message });
  }
}

/** The start waits no longer for what is only advice. */
const DESCRIBE_MS = 3000;

interface Described {
  readonly inputs: Pick<TrackerInputs, 'repository'>;
  readonly routes: Pick<Routes, 'repository'>;
  readonly logger: Logger;
}

/** Advisory: what cannot be read is left unsaid. */
export async function describeProject({ routes, logger, inputs }: Described, signal: AbortSignal): Promise<ProjectFacts | null> {
  try {
    const patience = AbortSignal.any([signal, AbortSignal.timeout(DESCRIBE_MS)]);
    const { full_name: name, private: isPrivate, visibility, permissions } = await routes.repository(patience);
    const isPublic = visibility ? visibility === 'public' : isPrivate === false;
    const isTold = visibility || typeof isPrivate === 'boolean';
    const path = name || `${inputs.repository.owner}/${inputs.repository.repo}`;
    return { id: null, path, isPublic: isTold ? isPublic : null, ...roleIn(permissions) };
  } catch (error) {
    signal.throwIfAborted();
    logger.debug('repository could not be described', { tracker_kind: KIND, error: faultOf(error).message });
    return null;
  }
}

/** Of an app, which has no role, everything is denied, even the reading that this answer is. */
function roleIn(permissions: WireRepository['permissions']): Pick<ProjectFacts, 'mayWrite' | 'mayPush'> {
  if (!permissions || permissions.pull === false) return { mayWrite: null, mayPush: null };
  const mayPush = permissions.push === true;
  return { mayWrite: mayPush || permissions.triage === true, mayPush };
}
