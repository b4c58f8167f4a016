import { z } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { HttpResponse } from '../../lib/http/index.ts';
import { path } from '../../lib/http/index.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { RepoKey, RequestKey } from '../../ports/scm.ts';
import type { Classification, StatusTable } from '../shared/failures.ts';
import type { Method, TrackerHttp, TrackerHttpDeps, TrackerRequest } from '../shared/http.ts';
import { createTrackerHttp } from '../shared/http.ts';
import type { PageReader } from '../shared/numbered-pages.ts';
import type { ApiAccess } from '../shared/settings.ts';
import { userAgentOf } from '../shared/settings.ts';
import { API_SUFFIX, KIND, PAGE_SIZE } from './settings.ts';

/** The error table of the specification. Statuses it calls "other" are left to `other`. */
const STATUSES: StatusTable = {
  400: 'tracker_payload_error',
  401: 'tracker_auth_error',
  403: 'tracker_auth_error',
  404: 'tracker_not_found',
  405: 'tracker_api_error',
  409: 'tracker_api_error',
  412: 'tracker_payload_error',
  422: 'tracker_payload_error',
  423: 'tracker_api_error',
  429: 'tracker_api_error',
  '5xx': 'tracker_transport_error',
  other: 'tracker_api_error',
};

/** Answers that stay the same until a person changes something: a route switched off, an archived repository. */
const LASTING: readonly number[] = [405, 423];

/** However long a throttling proxy asks to wait, it is asked again after this time. */
const LONGEST_SILENCE_MS = 300_000;

/** The API of one instance: every role of this kind talks through it. */
export function createClient(access: ApiAccess, deps: TrackerHttpDeps): TrackerHttp {
  const http = createTrackerHttp(
    {
      kind: KIND,
      baseUrl: access.baseUrl,
      linkSuffix: API_SUFFIX,
      secrets: [access.apiKey],
      headers: {
        authorization: `token ${access.apiKey}`,
        accept: 'application/json',
        'user-agent': userAgentOf(access, deps),
      },
      statuses: STATUSES,
      classify: lasting,
      detail: messageOf,
    },
    deps,
  );
  return honouringRetryAfter(http, deps.clock);
}

/** How lists are read that the remote does not link. */
export function pageReader(http: TrackerHttp, { logger }: Pick<TrackerHttpDeps, 'logger'>): PageReader {
  return { http, logger, kind: KIND, pageSize: PAGE_SIZE };
}

/** The path of one issue. What is no index cannot be one, so it is not asked about. */
export function issuePath({ owner, repo }: RepoKey, id: string): string {
  const route = path`/repos/${owner}/${repo}/issues/${id}`;
  if (/^[1-9][0-9]{0,17}$/.test(id)) return route;
  throw noIndex(route, 'an issue index is a plain positive number');
}

/** The path of one pull request. */
export function pullPath({ owner, repo, number }: RequestKey): string {
  const route = path`/repos/${owner}/${repo}/pulls/${number}`;
  if (Number.isSafeInteger(number) && number > 0) return route;
  throw noIndex(route, 'a pull request index is a plain positive number');
}

function noIndex(route: string, rule: string): TrackerError {
  return new TrackerError({ kind: 'tracker_not_found', method: 'GET', path: route, detail: `not asked for: ${rule}` });
}

function lasting({ status }: HttpResponse): Classification | undefined {
  return LASTING.includes(status) ? { kind: STATUSES[status] ?? STATUSES.other, retryable: false } : undefined;
}

const ERROR_BODY = z.object({ message: z.string() });

// `{message, url}`: the url is that of the API's documentation and tells nothing.
function messageOf(body: string): string {
  return ERROR_BODY.parse(JSON.parse(body)).message;
}

// The remote has no limits of its own; a proxy that asks for patience would be asked again by every other call meanwhile.
function honouringRetryAfter(http: TrackerHttp, clock: Clock): TrackerHttp {
  let until = 0;
  const patient = async <T>(method: Method, request: TrackerRequest, run: () => Promise<T>): Promise<T> => {
    const left = until - clock.now();
    if (left > 0) throw tooEarly(method, request, left);
    try {
      return await run();
    } catch (error) {
      const asked = error instanceof TrackerError && error.status === 429 ? (error.retryAfterMs ?? 0) : 0;
      if (asked > 0) until = clock.now() + Math.min(asked, LONGEST_SILENCE_MS);
      throw error;
    }
  };
  return {
    ...http,
    send: (method, request, signal) => patient(method, request, () => http.send(method, request, signal)),
    sendJson: (method, schema, request, signal) => patient(method, request, () => http.sendJson(method, schema, request, signal)),
    getJson: (schema, request, signal) => patient('GET', request, () => http.getJson(schema, request, signal)),
    getPages: (schema, request, signal) => patient('GET', request, () => http.getPages(schema, request, signal)),
    getRecords: (schema, request, signal) => patient('GET', request, () => http.getRecords(schema, request, signal)),
  };
}

function tooEarly(method: Method, { path: route = '' }: TrackerRequest, left: number): TrackerError {
  const seconds = Math.ceil(left / 1000);
  const detail = `not sent: an earlier answer (429) asked to wait, ${seconds} s are left`;
  return new TrackerError({ kind: 'tracker_api_error', method, path: route, detail, retryAfterMs: left, isLimit: true });
}

/** How much there is of something that does not show. */
export interface Counts {
  get(key: string): number;
  raise(key: string, count: number): void;
}

/** The largest count seen of a thing, 0 when none was. Forgets now and then rather than grow for ever. */
export function createCounts(): Counts {
  const counts = new Map<string, number>();
  return {
    get: (key) => counts.get(key) ?? 0,
    raise: (key, count) => {
      if (count <= (counts.get(key) ?? 0)) return;
      if (counts.size >= 1000) counts.clear();
      counts.set(key, count);
    },
  };
}

/** Something that is not sent, or an answer that cannot be used. */
export function payloadError(method: string, route: string, detail: string): TrackerError {
  return new TrackerError({ kind: 'tracker_payload_error', method, path: route, detail });
}
