import { path, createHttpClient } from '../../lib/http/index.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import type { RepoKey } from '../../ports/scm.ts';
import type { TrackerHttp, TrackerHttpDeps } from '../shared/http.ts';
import { logTail } from '../shared/log-excerpt.ts';
import { type ApiAccess, userAgentOf } from '../shared/settings.ts';
import { headersOf } from './client.ts';
import { type WireStep, JOB, STEP } from './scm-schema.ts';
import { KIND } from './settings.ts';
import { failingStepLog } from './step-log.ts';

/** How much of a log is read. */
const LOG_BYTES = 16 * 1024 * 1024;
const LOG_TIMEOUT_MS = 60_000;

/** The end of what the failing step of a job wrote; empty, with a warning, where that cannot be read. */
export type ReadJobLog = (repo: RepoKey, jobId: string, maxLines: number, signal: AbortSignal) => Promise<string>;

export function createJobLog(access: ApiAccess, http: TrackerHttp, deps: TrackerHttpDeps): ReadJobLog {
  const known = new Map<string, string>();
  return async ({ owner, repo }, jobId, maxLines, signal) => {
    const job = path`/repos/${owner}/${repo}/actions/jobs/${jobId}`;
    const key = `${job} ${maxLines}`;
    const cached = known.get(key);
    if (cached !== undefined) return cached;
    try {
      const steps = await readSteps(http, job, signal);
      const log = await readLog(access, `${job}/logs`, deps, signal);
      const excerpt = logTail(failingStepLog(log, steps), maxLines);
      // A job that ran is over: its log is not read again for every look at the same failure.
      if (known.size >= 100) known.clear();
      known.set(key, excerpt);
      return excerpt;
    } catch (error) {
      signal.throwIfAborted();
      const said = error instanceof Error ? error.message : String(error);
      deps.logger.warn('job log could not be read, the failure is shown without it', {
        tracker_kind: KIND,
        job_id: jobId,
        error: said,
      });
      return '';
    }
  };
}

async function readSteps(http: TrackerHttp, job: string, signal: AbortSignal): Promise<readonly WireStep[]> {
  const { steps } = await http.getJson(JOB, { path: job }, signal);
  return http.records(STEP, steps ?? [], job);
}

/**
 * The remote answers with the address of its store, which is another host and takes no token: whoever has the address may
 * read the log. So this one redirect is followed by a client that has no credential.
 */
async function readLog(access: ApiAccess, logs: string, deps: TrackerHttpDeps, signal: AbortSignal): Promise<string> {
  const api = createHttpClient({ baseUrl: access.baseUrl, headers: headersOf(access, deps), timeoutMs: LOG_TIMEOUT_MS });
  const answer = await api.request({ path: logs, keepRedirect: true, cutBodyBytes: LOG_BYTES }, signal);
  const location = answer.headers.get('location');
  if (answer.status < 300 || answer.status > 399 || location === null) return bodyOf(answer, 'the job log');
  const store = storeAddress(location, answer.url);
  const headers = { 'User-Agent': userAgentOf(access, deps) };
  const plain = createHttpClient({ baseUrl: store.origin, headers, timeoutMs: LOG_TIMEOUT_MS });
  return bodyOf(await plain.request({ url: store.href, cutBodyBytes: LOG_BYTES }, signal), 'the store of job logs');
}

/** Only encrypted, except from one's own machine to itself. */
function storeAddress(location: string, from: string): URL {
  if (!URL.canParse(location, from)) throw new Error('the job log leads to an address that is none');
  const store = new URL(location, from);
  store.username = '';
  store.password = '';
  const isLocal = store.protocol === 'http:' && isLoopback(store) && isLoopback(new URL(from));
  if (store.protocol !== 'https:' && !isLocal) throw new Error(`the job log leads to ${store.protocol}//, which is not followed`);
  return store;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

function bodyOf({ status, body }: HttpResponse, source: string): string {
  if (status < 200 || status > 299) throw new Error(`${source} answered with status ${status}`);
  return body;
}
