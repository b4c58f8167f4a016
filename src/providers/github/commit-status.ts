import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { CheckRun, CiReport } from '../../ports/ci.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { aggregate } from '../shared/ci-aggregate.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { createIsNew, type IsNew } from '../shared/warn-once.ts';
import type { WireCheckRun, WireStatus, WireWorkflowRun } from './scm-schema.ts';
import { CHECK_RUN_PAGE, STATUS_PAGE, WORKFLOW_RUN_PAGE } from './scm-schema.ts';
import { KIND, LIST_PAGE } from './settings.ts';
import { ACTIONS, withoutOlder, withoutSuperseded } from './superseded.ts';

/** All checks of a commit and what they amount to. */
export interface CommitChecks extends Pick<CiReport, 'status' | 'failingCount'> {
  readonly checks: readonly CommitCheck[];
}

export type ReadCommitChecks = (repo: RepoKey, ref: string, signal: AbortSignal) => Promise<CommitChecks>;

/** Reads both kinds of checks to the last page. The merge gate and the CI role judge the same reading. */
export function createCommitChecks(http: TrackerHttp, logger: Logger): ReadCommitChecks {
  const isNew = createIsNew();
  return async ({ owner, repo }, ref, signal) => {
    const commit = path`/repos/${owner}/${repo}/commits/${commitRef(ref)}`;
    const actions = path`/repos/${owner}/${repo}/actions/runs`;
    const runs = await checkRuns(http, { checks: `${commit}/check-runs`, actions }, signal).catch(async (error: unknown) => {
      if (!isForbidden(error)) throw error;
      const found = await workflowRuns(http, actions, ref, signal).catch(() => {
        throw error;
      });
      if (isNew(FORBIDDEN)) logger.warn(FORBIDDEN, { tracker_kind: KIND, error: error.message });
      return found;
    });
    const statuses = await commitStatuses(http, `${commit}/status`, signal);
    const checks = [...runs.checks, ...statuses.checks];
    reportUnknown(checks, isNew, logger);
    const verdict = aggregate(checks.map(({ run }) => run));
    // A failure is one, whatever else there is; anything better needs all of them.
    if (verdict.status !== 'failing') for (const list of [runs, statuses]) checkComplete(list);
    return { checks, ...verdict };
  };
}

interface ReadList {
  readonly path: string;
  readonly checks: readonly CommitCheck[];
  readonly total: number;
}

const PAGED = { per_page: LIST_PAGE };

async function checkRuns(http: TrackerHttp, places: CheckPlaces, signal: AbortSignal): Promise<ReadList> {
  // REST API, "List check runs for a Git reference".
  const pages = await http.getPages(CHECK_RUN_PAGE, { path: places.checks, query: PAGED }, signal);
  // A list that grows while its pages are read repeats some.
  const runs = [...new Map(pages.flatMap((page) => page.check_runs ?? []).map((run) => [run.id, run])).values()];
  const standing = await withoutSuperseded(
    runs,
    async (headSha) => (await readWorkflowRuns(http, places.actions, { head_sha: headSha }, signal)).runs,
  );
  return listOf(places.checks, standing.map(checkOfRun), (pages.at(-1)?.total_count ?? 0) - runs.length);
}

interface CheckPlaces {
  readonly checks: string;
  readonly actions: string;
}

/** `unread`: how many more the remote says there are. */
function listOf(place: string, checks: readonly CommitCheck[], unread: number): ReadList {
  return { path: place, checks, total: checks.length + Math.max(0, unread) };
}

/** Fine-grained tokens have no permission for check runs. Without the runs of Actions too, nothing would be known: then the read fails. */
const FORBIDDEN = 'check runs may not be read with this token, commit statuses and runs of Actions are judged instead';

function isForbidden(error: unknown): error is TrackerError {
  return error instanceof TrackerError && error.kind === 'tracker_auth_error' && error.status === 403;
}

async function workflowRuns(http: TrackerHttp, place: string, ref: string, signal: AbortSignal): Promise<ReadList> {
  const query = { [/^[0-9a-f]{40,64}$/i.test(ref) ? 'head_sha' : 'branch']: ref };
  const { runs, total } = await readWorkflowRuns(http, place, query, signal);
  const checks = withoutOlder(runs).map((run) => {
    return checkOfRun({ ...run, details_url: '', app: null, check_suite: null, output: null });
  });
  return listOf(place, checks, total - runs.length);
}

async function readWorkflowRuns(
  http: TrackerHttp,
  place: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly runs: readonly WireWorkflowRun[]; readonly total: number }> {
  // REST API, "List workflow runs for a repository".
  const pages = await http.getPages(WORKFLOW_RUN_PAGE, { path: place, query: { ...PAGED, ...query } }, signal);
  const byId = new Map(pages.flatMap((page) => page.workflow_runs ?? []).map((run) => [run.id, run]));
  return { runs: [...byId.values()], total: pages.at(-1)?.total_count ?? 0 };
}

async function commitStatuses(http: TrackerHttp, place: string, signal: AbortSignal): Promise<ReadList> {
  // REST API, "Get the combined status for a specific reference".
  const pages = await http.getPages(STATUS_PAGE, { path: place, query: PAGED }, signal);
  const byId = new Map(pages.flatMap((page) => page.statuses ?? []).map((status) => [status.id, status]));
  return { path: place, checks: [...byId.values()].map(checkOfStatus), total: pages.at(-1)?.total_count ?? 0 };
}

function checkComplete({ path: place, checks, total }: ReadList): void {
  if (checks.length >= total) return;
  const detail = `only ${checks.length} of ${total} entries could be read, so that nothing is known of the others`;
  throw new TrackerError({ kind: 'tracker_api_error', method: 'GET', path: place, detail });
}

function commitRef(ref: string): string {
  if (ref.trim() !== '') return ref;
  throw new TrackerError({
    kind: 'tracker_payload_error',
    method: 'GET',
    path: '/commits',
    detail: 'there is no commit to look at',
  });
}

function reportUnknown(checks: readonly CommitCheck[], isNew: IsNew, logger: Logger): void {
  const words = checks.flatMap(({ unknown }) => unknown ?? []);
  for (const word of [...new Set(words)].filter(isNew)) {
    const facts = { tracker_kind: KIND, value: word, count: words.filter((one) => one === word).length };
    logger.warn('check result is not known, it counts as pending', facts);
  }
}

type Reading = Pick<CheckRun, 'status' | 'conclusion'>;

/** How far a check run that has no conclusion yet has come. */
export const CHECK_RUN_STATUSES: ReadonlyMap<string, Reading> = new Map([
  ['queued', { status: 'queued', conclusion: 'pending' }],
  ['waiting', { status: 'queued', conclusion: 'pending' }],
  ['requested', { status: 'queued', conclusion: 'pending' }],
  ['pending', { status: 'queued', conclusion: 'pending' }],
  ['in_progress', { status: 'in progress', conclusion: 'pending' }],
]);

/** What the conclusion of a completed check run means. What the remote gave up waiting for has not ended. */
export const CONCLUSIONS: ReadonlyMap<string, Reading> = new Map([
  ['success', { status: 'completed', conclusion: 'success' }],
  ['failure', { status: 'completed', conclusion: 'failure' }],
  ['timed_out', { status: 'completed', conclusion: 'failure' }],
  ['action_required', { status: 'completed', conclusion: 'failure' }],
  ['startup_failure', { status: 'completed', conclusion: 'failure' }],
  ['neutral', { status: 'completed', conclusion: 'neutral' }],
  ['skipped', { status: 'completed', conclusion: 'skipped' }],
  ['cancelled', { status: 'completed', conclusion: 'cancelled' }],
  ['stale', { status: 'in progress', conclusion: 'pending' }],
]);

/** What a legacy commit status means. */
export const COMMIT_STATES: ReadonlyMap<string, Reading> = new Map([
  ['success', { status: 'completed', conclusion: 'success' }],
  ['failure', { status: 'completed', conclusion: 'failure' }],
  ['error', { status: 'completed', conclusion: 'failure' }],
  ['pending', { status: 'in progress', conclusion: 'pending' }],
]);

/** A word nobody knows must not let a merge through, so that it is waited for. */
const UNKNOWN: Reading = { status: 'in progress', conclusion: 'pending' };

/** A check of a commit, from either of the two sources. */
export interface CommitCheck {
  readonly run: CheckRun;
  /** The job whose log can be read. */
  readonly jobId: string | null;
  /** What it says of itself. */
  readonly says: string;
  /** The word that was not recognized, if any. */
  readonly unknown: string | null;
}

export function checkOfRun(run: WireCheckRun): CommitCheck {
  const isDone = run.status.toLowerCase() === 'completed';
  const word = (isDone ? run.conclusion : run.status).toLowerCase();
  const reading = (isDone ? CONCLUSIONS : CHECK_RUN_STATUSES).get(word);
  const { title = '', summary = '', text = '' } = run.output ?? {};
  return {
    run: { name: run.name, ...(reading ?? UNKNOWN), detailsUrl: run.details_url || run.html_url },
    // Only there the two numbers are the same.
    jobId: run.app?.slug === ACTIONS ? run.id : null,
    says: [title, summary, text].filter((part) => part.trim() !== '').join('\n'),
    unknown: reading ? null : word,
  };
}

export function checkOfStatus({ context, state, description, target_url }: WireStatus): CommitCheck {
  const word = state.toLowerCase();
  const reading = COMMIT_STATES.get(word);
  return {
    run: { name: context, ...(reading ?? UNKNOWN), detailsUrl: target_url },
    jobId: null,
    says: [description, target_url].filter((part) => part.trim() !== '').join('\n'),
    unknown: reading ? null : word,
  };
}
