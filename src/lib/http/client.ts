import { setMaxListeners } from 'node:events';
import { once } from '../once.ts';
import type { BodyBound } from './body.ts';
import type { ConditionalCache } from './conditional.ts';
import { revived } from './conditional.ts';
import { HttpRefusedError, HttpTransportError } from './errors.ts';
import { joinPath } from './path.ts';
import { isWrite, mayBeSent, whenConfirmed, type MayWrite } from './may-write.ts';
import type { HttpResponse } from './response.ts';
import { type Outgoing, send } from './send.ts';

/** Every failure is an HttpTransportError or an HttpRefusedError; an abort by the caller is rethrown as its reason. */
export interface HttpClient {
  /** Resolves for every status; the body has been read by then, so nothing is left open. */
  request(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  readonly origin: string;
}

export interface HttpClientSettings {
  /** `https://host[:port][/prefix]`. User and password in it become Basic credentials, unless a header says otherwise. */
  readonly baseUrl: string;
  /** Sent with every request, except to another origin, where no request ever goes. */
  readonly headers?: Readonly<Record<string, string>>;
  /** For the whole exchange: connecting, waiting and reading the body. */
  readonly timeoutMs?: number;
  /** How much of the body of an answer outside of 2xx is read. */
  readonly errorBodyBytes?: number;
  /** A longer 2xx body is an error. */
  readonly maxBodyBytes?: number;
  /** Switches conditional GETs on. */
  readonly cache?: ConditionalCache;
  /** Asked right before a request that changes something is sent; what it throws is thrown. */
  readonly mayWrite?: MayWrite;
}

export type QueryValue = string | number | boolean | readonly (string | number)[] | undefined;

export interface HttpRequest {
  /** GET unless said otherwise. */
  readonly method?: string;
  /** Added to the base address, already percent-encoded (see `path`). */
  readonly path?: string;
  /** A complete address instead of a path, such as a next link. It must be of the base's origin. */
  readonly url?: string;
  /** Undefined values are left out, lists repeat their key. */
  readonly query?: Readonly<Record<string, QueryValue>> | URLSearchParams;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A 2xx body is cut after this many bytes instead of being an error when too long. */
  readonly cutBodyBytes?: number;
  /** A POST that changes nothing, such as a query. */
  readonly onlyReads?: boolean;
  /** A redirect is the answer instead of being followed: for targets that must not get the credential. */
  readonly keepRedirect?: boolean;
}

const MAX_REDIRECTS = 5;

/** A client for one origin, whose connections are kept alive. */
export function createHttpClient(settings: HttpClientSettings): HttpClient {
  const base = new URL(settings.baseUrl);
  const given = { ...userHeader(base), ...settings.headers };
  const shared = once(() => sendable(given));
  // They are sent in a header, and shown nowhere.
  base.username = '';
  base.password = '';
  return {
    origin: base.origin,
    request: (request, signal) => exchange({ settings, base, shared, request }, signal),
  };
}

function userHeader(base: URL): Record<string, string> {
  if (!base.username && !base.password) return {};
  const pair = `${percentDecoded(base.username)}:${percentDecoded(base.password)}`;
  return { authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

interface Exchange {
  readonly settings: HttpClientSettings;
  readonly base: URL;
  readonly shared: () => Readonly<Record<string, string>>;
  readonly request: HttpRequest;
}

async function exchange(order: Exchange, signal: AbortSignal): Promise<HttpResponse> {
  const { settings, request } = order;
  const url = addressOf(order);
  const headers = headersOf(order);
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  await mayBeSent(order, url, signal);
  const message = { method: request.method ?? 'GET', headers, body };
  const timeoutMs = settings.timeoutMs ?? 30_000;
  signal.throwIfAborted();
  // Any number of requests may hang on one signal; each takes its listener away again.
  setMaxListeners(0, signal);
  // Nothing but its answer is waited for by what only reads.
  if (!isWrite(request)) return followed(order, url, { ...message, signal, until: performance.now() + timeoutMs });
  return withDeadline(timeoutMs, signal, (deadline) => followed(order, url, { ...message, signal: deadline, until: null }));
}

/** The answer at the end of all redirects. */
async function followed(order: Exchange, url: URL, message: Message): Promise<HttpResponse> {
  const { method, signal } = message;
  let target = url;
  for (let hops = 0; ; hops += 1) {
    const response = await whenConfirmed(order, target, signal, () => sendOnce(order, target, message));
    const next = order.request.keepRedirect ? undefined : redirectOf(response, method, order.base.origin);
    if (!next) return response;
    if (hops >= MAX_REDIRECTS) throw new HttpRefusedError(`more than ${MAX_REDIRECTS} redirects`, { status: response.status });
    target = next;
    await mayBeSent(order, target, signal);
  }
}

function addressOf({ base, request }: Exchange): URL {
  const url = request.url === undefined ? joinPath(base, request.path ?? '') : new URL(request.url, base);
  if (url.origin !== base.origin) {
    throw new HttpRefusedError(`${url.origin} is not ${base.origin}: the credential would go to another origin`);
  }
  const query = request.query instanceof URLSearchParams ? [...request.query] : Object.entries(request.query ?? {});
  for (const [key, value] of query) {
    if (value === undefined) continue;
    for (const one of Array.isArray(value) ? (value as readonly (string | number)[]) : [value])
      url.searchParams.append(key, String(one));
  }
  return url;
}

// The request's own headers win over the shared ones, whatever their case.
function headersOf({ shared, request: { body, headers } }: Exchange): Readonly<Record<string, string>> {
  if (body === undefined && headers === undefined) return shared();
  return { ...(body !== undefined && { 'content-type': 'application/json' }), ...shared(), ...sendable(headers ?? {}) };
}

/** By names in lower case. */
function sendable(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const plain = value.trim();
    // The value may be a token: the message of whoever cannot send it would quote it.
    if (/[^\t\x20-\x7e\x80-\xff]/.test(plain)) {
      const header = name.toLowerCase();
      throw new HttpRefusedError(`the value of the ${name} header holds a character that cannot be sent`, { header });
    }
    found[name.toLowerCase()] = plain;
  }
  return found;
}

// One controller per exchange, with its timer and listener taken away at the end: joined signals that outlive a request leak.
async function withDeadline<T>(timeoutMs: number, signal: AbortSignal, run: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const cancel = (): void => controller.abort(signal.reason);
  const timer = setTimeout(() => controller.abort(timeoutOf(timeoutMs)), timeoutMs);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await run(controller.signal);
  } catch (error) {
    // Whatever broke because of the abort, its reason is what happened.
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

function timeoutAt(until: number, timeoutMs: number): NonNullable<Outgoing['timeout']> {
  return { ms: Math.max(0, until - performance.now()), error: () => timeoutOf(timeoutMs) };
}

function timeoutOf(timeoutMs: number): HttpTransportError {
  return new HttpTransportError(`timed out after ${timeoutMs / 1000} s`, { code: 'ETIMEDOUT', timedOut: true });
}

interface Message {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  /** When the exchange must be over, by the steady clock; null where the signal says so. */
  readonly until: number | null;
}

async function sendOnce({ settings, request }: Exchange, url: URL, message: Message): Promise<HttpResponse> {
  // Headers of a single request may change the answer, so such a request is never answered from memory.
  const cache = message.method === 'GET' && !request.headers ? settings.cache : undefined;
  const cached = cache?.get(url.href);
  const headers = cached ? { ...message.headers, 'if-none-match': cached.etag } : message.headers;
  const { mayWrite } = settings;
  const {
    status,
    headers: answered,
    body,
    truncated,
  } = await send(url, {
    ...message,
    headers,
    timeout: message.until === null ? null : timeoutAt(message.until, settings.timeoutMs ?? 30_000),
    ...(mayWrite && isWrite(request) && { maySend: () => mayWrite.isConfirmed() }),
    boundOf: (found) => boundOf(settings, request, found),
  });
  const json = (): unknown => JSON.parse(body);
  const response = { status, headers: answered, url: url.href, path: url.pathname, body, truncated, json };
  if (cached && status === 304) return revived(cached, response);
  cache?.put(url.href, response);
  return response;
}

function boundOf(settings: HttpClientSettings, { cutBodyBytes }: HttpRequest, status: number): BodyBound {
  if (status < 200 || status > 299) return { bytes: settings.errorBodyBytes ?? 512, overflow: 'cut' };
  if (cutBodyBytes !== undefined) return { bytes: cutBodyBytes, overflow: 'cut' };
  return { bytes: settings.maxBodyBytes ?? 32 * 1024 * 1024, overflow: 'fail' };
}

// 301, 302 and 303 would turn a write into a GET; only 307 and 308 promise to keep it, so other redirected writes stay answers.
function redirectOf(response: HttpResponse, method: string, origin: string): URL | undefined {
  const reads = method === 'GET' || method === 'HEAD';
  const followed = reads ? [301, 302, 303, 307, 308] : [307, 308];
  const location = response.headers.get('location');
  if (!location || !followed.includes(response.status)) return undefined;
  const { status } = response;
  if (!URL.canParse(location, response.url)) throw new HttpRefusedError('redirected to an address that is none', { status });
  const target = new URL(location, response.url);
  if (target.origin !== origin) {
    throw new HttpRefusedError(
      `redirected to another origin (${target.origin}), not followed: the credential would go along; if that is the right address, make it the endpoint`,
      { status },
    );
  }
  target.username = '';
  target.password = '';
  return target;
}
