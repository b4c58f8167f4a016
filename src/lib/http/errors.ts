import type { ProxyUse } from './proxy.ts';

/** The network failed us: DNS, TCP, TLS, a timeout, or a body that broke off. May heal by itself. */
export class HttpTransportError extends Error {
  /** Such as `ECONNREFUSED`, where the system names one. */
  readonly code: string | undefined;
  readonly timedOut: boolean;
  /** The proxy that could not be reached: nothing is known of what is behind it. */
  readonly proxy: ProxyUse | undefined;

  constructor(detail: string, facts: { code?: string; timedOut?: boolean; proxy?: ProxyUse; cause?: unknown } = {}) {
    super(detail, { cause: facts.cause });
    this.name = 'HttpTransportError';
    this.code = facts.code;
    this.timedOut = facts.timedOut ?? false;
    this.proxy = facts.proxy;
  }
}

/** We would not go on: the answer leads to another origin or in circles, or the request cannot be sent as asked. */
export class HttpRefusedError extends Error {
  /** The status of the redirect that was not followed. */
  readonly status: number | undefined;

  /** The header that cannot be sent, in lower case. */
  readonly header: string | undefined;

  constructor(detail: string, facts: { status?: number; header?: string } = {}) {
    super(detail);
    this.name = 'HttpRefusedError';
    this.status = facts.status;
    this.header = facts.header;
  }
}

/** What a rejected `fetch` or body read says, down to the system's own words: `connect ECONNREFUSED 127.0.0.1:1`. */
export function transportErrorOf(error: unknown, during: 'request' | 'body', proxy: ProxyUse | null = null): HttpTransportError {
  const { message, code } = deepestCause(error);
  const said = code && !message.includes(code) ? `${message} (${code})`.trimStart() : message;
  const facts = { code, cause: error, ...(proxy !== null && NOT_CONNECTED.has(code ?? '') && { proxy }) };
  return new HttpTransportError(during === 'body' ? `reading the answer failed: ${said}` : said, facts);
}

/** With a proxy, the only connection that we make ourselves is the one to it. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

// `fetch` wraps the reason ("fetch failed"), and an address with several records wraps it once more in an AggregateError
// whose own message is empty.
function deepestCause(error: unknown): { message: string; code: string | undefined } {
  if (!(error instanceof Error)) return { message: String(error), code: undefined };
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error.cause;
  if (inner instanceof Error) return deepestCause(inner);
  const code = (error as NodeJS.ErrnoException).code;
  return { message: error.message, code: typeof code === 'string' ? code : undefined };
}
