import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { HttpResponse, Mask } from '../../lib/http/index.ts';
import { HttpRefusedError, HttpTransportError, boundedWait, parseRetryAfter } from '../../lib/http/index.ts';

/** One kind's row of the error table: what a status means. `5xx` and `other` stand for all that are not listed. */
export type StatusTable = Readonly<Record<number | '5xx' | 'other', TrackerErrorKind>>;

/** What a rule beyond the status says of an answer. `detail` replaces the default one, `retryable` the kind's own. */
export interface Classification {
  readonly kind: TrackerErrorKind;
  readonly retryable?: boolean;
  readonly detail?: string;
  /** When the remote may be asked again, in epoch milliseconds, where it tells that other than by `Retry-After`. */
  readonly retryAt?: number;
  /** A limit of requests that its status does not tell. */
  readonly isLimit?: boolean;
}

export interface FailureRules {
  readonly statuses: StatusTable;
  /** Rules a status alone cannot decide. Asked first and about every answer, 2xx included; undefined leaves it to the table. */
  readonly classify?: (response: HttpResponse) => Classification | undefined;
  /** The telling part of an error body. An empty text, or no such rule, shows the body itself. */
  readonly detail?: (body: string, contentType: string) => string;
}

export interface Failure extends Omit<Classification, 'retryAt'> {
  readonly detail: string;
  readonly status: number;
  readonly retryAfterMs?: number;
}

/** The longest detail taken from an answer. */
const DETAIL_BYTES = 512;

/** Undefined when the answer is none. */
export function failureOf(
  response: HttpResponse,
  rules: FailureRules,
  { now, mask }: { now: number; mask: Mask },
): Failure | undefined {
  const { status } = response;
  const ruled = rules.classify?.(response);
  if (!ruled && status >= 200 && status < 300) return undefined;
  const asked = response.headers.get('retry-after');
  const askedMs = parseRetryAfter(asked, now);
  const retryAfterMs = askedMs ?? (ruled?.retryAt === undefined || ruled.retryAt <= now ? null : ruled.retryAt - now);
  return {
    kind: ruled?.kind ?? kindOf(rules.statuses, status),
    ...(ruled?.retryable === undefined ? {} : { retryable: ruled.retryable }),
    ...(ruled?.isLimit && { isLimit: true }),
    status,
    detail: (ruled?.detail === undefined ? detailOf(response, rules, mask) : mask(ruled.detail)) + retryText(asked, askedMs),
    ...(retryAfterMs === null ? {} : { retryAfterMs: boundedWait(retryAfterMs) }),
  };
}

function kindOf(statuses: StatusTable, status: number): TrackerErrorKind {
  return statuses[status] ?? (status >= 500 && status <= 599 ? statuses['5xx'] : statuses.other);
}

// Masked before it is cut to length: half a token is not recognized any more.
function detailOf(response: HttpResponse, rules: FailureRules, mask: Mask): string {
  const said = bounded(mask(oneLine(tellingPart(response, rules)) || oneLine(response.body), response.truncated ? 'end' : null));
  return said ? `status ${response.status}: ${said}` : `status ${response.status}`;
}

function tellingPart({ body, headers }: HttpResponse, { detail }: FailureRules): string {
  try {
    return detail?.(body, headers.get('content-type') ?? '') ?? '';
  } catch {
    // A body that was cut short, or is not what its content type says, is shown as it is.
    return '';
  }
}

// Bodies are often whole HTML pages: white space and control characters become single blanks.
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ').trim();
}

function bounded(text: string): string {
  return new TextDecoder().decode(Buffer.from(text, 'utf8').subarray(0, DETAIL_BYTES), { stream: true });
}

function retryText(asked: string | null, retryAfterMs: number | null): string {
  if (!asked?.trim()) return '';
  if (retryAfterMs === null) return `; retry after ${asked.trim().slice(0, 64)}`;
  const seconds = `${Math.ceil(retryAfterMs / 1000)} s`;
  return /^\d/.test(asked.trim()) ? `; retry after ${seconds}` : `; retry after ${asked.trim()} (${seconds})`;
}

/** The network's failures as a TrackerError. Anything else (an abort, a TrackerError) passes through as it is. */
export function networkErrorOf(
  error: unknown,
  statuses: StatusTable,
  place: { method: string; path: string; mask: Mask },
): unknown {
  const facts = { method: place.method, path: place.path, cause: error };
  if (error instanceof HttpTransportError) {
    const detail = place.mask(error.message) + meaningOf(error);
    return new TrackerError({ ...facts, kind: 'tracker_transport_error', detail });
  }
  if (error instanceof HttpRefusedError) {
    // A redirect that was not followed is an answer of its status; everything else refused is an unusable address.
    if (TOKEN_HEADERS.has(error.header ?? ''))
      return new TrackerError({ ...facts, kind: 'tracker_auth_error', detail: UNSENDABLE });
    const kind = error.status === undefined ? 'tracker_payload_error' : kindOf(statuses, error.status);
    return new TrackerError({ ...facts, kind, status: error.status, detail: place.mask(error.message) });
  }
  return error;
}

/** What carries the token, by kind. */
const TOKEN_HEADERS: ReadonlySet<string> = new Set(['authorization', 'private-token']);
const UNSENDABLE =
  'the token holds a character that cannot be sent: correct tracker.api_key, or the file or variable that it comes from';

/** The words of the system mean little to most people. */
function meaningOf({ code = '', message, proxy }: HttpTransportError): string {
  if (proxy !== undefined)
    return `: the proxy ${proxy.address} cannot be reached: correct or unset ${proxy.variable}, or except the host in NO_PROXY`;
  const certificate = !Object.hasOwn(MEANINGS, code) && /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET)/.test(code);
  if (certificate) return ': the certificate is not trusted; NODE_EXTRA_CA_CERTS names that of an authority of your own';
  if (message.startsWith('Proxy response'))
    return ': the proxy that HTTP_PROXY or HTTPS_PROXY names lets nothing through to this host';
  const meaning =
    MEANINGS[code] ?? (message === 'bad port' ? 'no web server is ever at this port; check the address' : undefined);
  return meaning === undefined || message.includes(meaning) ? '' : `: ${meaning}`;
}

const MEANINGS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  EAI_AGAIN: 'the name could not be looked up now',
  ENOTFOUND: 'there is no host of this name',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no network',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host name; check the address',
  CERT_HAS_EXPIRED: 'the certificate has expired; who runs the server has to renew it',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet; is the clock of this machine right?',
  EPROTO: 'it does not speak TLS: is the address http?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS: is the address http?',
};

/** The fallback when the remote says the thing is not there; every other failure stays one. */
export async function whenMissing<T, F>(promise: Promise<T>, fallback: F): Promise<T | F> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof TrackerError && error.kind === 'tracker_not_found') return fallback;
    throw error;
  }
}

/** A poll of a kind whose polls keep their interval, whatever wait the remote asks for. The error tells of it. */
export async function atInterval<T>(poll: Promise<T>): Promise<T> {
  try {
    return await poll;
  } catch (error) {
    throw error instanceof TrackerError ? error.withoutWait() : error;
  }
}
