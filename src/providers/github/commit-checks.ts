import { TrackerError } from '../../domain/model/errors.ts';
import { path } from '../../lib/http/index.ts';
import type { CiReport } from '../../ports/ci.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { RepoKey } from '../../ports/scm.ts';
import { aggregate } from '../shared/ci-aggregate.ts';
import type { TrackerHttp } from '../shared/http.ts';
import { type CommitCheck, checkOfRun, checkOfStatus } from './ci-map.ts';
import { CHECK_RUN_PAGE, STATUS_PAGE } from './scm-schema.ts';
import { KIND } from './settings.ts';

/** The most the remote gives on one page. */
export const LIST_PAGE = 100;

/** All checks of a commit and what they amount to. */
export interface CommitChecks extends Pick<CiReport, 'status' | 'failingCount'> {
  readonly checks: readonly CommitCheck[];
}

export type ReadCommitChecks = (repo: RepoKey, ref: string, signal: AbortSignal) => Promise<CommitChecks>;

/** Reads both kinds of checks to the last page. The merge gate and the CI role judge the same reading. */
export function createCommitChecks(http: TrackerHttp, logger: Logger): ReadCommitChecks {
  const reported = new Set<string>();
  return async ({ owner, repo }, ref, signal) => {
    const commit = path`/repos/${owner}/${repo}/commits/${commitRef(ref)}`;
    const runs = await checkRuns(http, `${commit}/check-runs`, signal);
    const statuses = await commitStatuses(http, `${commit}/status`, signal);
    const checks = [...runs.checks, ...statuses.checks];
    reportUnknown(checks, reported, logger);
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

async function checkRuns(http: TrackerHttp, place: string, signal: AbortSignal): Promise<ReadList> {
  const pages = await http.getPages(CHECK_RUN_PAGE, { path: place, query: PAGED }, signal);
  // A list that grows while its pages are read repeats some.
  const byId = new Map(pages.flatMap((page) => page.check_runs ?? []).map((run) => [run.id, run]));
  return { path: place, checks: [...byId.values()].map(checkOfRun), total: pages.at(-1)?.total_count ?? 0 };
}

async function commitStatuses(http: TrackerHttp, place: string, signal: AbortSignal): Promise<ReadList> {
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
    method: 'checks',
    path: '""',
    detail: 'there is no commit to look at',
  });
}

// A poll repeats, its warnings do not.
function reportUnknown(checks: readonly CommitCheck[], reported: Set<string>, logger: Logger): void {
  const words = checks.flatMap(({ unknown }) => unknown ?? []);
  for (const word of new Set(words)) {
    if (reported.has(word)) continue;
    if (reported.size >= 1000) reported.clear();
    reported.add(word);
    const facts = { tracker_kind: KIND, value: word, count: words.filter((one) => one === word).length };
    logger.warn('check result is not known, it counts as pending', facts);
  }
}
