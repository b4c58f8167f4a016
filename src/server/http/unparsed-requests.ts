import { METHODS, STATUS_CODES, type Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Connections } from './connections.ts';
import type { Answers } from '../answers.ts';

/** What Node's parser reports besides its message. */
interface ParseError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Parse failures with a status of their own; every other one is a 400. */
const STATUS_OF: Readonly<Record<string, 408 | 431>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** How long a client may take to read why it was refused. */
const HANG_UP_MS = 1_000;

/**
 * Node's parser knows a fixed list of methods and gives up on any other, and it takes CONNECT for a tunnel. Such
 * requests never reach the app, but they deserve the same 405 as every other wrong method.
 */
export function answerUnparsedRequests(server: Server, connections: Connections, load: () => Promise<Answers>): void {
  const refuse = async (head: Head): Promise<Response> => (await load()).refusal(head);
  const tell = async (status: 400 | 408 | 431): Promise<Response> => (await load()).unreadable(status);
  server.on('connect', (incoming, socket) => {
    void answer(socket, refuse({ target: incoming.url ?? '/', host: incoming.headers.host }));
  });
  server.on('clientError', (error: ParseError, socket) => {
    // Into an answer that is under way nothing can be written, and who has sent nothing waits for no answer.
    const isSilent = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0;
    if (isSilent || !socket.writable || error.code === 'ECONNRESET' || connections.isAnswering(socket)) {
      return void socket.destroy();
    }
    const head = readHead(error.rawPacket);
    if (head === null || isKnown(head.method)) return void answer(socket, tell(STATUS_OF[error.code ?? ''] ?? 400));
    void answer(socket, refuse(head));
  });
}

/** What can be told of a request that is none. */
export interface Head {
  readonly target: string;
  readonly host: string | undefined;
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

/** Writes an answer by hand and hangs up, also on a client that never closes its side. */
async function answer(socket: Duplex, response: Promise<Response>): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const { status, headers } = await response;
    const body = await (await response).text();
    const all = { ...Object.fromEntries(headers), 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), HANG_UP_MS).unref();
  } catch {
    socket.destroy();
  }
}
