import { z } from 'zod';
import type { ZodType } from 'zod';
import { TrackerError } from '../../domain/model/errors.ts';
import type { HttpClient, HttpClientSettings, HttpRequest, HttpResponse } from '../../lib/http/index.ts';
import { createHttpClient, createMask, followPages, onOrigin, parseLinkHeader, type Mask } from '../../lib/http/index.ts';
import type { ProviderDeps } from '../../ports/provider.ts';
import type { Failure, FailureRules } from './failures.ts';
import { failureOf, networkErrorOf } from './failures.ts';
import { recordFaultText, parseRecords } from './records.ts';
import type { ReadQuotas } from './quota.ts';
import { createIsNew, type IsNew } from './warn-once.ts';

/**
 * How an adapter talks to its remote. Every failure is a TrackerError with the credential masked; an abort by the caller is
 * rethrown as its reason. A request names its path below the base address, written with the `path` tag of lib/http.
 */
export interface TrackerHttp {
  /** One request answered in 2xx, or a TrackerError. For answers without a body, or whose headers matter. */
  send(method: Method, request: TrackerRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** The same with the body decoded. */
  sendJson<T>(method: Method, schema: ZodType<T>, request: TrackerRequest, signal: AbortSignal): Promise<T>;
  getJson<T>(schema: ZodType<T>, request: TrackerRequest, signal: AbortSignal): Promise<T>;
  /** Tries a GET. Whoever asks for the same in the next seconds is given its answer, once: a start then asks once, not twice. */
  probe(schema: ZodType, request: TrackerRequest, signal: AbortSignal): Promise<void>;
  /** Every page by its `next` link, each decoded as a whole: for lists wrapped in an object. */
  getPages<T>(schema: ZodType<T>, request: TrackerRequest, signal: AbortSignal): Promise<T[]>;
  /** The entries of every page of a bare list. One that does not fit is left out with a warning, the others are kept. */
  getRecords<T>(schema: ZodType<T>, request: TrackerRequest, signal: AbortSignal): Promise<T[]>;
  /** The entries of a list read in some other way, under the rule of `getRecords`. `endpoint` is for the warning. */
  records<T>(schema: ZodType<T>, entries: readonly unknown[], endpoint: string): T[];
  /** The address of the next page, where the answer links to one. */
  nextLink(response: HttpResponse): string | undefined;
  /** Decodes an answer of `send`. What is no JSON, or does not fit, is a `tracker_payload_error`. */
  decode<T>(method: Method, schema: ZodType<T>, response: HttpResponse): T;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type TrackerRequest = Omit<HttpRequest, 'method'>;

export interface TrackerHttpSettings extends HttpClientSettings, FailureRules {
  /** Canonical kind, for log records. */
  readonly kind: string;
  /** Credentials that may never show. For Basic: the pair as well as the token in it. */
  readonly secrets: readonly string[];
  /** How many pages of one list are read at most: 200 unless set. Reaching it is a warning, and what was read is returned. */
  readonly pageCap?: number;
  /** Given: next links are followed on the configured origin, whatever host they name. It is the API's own path. */
  readonly linkSuffix?: string;
  /** What the remote's answers say is left of its budgets. */
  readonly quotas?: ReadQuotas;
  /** Waits until a request may be sent, where the remote's budget asks for it. */
  readonly beforeRequest?: (request: HttpRequest, signal: AbortSignal) => Promise<void>;
}

export type TrackerHttpDeps = Pick<ProviderDeps, 'version' | 'clock' | 'logger' | 'meter' | 'mayWrite'>;

export function createTrackerHttp(settings: TrackerHttpSettings, deps: TrackerHttpDeps): TrackerHttp {
  const line: Line = {
    ...deps,
    settings,
    client: createHttpClient({ maxBodyBytes: MAX_BODY_BYTES, ...settings, ...(deps.mayWrite && { mayWrite: deps.mayWrite }) }),
    mask: maskFor(settings),
    decoded: new WeakMap(),
    isNew: createIsNew(),
    probed: null,
  };
  const http: TrackerHttp = {
    send: (method, request, signal) => perform(line, { ...request, method }, signal),
    sendJson: async (method, schema, request, signal) => decode(line, method, schema, await http.send(method, request, signal)),
    getJson: (schema, request, signal) => http.sendJson('GET', schema, request, signal),
    probe: async (schema, request, signal) => {
      const response = await http.send('GET', request, signal);
      decode(line, 'GET', schema, response);
      line.probed = { key: keyOf(request), response, until: deps.clock.now() + PROBE_MS };
    },
    getPages: async <T>(schema: ZodType<T>, request: TrackerRequest, signal: AbortSignal) => {
      const read: T[] = [];
      for await (const page of pages(line, request, signal)) read.push(decode(line, 'GET', schema, page));
      return read;
    },
    getRecords: async <T>(schema: ZodType<T>, request: TrackerRequest, signal: AbortSignal) => {
      const read: T[] = [];
      for await (const page of pages(line, request, signal))
        for (const record of pageRecords(line, schema, page)) read.push(record);
      return read;
    },
    records: (schema, entries, endpoint) => records(line, schema, entries, endpoint),
    nextLink: ({ headers, url }) => {
      const next = parseLinkHeader(headers.get('link'), url).get('next');
      return next && linkTarget(settings, next);
    },
    decode: (method, schema, response) => decode(line, method, schema, response),
  };
  return http;
}

/** A page of a hundred issues whose texts are as long as a forge takes them: GitLab takes about a megabyte each. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;

const LIST = z.array(z.unknown());

/** What one adapter's requests share. */
interface Line extends TrackerHttpDeps {
  readonly settings: TrackerHttpSettings;
  readonly client: HttpClient;
  readonly mask: Mask;
  /** What remembered pages were decoded to, by the page and the schema: one that did not change is not decoded again. */
  readonly decoded: WeakMap<HttpResponse['json'], { schema: unknown; records: readonly unknown[] }>;
  /** Whether a warning was not given yet. */
  readonly isNew: IsNew;
  /** The answer to a probe that nobody has used yet. */
  probed: { readonly key: string; readonly response: HttpResponse; readonly until: number } | null;
}

/** How long the answer to a probe stands for a request. */
const PROBE_MS = 3000;

function keyOf({ path, query, url, headers }: TrackerRequest): string {
  return JSON.stringify([path, query, url, headers]);
}

function maskFor({ baseUrl, secrets }: TrackerHttpSettings): Mask {
  const { username, password } = new URL(baseUrl);
  const all = password ? [...secrets, password, `${username}:${password}`] : secrets;
  return createMask(all);
}

async function perform(line: Line, request: HttpRequest & { method: Method }, signal: AbortSignal): Promise<HttpResponse> {
  const { settings, client, mask, clock, meter } = line;
  const { method } = request;
  const probed = takeProbed(line, request);
  if (probed) return probed;
  let response: HttpResponse;
  await settings.beforeRequest?.(request, signal);
  try {
    response = await client.request(request, signal);
  } catch (error) {
    meter?.made(settings.kind, 'error');
    throw networkErrorOf(error, settings.statuses, { method, path: mask(pathOf(settings, request)), mask });
  }
  const failure =
    failureOf(response, settings, { now: clock.now(), mask }) ?? (method === 'GET' ? undefined : pageFault(response));
  for (const reading of settings.quotas?.(response, clock.now()) ?? []) meter?.left(reading);
  meter?.made(settings.kind, failure ? 'error' : 'success');
  meter?.dated?.(Date.parse(response.headers.get('date') ?? ''));
  if (!failure) return response;
  const path = mask(response.path);
  if (response.status === 429) {
    const asked = response.headers.get('retry-after') ?? undefined;
    // Whoever asked tells of the failure, and its message says how long to wait: a second warning would be the same once more.
    line.logger.debug('tracker throttled a request', { tracker_kind: settings.kind, method, path, retry_after: asked });
  }
  throw new TrackerError({ ...failure, method, path });
}

function takeProbed(line: Line, { method, ...request }: HttpRequest & { method: Method }): HttpResponse | undefined {
  const { probed } = line;
  if (probed === null || method !== 'GET' || probed.key !== keyOf(request)) return undefined;
  const { response, until } = probed;
  line.probed = null;
  return line.clock.now() <= until ? response : undefined;
}

// A success that shows a web page is the login of a proxy: the write never arrived, and must not count as done.
function pageFault(response: HttpResponse): Failure | undefined {
  const { status } = response;
  return isPage(response) ? { kind: 'tracker_payload_error', status, detail: `status ${status}: ${A_PAGE}` } : undefined;
}

const A_PAGE = 'a web page in place of an answer: check tracker.endpoint and what stands before it';

function isPage({ headers, body }: HttpResponse): boolean {
  return /\bhtml\b/i.test(headers.get('content-type') ?? '') || /^\s*<(?:!doctype|html)\b/i.test(body);
}

function pathOf({ baseUrl }: TrackerHttpSettings, { path = '', url }: HttpRequest): string {
  return url === undefined ? new URL(baseUrl).pathname.replace(/\/+$/, '') + path : new URL(url, baseUrl).pathname;
}

async function* pages(line: Line, request: TrackerRequest, signal: AbortSignal): AsyncGenerator<HttpResponse> {
  const { settings, logger, mask } = line;
  const path = mask(pathOf(settings, request));
  const fetchPage = (next: string | null): Promise<HttpResponse> =>
    perform(line, { ...(next === null ? request : { headers: request.headers, url: next }), method: 'GET' }, signal);
  const onCap = (count: number): void => {
    logger.warn('tracker list reached the page cap, the rest is left out', {
      tracker_kind: settings.kind,
      endpoint: path,
      pages: count,
    });
  };
  try {
    yield* followPages(fetchPage, { cap: settings.pageCap ?? 200, onCap, rewrite: (next) => linkTarget(settings, next) });
  } catch (error) {
    throw networkErrorOf(error, settings.statuses, { method: 'GET', path, mask });
  }
}

// Elsewhere a link to another origin is refused: the credential would go along.
function linkTarget({ baseUrl, linkSuffix }: TrackerHttpSettings, next: string): string {
  return linkSuffix === undefined ? next : onOrigin(next, baseUrl, linkSuffix);
}

function decode<T>({ mask, settings }: Line, method: Method, schema: ZodType<T>, response: HttpResponse): T {
  const { status } = response;
  const unusable = (why: string): TrackerError => {
    // Remembered under its tag, what cannot be read would come back with every 304.
    settings.cache?.put(response.url, { ...response, truncated: true });
    const place = { kind: 'tracker_payload_error', method, path: mask(response.path), status } as const;
    return new TrackerError({ ...place, detail: mask(`status ${status}: ${why}`) });
  };
  let value: unknown;
  try {
    value = response.json();
  } catch {
    // The parser's own message quotes the body, so it is not passed on.
    throw unusable(isPage(response) ? A_PAGE : 'the answer is not valid JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw unusable(`unexpected answer: ${recordFaultText(parsed.error)}`);
}

function pageRecords<T>(line: Line, schema: ZodType<T>, page: HttpResponse): readonly T[] {
  const known = line.decoded.get(page.json);
  if (known?.schema === schema) return known.records as readonly T[];
  const found = records(line, schema, decode(line, 'GET', LIST, page), page.path);
  if (line.settings.cache?.get(page.url)?.response.json === page.json) line.decoded.set(page.json, { schema, records: found });
  return found;
}

function records<T>(line: Line, schema: ZodType<T>, entries: readonly unknown[], endpoint: string): T[] {
  return parseRecords(schema, entries, (faults) => {
    const fault = line.mask(faults[0] ?? '');
    if (!line.isNew(`${endpoint} ${fault}`)) return;
    const facts = { tracker_kind: line.settings.kind, endpoint: line.mask(endpoint), skipped: faults.length, fault };
    line.logger.warn('tracker sent entries that cannot be read, they are left out', facts);
  });
}
