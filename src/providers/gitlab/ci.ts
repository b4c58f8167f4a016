import { TrackerError } from '../../domain/model/errors.ts';
import type { ScmConnection } from '../../domain/model/settings.ts';
import { path } from '../../lib/http/index.ts';
import type { CiProvider, CiReport, CiRequest } from '../../ports/ci.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import { aggregate, isFailing } from '../shared/ci-aggregate.ts';
import { logTail } from '../shared/log-excerpt.ts';
import { readPipelineStatuses, toCheckRun, unrecognizedStatuses } from './commit-status.ts';
import type { Project } from './routes.ts';
import { openProject } from './routes.ts';
import type { GitlabForge } from './scm-routes.ts';
import { openForge, openRepo, refuseUnsendable } from './scm-routes.ts';
import type { WireCommitStatus } from './scm-schema.ts';
import { COMMIT } from './scm-schema.ts';
import { KIND, ciProject, readScmSettings } from './settings.ts';

/** The route of a job's log knows no ranges: of a longer one its first megabyte is read. */
const TRACE_BYTES = 1024 * 1024;
/** An entry of some other system has no log. So many failing ones are tried until one has. */
const TRACE_TRIES = 3;

export function createCi(connection: ScmConnection, deps: ProviderDeps): CiProvider {
  const forge = openForge(readScmSettings(connection), deps);
  const configured = ciProject(connection);
  const projectOf = (request: CiRequest): Project =>
    configured === null || isElsewhere(configured, request)
      ? openRepo(forge, request)
      : openProject(configured, forge.baseUrl, forge);
  return { kind: KIND, readCi: async (request, signal) => readCi(forge, projectOf(request), request, signal) };
}

/** Whether a request is of another project than the configured one, which stands there by its path or its id. */
function isElsewhere(configured: string, { owner, repo, projectId = '' }: CiRequest): boolean {
  if (configured.includes('/')) return configured.toLowerCase() !== `${owner}/${repo}`.toLowerCase();
  return projectId !== '' && projectId !== configured;
}

async function readCi(
  forge: GitlabForge,
  project: Project,
  { ref, maxLogLines }: CiRequest,
  signal: AbortSignal,
): Promise<CiReport> {
  const entries = await readStatuses(forge, project, ref, signal);
  const checkRuns = entries.map(toCheckRun);
  const verdict = aggregate(checkRuns);
  const failing = entries.flatMap((entry) => (entry.id && isFailing(toCheckRun(entry)) ? [entry.id] : []));
  const logExcerpt = maxLogLines > 0 ? await readExcerpt(forge, project, { jobIds: failing, maxLogLines }, signal) : '';
  return { ...verdict, checkRuns, logExcerpt, ref };
}

/** The entries of the pipeline that the remote calls the commit's current one; none when it has none. */
async function readStatuses(
  forge: GitlabForge,
  project: Project,
  ref: string,
  signal: AbortSignal,
): Promise<readonly WireCommitStatus[]> {
  refuseUnsendable(project, ref, { method: 'GET', what: 'a branch or commit' });
  // GitLab API, "Commits API".
  const commit = await project.http.getJson(COMMIT, { path: project.route + path`/repository/commits/${ref}` }, signal);
  const pipelineId = commit.last_pipeline?.id;
  if (!pipelineId) return [];
  refuseUnsendable(project, commit.id, { method: 'GET', what: 'a commit' });
  const entries = await readPipelineStatuses(project, { sha: commit.id, pipelineId }, signal);
  for (const [status, count] of unrecognizedStatuses(entries)) {
    const facts = { project: project.name, pipeline_id: pipelineId, status, count };
    forge.warnOnce('job has an unrecognized status, it counts as in progress', facts);
  }
  return entries;
}

/** The end of the first failing job's log. A report without one is better than none. */
async function readExcerpt(
  { warnOnce }: GitlabForge,
  project: Project,
  { jobIds, maxLogLines }: { readonly jobIds: readonly number[]; readonly maxLogLines: number },
  signal: AbortSignal,
): Promise<string> {
  let reason: TrackerError | null = null;
  for (const id of jobIds.slice(0, TRACE_TRIES)) {
    try {
      return logTail(plainTrace(await readTrace(project, id, signal)), maxLogLines);
    } catch (error) {
      if (!(error instanceof TrackerError)) throw error;
      reason = error;
      if (error.kind !== 'tracker_not_found') break;
    }
  }
  if (reason) {
    const facts = { project: project.name, job_id: jobIds[0], error: reason.message };
    warnOnce('job log could not be read, the report has no excerpt', facts);
  }
  return '';
}

async function readTrace({ http, route }: Project, jobId: number, signal: AbortSignal): Promise<string> {
  // GitLab API, "Jobs API": log of a job.
  return (await http.send('GET', { path: `${route}/jobs/${jobId}/trace`, cutBodyBytes: TRACE_BYTES }, signal)).body;
}

/** Begins each line of a log with times: when, which stream, and `+` where the line goes on with an earlier one. */
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ([0-9a-f]{2}[OE])([+ ]?)/;

/** Tells the web page which lines it may fold away: `section_start:<time>:<name>[options]`, then a redraw of the line. */
// oxlint-disable-next-line no-control-regex -- the escape sequence is part of the marker
const SECTION = /section_(?:start|end):\d+:[\w.-]+(?:\[[^\]\r\n]*\])?(?:\r|\u001b\[0K)*/g;

/** A job's log without what the runner adds to each line and section for the vendor's own viewer. */
export function plainTrace(text: string): string {
  const lines: string[] = [];
  const lastOf = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [stamp = '', stream = '', flag] = STAMP.exec(line) ?? [];
    // Markers go before lines are joined: on one line, the end of a section's name could not be told.
    const said = line.slice(stamp.length).replaceAll(SECTION, '');
    const earlier = flag === '+' ? lastOf.get(stream) : undefined;
    if (earlier !== undefined) lines[earlier] += said;
    else lastOf.set(stream, lines.push(said) - 1);
  }
  return lines.join('\n');
}
