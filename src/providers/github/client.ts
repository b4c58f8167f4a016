import { TrackerError } from '../../domain/model/errors.ts';
import type { ConditionalCache, HttpResponse } from '../../lib/http/index.ts';
import { createConditionalCache, parseLinkHeader } from '../../lib/http/index.ts';
import type { Classification, StatusTable } from '../shared/failures.ts';
import type { TrackerHttp, TrackerHttpDeps } from '../shared/http.ts';
import { createTrackerHttp } from '../shared/http.ts';
import { plainQuotas, type ReadQuotas } from '../shared/quota.ts';
import { type ApiAccess, userAgentOf } from '../shared/settings.ts';
import { createSearchPace } from './search-pace.ts';
import { KIND, PAGE_SIZE } from './settings.ts';

const PAGE_CAP = 200;
const API_VERSION = '2026-03-10';

/** What differs between the roles that talk to the remote. */
export interface ClientRole {
  /** The endpoint, unless said otherwise. */
  readonly baseUrl?: string;
  /** The tracker's, unless said otherwise. The first that fits is shown. */
  readonly remedies?: readonly Remedy[];
  /** Failures that come in an answer of 2xx. Asked first. */
  readonly faultIn?: (response: HttpResponse) => Classification | undefined;
}

/** What an operator can do about an answer, by its status and the path that was asked. */
export interface Remedy {
  readonly status: number;
  readonly where: RegExp;
  readonly remedy: string;
  /** Shown also where the remote says nothing readable. */
  readonly always?: boolean;
}

/** Every request to the remote: its headers, what its statuses mean, and reads that cost no quota while nothing changed. */
export function createClient(access: ApiAccess, deps: TrackerHttpDeps, role: ClientRole = {}): TrackerHttp {
  const { remedies = REMEDIES, faultIn, baseUrl = access.baseUrl } = role;
  const rules = {
    statuses: STATUSES,
    classify: (response: HttpResponse) => faultIn?.(response) ?? classify(response, remedies),
    detail: detailOf,
  };
  const pace = createSearchPace(deps);
  const quotas: ReadQuotas = (response, now) => {
    const readings = readQuotas(response, now);
    pace.heard(readings);
    return readings;
  };
  const settings = { kind: KIND, baseUrl, secrets: [access.apiKey], quotas, beforeRequest: pace.before, ...rules };
  const headers = headersOf(access, deps);
  const { [VERSION_HEADER]: _, ...unversioned } = headers;
  return withVersionFallback(
    createTrackerHttp({ ...settings, headers, cache: pageCache() }, deps),
    () => createTrackerHttp({ ...settings, headers: unversioned, cache: pageCache() }, deps),
    deps,
  );
}

/** Each budget by the name in the answer: `core`, `search`, `graphql`. */
const readQuotas = plainQuotas(KIND, 'hold', 'core');

const VERSION_HEADER = 'X-GitHub-Api-Version';

/**
 * An older GitHub Enterprise Server refuses an API version it does not know (REST API, "API Versions"): then every request
 * goes without one, which the server answers with its own. Told once.
 */
function withVersionFallback(versioned: TrackerHttp, createPlain: () => TrackerHttp, { logger }: TrackerHttpDeps): TrackerHttp {
  let http = versioned;
  const attempt = async <T>(run: (current: TrackerHttp) => Promise<T>): Promise<T> => {
    try {
      return await run(http);
    } catch (error) {
      if (http !== versioned || !(error instanceof TrackerError) || error.status !== 400 || !VERSION_REFUSED.test(error.detail))
        throw error;
      http = createPlain();
      logger.warn('remote does not know the API version, requests go without one', {
        tracker_kind: KIND,
        api_version: API_VERSION,
      });
      return run(http);
    }
  };
  return {
    ...versioned,
    send: (method, request, signal) => attempt((current) => current.send(method, request, signal)),
    sendJson: (method, schema, request, signal) => attempt((current) => current.sendJson(method, schema, request, signal)),
    getJson: (schema, request, signal) => attempt((current) => current.getJson(schema, request, signal)),
    probe: (schema, request, signal) => attempt((current) => current.probe(schema, request, signal)),
    getPages: (schema, request, signal) => attempt((current) => current.getPages(schema, request, signal)),
    getRecords: (schema, request, signal) => attempt((current) => current.getRecords(schema, request, signal)),
  };
}

const VERSION_REFUSED = /\bversion\b.*(not|un)\s?supported|not a (supported|valid) (API )?version|unsupported.*\bversion\b/i;

export function headersOf(access: ApiAccess, deps: Pick<TrackerHttpDeps, 'version'>): Readonly<Record<string, string>> {
  return {
    Authorization: `Bearer ${access.apiKey}`,
    Accept: 'application/vnd.github+json',
    'X-Forge-Api-Version': API_VERSION,
    [VERSION_HEADER]: API_VERSION,
    'User-Agent': userAgentOf(access, deps),
  };
}

/** What each status means. A 403 is asked about rate limits first, see `classify`. */
const STATUSES: StatusTable = {
  400: 'tracker_payload_error',
  401: 'tracker_auth_error',
  403: 'tracker_auth_error',
  404: 'tracker_not_found',
  410: 'tracker_api_error',
  422: 'tracker_payload_error',
  429: 'tracker_api_error',
  '5xx': 'tracker_transport_error',
  other: 'tracker_api_error',
};

const REMEDIES: readonly Remedy[] = [
  { status: 401, where: /./, remedy: 'the token is wrong, expired or revoked: check tracker.api_key' },
  {
    status: 403,
    where: /./,
    remedy: 'the token may not do this: it needs Issues (read and write) and Metadata (read), a classic token the scope repo',
  },
  {
    status: 404,
    where: /\/issues$/,
    remedy: 'the repository does not exist or the token may not see it: check tracker.project and the token',
  },
  { status: 422, where: /\/labels$/, remedy: 'labels are never created from here: create it in the repository' },
  { status: 422, where: /\/search\/issues$/, remedy: 'check tracker.query_filter, tracker.project and what the token may see' },
];

function classify(response: HttpResponse, remedies: readonly Remedy[]): Classification | undefined {
  const { status, path, body } = response;
  const limit = status === 403 ? rateLimitOf(response) : undefined;
  if (limit) return { kind: 'tracker_api_error', detail: `status 403: ${limit}`, isLimit: true, ...resetOf(response) };
  if (status === 429) return { kind: 'tracker_api_error', ...resetOf(response) };
  const kind = STATUSES[status];
  const found = remedies.find((one) => one.status === status && one.where.test(path));
  if (!kind || !found) return undefined;
  const said = spoken(body);
  if (said) return { kind, detail: `status ${status}: ${said}; ${found.remedy}` };
  // Nothing readable said: the body is shown as it is, which the default does.
  return found.always ? { kind, detail: `status ${status}: ${found.remedy}` } : undefined;
}

// In this order: the primary limit says so in a header, the secondary one only in its words.
function rateLimitOf({ headers, body }: HttpResponse): string | undefined {
  const said = spoken(body);
  if (headers.get('x-ratelimit-remaining')?.trim() === '0') {
    return `primary rate limit used up${resetText(headers.get('x-ratelimit-reset'))}${said && `: ${said}`}`;
  }
  return /rate limit/i.test(body) ? `secondary rate limit${said && `: ${said}`}` : undefined;
}

/** REST API, "Rate limits": where nothing is left, the next request may be sent when the window ends. */
export function resetOf({ headers }: HttpResponse): Pick<Classification, 'retryAt'> {
  const reset = Number(headers.get('x-ratelimit-reset')?.trim() || Number.NaN);
  return headers.get('x-ratelimit-remaining')?.trim() === '0' && reset > 0 ? { retryAt: reset * 1000 } : {};
}

function resetText(reset: string | null): string {
  const at = new Date(Number(reset) * 1000);
  return reset?.trim() && !Number.isNaN(at.getTime()) ? ` until ${at.toISOString()}` : '';
}

function spoken(body: string): string {
  try {
    return detailOf(body).replace(/\s+/g, ' ');
  } catch {
    return '';
  }
}

/** `Validation Failed (Label name "x" invalid)` out of `{message, errors}`. Throws when the body is no JSON. */
function detailOf(body: string): string {
  const { message, errors } = recordOf(JSON.parse(body));
  const faults = (Array.isArray(errors) ? errors : [errors]).map(faultOf).filter((fault) => fault !== '');
  return `${textOf(message)}${faults.length > 0 ? ` (${faults.join('; ')})` : ''}`.trim();
}

function faultOf(entry: unknown): string {
  if (typeof entry === 'string') return entry;
  const { message, resource, field, value, code } = recordOf(entry);
  const shown = value === undefined || value === null ? '' : JSON.stringify(value);
  return textOf(message) || [textOf(resource), textOf(field), shown, textOf(code)].filter((word) => word !== '').join(' ');
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/**
 * A 304 says that the entries of a page are the same, and carries no link to a page that came into being behind it. So a
 * page that is full and has no next one is not remembered: the next issue would never be seen. The last page that is read
 * at all is: nothing behind it is looked for.
 */
function pageCache(): ConditionalCache {
  const cache = createConditionalCache({ maxEntries: 1000, maxBytes: 128 * 1024 * 1024 });
  return {
    get: (url) => cache.get(url),
    // What is not whole is forgotten.
    put: (url, response) => cache.put(url, endsFull(response) ? { ...response, truncated: true } : response),
    get size() {
      return cache.size;
    },
  };
}

function endsFull(response: HttpResponse): boolean {
  if (response.status !== 200 || parseLinkHeader(response.headers.get('link'), response.url).has('next')) return false;
  if (Number(new URL(response.url).searchParams.get('page')) >= PAGE_CAP) return false;
  try {
    const body = response.json();
    const { items, check_runs: runs, workflow_runs: workflows, statuses } = recordOf(body);
    const entries = Array.isArray(body) ? body : (items ?? runs ?? workflows ?? statuses);
    return Array.isArray(entries) && entries.length >= Number(new URL(response.url).searchParams.get('per_page') ?? PAGE_SIZE);
  } catch {
    return false;
  }
}
