import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came over the wire. */
export interface RecordedRequest {
  readonly method: string;
  /** The path exactly as sent, percent-encoding included, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as JSON; throws when it is none. */
  json(): unknown;
  /** Resolves when the exchange is over: answered in full, or given up by the client. */
  readonly over: Promise<void>;
}

/** How to answer: made by `json`, `text`, `empty`, `hang` and the other functions below, or written by hand. */
export type Reply = (response: ServerResponse) => void;

/** Undefined means "not expected": the client gets 599 and `close` throws. */
export type Handler = (request: RecordedRequest) => Reply | undefined | Promise<Reply | undefined>;

export interface TestServer {
  /** `http://127.0.0.1:<port>`, no trailing slash. */
  readonly url: string;
  readonly requests: readonly RecordedRequest[];
  /** Resolves once this many requests have arrived: the way to act "while a request is in flight". */
  arrived(count: number): Promise<void>;
  /** Ends all connections. Throws when a request was not expected or a handler threw. */
  close(): Promise<void>;
}

/** A loopback server on a free port. Without a handler every request is unexpected. */
export async function startServer(handler: Handler = () => undefined): Promise<TestServer> {
  const requests: RecordedRequest[] = [];
  const faults: string[] = [];
  const waiting: { count: number; wake: () => void }[] = [];

  const answer = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await record(message, response);
    requests.push(request);
    for (const one of waiting) if (requests.length >= one.count) one.wake();
    const reply = await replyTo(request, handler, faults);
    if (!response.destroyed) reply(response);
  };
  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => {
      // A client that went away while sending is its own affair, not a fault of the test.
      if (!message.destroyed) faults.push(String(error));
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    arrived: (count) => new Promise((wake) => (requests.length >= count ? wake() : void waiting.push({ count, wake }))),
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      if (faults.length > 0) throw new Error(`test server:\n${faults.join('\n')}`);
    },
  };
}

async function record(message: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const over = new Promise<void>((resolve) => response.on('close', resolve));
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const target = message.url ?? '/';
  const mark = target.indexOf('?');
  return {
    method: message.method ?? '',
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? '' : target.slice(mark + 1)),
    headers: message.headers,
    body,
    json: () => JSON.parse(body) as unknown,
    over,
  };
}

async function replyTo(request: RecordedRequest, handler: Handler, faults: string[]): Promise<Reply> {
  try {
    const reply = await handler(request);
    if (reply) return reply;
    faults.push(`unexpected request: ${request.method} ${request.path}?${request.query.toString()}`);
    return text('unexpected request', 599);
  } catch (error) {
    faults.push(
      `handler threw on ${request.method} ${request.path}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
    return text('the handler threw', 599);
  }
}

export type RouteHandler = (
  request: RecordedRequest,
  params: Readonly<Record<string, string>>,
) => Reply | undefined | Promise<Reply | undefined>;

/**
 * A handler made of `'GET /repos/:owner/:repo/issues'` lines, first match wins. `:name` takes one path segment as sent and
 * hands it over decoded, so `group%2Fproject` is one segment. Nothing matching is an unexpected request.
 */
export function router(routes: Readonly<Record<string, RouteHandler>>): Handler {
  const table = Object.entries(routes).map(([line, handle]) => {
    const [method = '', pattern = ''] = line.split(' ');
    return { method, pattern: pattern.split('/'), handle };
  });
  return (request) => {
    const segments = request.path.split('/');
    for (const { method, pattern, handle } of table) {
      const params = method === request.method ? match(pattern, segments) : undefined;
      if (params) return handle(request, params);
    }
    return undefined;
  };
}

function match(pattern: readonly string[], segments: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = decodeURIComponent(segment);
    else if (part !== segment) return undefined;
  }
  return params;
}

export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

export function json(value: unknown, status = 200, headers: ReplyHeaders = {}): Reply {
  return text(JSON.stringify(value), status, { 'content-type': 'application/json', ...headers });
}

export function text(body: string | Buffer, status = 200, headers: ReplyHeaders = {}): Reply {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    response.setHeader('content-length', Buffer.byteLength(body));
    response.end(body);
  };
}

export function empty(status = 204, headers: ReplyHeaders = {}): Reply {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.statusCode = status;
    response.end();
  };
}

/** Never answers; `close` ends it. */
export function hang(): Reply {
  return () => undefined;
}

/** Answers the head and the beginning of a body, then nothing more. */
export function hangMidBody(start = '[{"id":'): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100000' });
    response.write(start);
  };
}

/** Ends the connection before any answer. */
export function reset(): Reply {
  return (response) => {
    response.socket?.resetAndDestroy();
  };
}

/** Promises more than it sends and then ends the connection. */
export function resetMidBody(start = '[{"id":', status = 200): Reply {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'content-length': '100000' });
    response.write(start, () => response.socket?.destroy());
  };
}

/** A complete answer whose JSON stops in the middle. */
export function truncatedJson(): Reply {
  return text('[{"id": 1, "title": "half', 200, { 'content-type': 'application/json' });
}

/** A body of this many bytes, streamed without a length, until the client has had enough. */
export function hugeBody(bytes: number, status = 200): Reply {
  return (response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const pump = (left: number): void => {
      if (response.destroyed) return;
      if (left <= 0) response.end();
      else response.write(chunk.subarray(0, left), (error) => void (error ? response.destroy() : pump(left - chunk.length)));
    };
    response.writeHead(status, { 'content-type': 'text/plain' });
    pump(bytes);
  };
}
