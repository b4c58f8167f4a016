import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import { LASTING_LIMIT } from '../../domain/model/remedies.ts';
import type { Clock, LogAttributes } from '../../ports/runtime.ts';
import type { ProjectFacts, Rights } from '../../ports/tracker.ts';
import { withRetries, type RetryDeps } from '../shared/retry.ts';
import type { LabelCatalog } from './labels.ts';
import type { Project } from './routes.ts';
import { readLabelNames, trackerError } from './routes.ts';
import type { WireProject, WireToken } from './schema.ts';
import { PROJECT, TOKEN_SELF } from './schema.ts';
import { KIND } from './settings.ts';

export interface PreflightPlan {
  readonly project: Project;
  readonly catalog: LabelCatalog;
  readonly deps: RetryDeps & { readonly clock: Clock };
  /** Whether a state label is configured, whose casing must be known. */
  readonly hasStateLabels: boolean;
  /** Labels that `query_filter` asks for. */
  readonly filterLabels: readonly string[];
  /** Waits between the tries of what blocks start-up. */
  readonly retryDelaysMs: readonly number[];
}

/** Before the first poll: the token (advice only), the project and the labels (both must be readable). */
export async function preflight(plan: PreflightPlan, signal: AbortSignal): Promise<ProjectFacts> {
  const { project, catalog, deps } = plan;
  const retries = { delaysMs: plan.retryDelaysMs, deps, triesLimits: true };
  await inspectToken(project, deps.clock, signal);
  const facts = await explained(project, project.route, () => withRetries(() => checkProject(project, signal), retries, signal));
  if (plan.hasStateLabels) {
    await explained(project, `${project.route}/labels`, () => withRetries(() => catalog.read(signal), retries, signal));
  }
  if (plan.filterLabels.length > 0) await adviseOnFilter(project, plan.filterLabels, signal);
  return facts;
}

// Tried once. Older servers and some token kinds lack the route, so no answer of it may keep the service from starting.
async function inspectToken({ http, logger }: Project, clock: Clock, signal: AbortSignal): Promise<void> {
  try {
    // GitLab API, "Personal access tokens API": the token itself.
    const token = await http.getJson(TOKEN_SELF, { path: '/personal_access_tokens/self' }, signal);
    const facts = { tracker_kind: KIND, scopes: token.scopes?.join(' '), expires_at: token.expires_at ?? undefined };
    for (const warning of tokenWarnings(token, clock.now())) logger.warn(warning, facts);
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    logger.debug('tracker token could not be inspected', { tracker_kind: KIND, error: error.message });
  }
}

/** A classic token tells its scopes, and `api` is all that a run needs. A fine-grained one tells its permissions nowhere. */
export async function readRights({ http }: Project, signal: AbortSignal): Promise<Rights> {
  // GitLab API, "Personal access tokens API": the token itself.
  const { scopes } = await http.getJson(TOKEN_SELF, { path: '/personal_access_tokens/self' }, signal);
  if (!isClassic(scopes)) return { missing: [], untold: ['api'] };
  return { missing: scopes.includes('api') ? [] : ['api'], untold: [] };
}

function isClassic(scopes: WireToken['scopes']): scopes is string[] {
  return scopes != null && scopes.length > 0 && !scopes.includes('granular');
}

const WEEK_MS = 7 * 86_400_000;

function tokenWarnings({ scopes, active, revoked, expires_at }: WireToken, now: number): readonly string[] {
  if (revoked === true) return ['tracker token is revoked'];
  if (active === false) return ['tracker token is inactive'];
  const endsIn = expires_at ? Date.parse(expires_at) - now : Number.NaN;
  return [
    ...(isClassic(scopes) && !scopes.includes('api') ? ['tracker token has no api scope, every write will be refused'] : []),
    ...(endsIn < WEEK_MS ? ['tracker token expires within a week'] : []),
  ];
}

async function checkProject({ http, logger, name, route }: Project, signal: AbortSignal): Promise<ProjectFacts> {
  // GitLab API, "Projects API": one project.
  const { archived, issues_access_level, id, path_with_namespace, visibility, permissions } = await http.getJson(
    PROJECT,
    { path: route },
    signal,
  );
  const facts: LogAttributes = { tracker_kind: KIND, project: name };
  if (archived === true) logger.warn('project is archived, every write will be refused', facts);
  if (issues_access_level === 'disabled') logger.warn('project has its issues switched off', facts);
  const path = path_with_namespace ?? name;
  const isRenamed = path.toLowerCase() !== name.toLowerCase() && !/^\d+$/.test(name);
  if (isRenamed) logger.warn('project has another path by now, every write to the old one will be refused', { ...facts, path });
  return {
    id: id == null ? null : String(id),
    path,
    ...(isRenamed && { isRenamed }),
    isPublic: visibility == null ? null : visibility === 'public' && issues_access_level !== 'private',
    mayWrite: hasRole(REPORTER, permissions),
    mayPush: hasRole(DEVELOPER, permissions),
  };
}

/** Reporters may label, move and comment issues; developers may push and open merge requests. */
const REPORTER = 20;
const DEVELOPER = 30;

/** Null where neither tells: of an administrator, or of a group that was invited, there is no role of its own. */
function hasRole(least: number, permissions: WireProject['permissions']): boolean | null {
  const levels = [permissions?.project_access, permissions?.group_access].flatMap((access) => access?.access_level ?? []);
  return levels.length === 0 ? null : levels.some((level) => level >= least);
}

const UNREACHABLE = (): string => 'check that tracker.endpoint is the address of the instance and that it can be reached';

/** What an operator can do. The remote gives the same 404 for a missing project and for one the token may not see. */
const REMEDIES: Partial<Record<TrackerErrorKind, (project: string) => string>> = {
  tracker_auth_error: () => 'check tracker.api_key: a token with the scope api (read_api only reads), not expired',
  tracker_not_found: (project) =>
    `project ${JSON.stringify(project)} does not exist, or it is not visible to this token: check tracker.project, and that the token's user is a member of it`,
  tracker_payload_error: () => 'check tracker.endpoint: it must be the address of the instance itself',
  tracker_transport_error: UNREACHABLE,
  tracker_api_error: UNREACHABLE,
};

/** Adds what can be done to the failure that is left after every try. */
async function explained<T>(project: Project, path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    const { kind, status, detail, retryable, isLimit, retryAfterMs } = error;
    const remedy = isLimit ? LASTING_LIMIT : REMEDIES[kind]?.(project.name);
    // Who asks to wait is waited for.
    if (remedy === undefined || retryAfterMs !== undefined) throw error;
    const facts = { kind, status, retryable, method: 'GET', path, cause: error };
    throw trackerError(project, { ...facts, detail: `${detail}; ${remedy}` });
  }
}

// A name the remote does not know makes its filter match nothing. The comparison is exact, as it is there.
async function adviseOnFilter(project: Project, labels: readonly string[], signal: AbortSignal): Promise<void> {
  const { logger } = project;
  try {
    const names = new Set(await readLabelNames(project, signal));
    for (const label of labels) {
      if (names.has(label)) continue;
      logger.warn('query_filter names a label that the project does not have', { tracker_kind: KIND, label });
    }
  } catch (error) {
    if (!(error instanceof TrackerError)) throw error;
    logger.debug('labels of query_filter could not be checked', { tracker_kind: KIND, error: error.message });
  }
}
