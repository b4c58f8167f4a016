import { METHODS, STATUS_CODES, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections.ts';
import { errorBody } from './envelope.ts';
import { SECURITY_HEADERS } from './guard.ts';
import type { App } from './routes.ts';

/** What Node's parser reports besides its message. */
interface ParseError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Parse failures with a status of their own; every other one is a 400. */
const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Node's parser knows a fixed list of methods and gives up on any other, and it takes CONNECT for a tunnel. Such
 * requests never reach the app, but they deserve the same 405 as every other wrong method.
 */
export function answerOddRequests(server: Server, connections: Connections, app: App): void {
  server.on('connect', (incoming, socket) => {
    void refuse(app, socket, { target: incoming.url ?? '/', host: incoming.headers.host });
  });
  server.on('clientError', (error: ParseError, socket) => {
    // Into an answer that is under way nothing can be written.
    if (!socket.writable || error.code === 'ECONNRESET' || connections.isAnswering(socket)) return void socket.destroy();
    const head = readHead(error.rawPacket);
    if (head === null || isKnown(head.method)) return write(socket, parseFailure(error));
    void refuse(app, socket, head);
  });
}

interface Head {
  readonly target: string;
  readonly host: string | undefined;
}

/** Asks the app about a method nobody has, so that host, path and method are judged in one place. */
async function refuse(app: App, socket: Duplex, { target, host }: Head): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const url = new URL(target.startsWith('/') ? `http://127.0.0.1${target}` : 'http://127.0.0.1/');
    const response = await app.fetch(new Request(url, { method: 'UNKNOWN', headers: host === undefined ? {} : { host } }));
    write(socket, { status: response.status, headers: Object.fromEntries(response.headers), body: await response.text() });
  } catch {
    socket.destroy();
  }
}

function isKnown(method: string): boolean {
  return method !== 'CONNECT' && METHODS.includes(method);
}

/** Method, target and host of a request that was not parsed; null when it does not even look like one. */
function readHead(packet: Buffer | undefined): (Head & { readonly method: string }) | null {
  const [requestLine = '', ...lines] = (packet?.toString('latin1') ?? '').split('\r\n');
  const [, method, target] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+) (\S+) HTTP\/1\.[01]$/.exec(requestLine) ?? [];
  if (method === undefined || target === undefined) return null;
  const host = lines.map((line) => /^host:[ \t]*(\S+)[ \t]*$/i.exec(line)?.[1]).find((found) => found !== undefined);
  return { method, target, host };
}

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

function parseFailure(error: ParseError): RawAnswer {
  const status = STATUS_OF[error.code ?? ''] ?? 400;
  return {
    status,
    headers: { ...SECURITY_HEADERS, 'Content-Type': 'application/json' },
    body: JSON.stringify(errorBody('bad_request', `The request could not be read: ${STATUS_CODES[status]}.`)),
  };
}

function write(socket: Duplex, { status, headers, body }: RawAnswer): void {
  const all = { ...headers, 'Content-Length': String(Buffer.byteLength(body)), Connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}
