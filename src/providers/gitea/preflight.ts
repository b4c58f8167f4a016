import { TrackerError } from '../../domain/model/errors.ts';
import { LASTING_LIMIT } from '../../domain/model/remedies.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { RepoKey } from '../../ports/scm.ts';
import type { ProjectFacts } from '../../ports/tracker.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { withRetries, type RetryDeps } from '../shared/retry.ts';
import { REPOSITORY, USER } from './schema.ts';
import { KIND } from './settings.ts';

export interface PreflightParts {
  readonly http: TrackerHttp;
  readonly baseUrl: string;
  readonly repository: RepoKey;
  readonly deps: RetryDeps;
  readonly retryDelaysMs: readonly number[];
}

/** Proves the token, then the repository. What may heal is tried again; every failure that is left ends start-up. */
export async function preflight(parts: PreflightParts, signal: AbortSignal): Promise<ProjectFacts> {
  const { http, repository, deps, retryDelaysMs } = parts;
  const { logger } = deps;
  const retries = { delaysMs: retryDelaysMs, deps, triesLimits: true };
  const project = `${repository.owner}/${repository.repo}`;
  // Gitea API, "Get the authenticated user", then "Get a repository".
  const user = { path: '/user' };
  const repo = { path: path`/repos/${repository.owner}/${repository.repo}` };

  await explained(USER_FAILURES, { ...parts, ...user }, () =>
    withRetries(() => http.getJson(USER, user, signal), retries, signal),
  );
  const found = await explained(REPOSITORY_FAILURES, { ...parts, ...repo }, () =>
    withRetries(() => http.getJson(REPOSITORY, repo, signal), retries, signal),
  );
  const facts = { tracker_kind: KIND, project };
  if (found.archived) logger.warn('repository is archived, the remote will refuse every write', facts);
  if (found.has_issues === false) logger.warn('repository has its issues switched off, none can be read', facts);
  return {
    id: null,
    path: project,
    isPublic: found.private == null ? null : !found.private,
    // Without the right to push, an account may have that to change issues, of which nothing is told.
    mayWrite: found.permissions?.push === true ? true : null,
    mayPush: found.permissions?.push ?? null,
  };
}

/** What a refusal means at one of the two calls, by status. */
type Refusals = Readonly<Record<number | 'other', { readonly kind: TrackerErrorKind; readonly remedy: string }>>;

const USER_FAILURES: Refusals = {
  401: { kind: 'tracker_auth_error', remedy: 'the token is not accepted: put a valid access token into tracker.api_key' },
  403: { kind: 'tracker_auth_error', remedy: 'the token needs the scopes read:user, read:repository and write:issue' },
  404: { kind: 'tracker_auth_error', remedy: 'there is no such API at this address: check tracker.endpoint' },
  other: { kind: 'tracker_auth_error', remedy: 'the token could not be checked: look at tracker.endpoint and tracker.api_key' },
};

const REPOSITORY_FAILURES: Refusals = {
  401: { kind: 'tracker_auth_error', remedy: 'the token is not accepted: put a valid access token into tracker.api_key' },
  403: { kind: 'tracker_auth_error', remedy: 'the token needs the scope read:repository' },
  other: {
    kind: 'tracker_not_found',
    remedy: 'there is no such repository, or the user of the token cannot see it: check tracker.project',
  },
};

async function explained<T>(refusals: Refusals, place: { baseUrl: string; path: string }, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    // Who asks to wait is waited for.
    if (!(error instanceof TrackerError) || error.retryAfterMs !== undefined) throw error;
    throw withRemedy(error, refusals, new URL(place.baseUrl).pathname + place.path);
  }
}

const UNREACHABLE = 'check that tracker.endpoint is the address of the forge and that it can be reached';

// A forge that is down, slow or hidden behind something else says nothing about token or repository: that kind stays.
function withRemedy(error: TrackerError, refusals: Refusals, route: string): TrackerError {
  const { status } = error;
  const refused = status !== undefined && status >= 400 && status < 500 && status !== 429;
  const { kind, remedy } = refused
    ? (refusals[status] ?? refusals.other)
    : { kind: error.kind, remedy: error.isLimit ? LASTING_LIMIT : UNREACHABLE };
  return new TrackerError({
    kind,
    method: 'GET',
    path: route,
    detail: `${error.detail}; ${remedy}`,
    ...(refused ? {} : { retryable: error.retryable }),
    status,
    cause: error,
  });
}
