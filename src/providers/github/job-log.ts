import type { HttpResponse } from '../../lib/http/index.ts';
import { createHttpClient, path } from '../../lib/http/index.ts';
import { createLastTold } from '../../lib/last-told.ts';
import type { RepoKey } from '../../ports/scm.ts';
import type { TrackerHttp, TrackerHttpDeps } from '../shared/http.ts';
import { logTail } from '../shared/log-excerpt.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { userAgentOf } from '../shared/settings.ts';
import { headersOf } from './client.ts';
import type { WireStep } from './scm-schema.ts';
import { JOB, STEP } from './scm-schema.ts';
import { KIND } from './settings.ts';
import { errorText } from '../../lib/error-text.ts';

/** How much of a log is read. */
const LOG_BYTES = 16 * 1024 * 1024;
const LOG_TIMEOUT_MS = 60_000;

/** The end of what the failing step of a job wrote; empty, with a warning, where that cannot be read. */
export type ReadJobLog = (repo: RepoKey, jobId: string, maxLines: number, signal: AbortSignal) => Promise<string>;

export function createJobLog(access: ApiAccess, http: TrackerHttp, deps: TrackerHttpDeps): ReadJobLog {
  const known = new Map<string, string>();
  const told = createLastTold<string>();
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
      const said = errorText(error);
      const facts = { tracker_kind: KIND, job_id: jobId, error: said };
      if (told.isNews(job, said)) deps.logger.warn('job log could not be read, the failure is shown without it', facts);
      return '';
    }
  };
}

async function readSteps(http: TrackerHttp, job: string, signal: AbortSignal): Promise<readonly WireStep[]> {
  // REST API, "Get a job for a workflow run".
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

/** One line of a job's log, with the time at its beginning taken off. */
interface LogLine {
  readonly at: number;
  readonly text: string;
}

/**
 * The part of a job's log that its failing step wrote, up to the error it ended with. The log is one text for all steps:
 * what belongs to a step is found by the times of its lines. Where it cannot be found, all up to the last error.
 */
export function failingStepLog(log: string, steps: readonly WireStep[]): string {
  const lines = readLines(log);
  const step = failingStep(steps);
  const own = step ? linesOf(step, steps, lines) : [];
  return untilLastError(own.length > 0 ? own : lines)
    .map(({ text }) => text)
    .join('\n');
}

/** A job that ran out of time has no failed step, but one that was cancelled. */
const FAILING_FIRST = ['failure', 'timed_out', 'cancelled'];

export function failingStep(steps: readonly WireStep[]): WireStep | undefined {
  const inOrder = steps.toSorted((a, b) => a.number - b.number);
  return FAILING_FIRST.flatMap((conclusion) => inOrder.find((step) => step.conclusion === conclusion) ?? [])[0];
}

const STAMPED = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z) ?/;

// A line without a time of its own goes with the one before it.
function readLines(log: string): readonly LogLine[] {
  let at = Number.NEGATIVE_INFINITY;
  return log
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .map((line) => {
      const stamp = STAMPED.exec(line);
      if (stamp) at = Date.parse(stamp[1] ?? '');
      return { at, text: stamp ? line.slice(stamp[0].length) : line };
    });
}

/** Steps tell whole seconds and lines parts of them, so that a step's last second is the first of the next one. */
const SECOND = 1000;

function linesOf(step: WireStep, steps: readonly WireStep[], lines: readonly LogLine[]): readonly LogLine[] {
  const from = Date.parse(step.started_at);
  const lastSecond = Date.parse(step.completed_at);
  const span = lines.filter(({ at }) => at >= from && at < lastSecond + SECOND);
  const own = span.slice(ownStart(step, steps, span));
  const next = own.findIndex(({ at, text }, index) => index > 0 && at >= lastSecond && isStepStart(text) && hasError(own, index));
  return next === -1 ? own : own.slice(0, next);
}

// The steps before it that began in the same second wrote their beginnings into it too.
function ownStart(step: WireStep, steps: readonly WireStep[], span: readonly LogLine[]): number {
  const named = span.findIndex(({ text }) => text === `${GROUP}${step.name}`);
  if (named !== -1) return named;
  const starts = [...span.keys()].filter((index) => isStepStart(span[index]?.text ?? ''));
  const earlier = steps.filter((one) => one.number < step.number);
  if (!earlier.some((one) => Date.parse(one.completed_at) >= Date.parse(step.started_at))) return 0;
  const skipped = earlier.filter((one) => one.started_at === step.started_at && !isSetUp(one)).length;
  return starts[skipped] ?? 0;
}

const GROUP = '##[group]';

function isStepStart(text: string): boolean {
  return text.startsWith(`${GROUP}Run `) || text.startsWith('Post job cleanup.');
}

// The runner's own first step has no beginning of that kind.
function isSetUp({ number }: WireStep): boolean {
  return number === 1;
}

function hasError(lines: readonly LogLine[], before: number): boolean {
  return lines.slice(0, before).some(isError);
}

function untilLastError(lines: readonly LogLine[]): readonly LogLine[] {
  const last = lines.findLastIndex(isError);
  return last === -1 ? lines : lines.slice(0, last + 1);
}

function isError({ text }: LogLine): boolean {
  return text.startsWith('##[error]');
}
