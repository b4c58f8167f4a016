import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { trackConnections } from './connections.ts';
import { fail } from './envelope.ts';
import type { ClientConnection } from './events-stream.ts';
import { createSecureApp, type App } from './security.ts';
import { answerUnparsedRequests } from './unparsed-requests.ts';

/** Where nobody but this machine can reach us. */
const LOOPBACK = '127.0.0.1';
/** How long requests under way may take to finish once the server stops. */
const STOP_GRACE_MS = 1_000;
const SWEEP_MS = 20;

/** A client that sends slowly, or nothing, does not keep its connection. */
const LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
} as const;
/** Nothing went either way for this long: the client does not read what it asked for, or went without a word. */
const SILENCE_MS = 45_000;

export interface ListenOptions {
  readonly host?: string;
  readonly signal?: AbortSignal | undefined;
}

export interface Listening {
  /** The one given, or the one the system chose for 0. */
  readonly port: number;
  /** Ends event streams and idle connections at once, lets requests under way finish shortly. */
  stop(): Promise<void>;
  /** Cuts everything off. */
  kill(): Promise<void>;
}

/** Serves the app, on loopback unless another host is given. An aborted signal stops it. */
export async function listen(app: App, port: number, { host = LOOPBACK, signal }: ListenOptions = {}): Promise<Listening> {
  signal?.throwIfAborted();
  const stopping = new AbortController();
  const server = createServer(LIMITS, requestListener(app, stopping.signal));
  server.timeout = SILENCE_MS;
  const connections = trackConnections(server);
  answerUnparsedRequests(server, connections, app);
  await bind(server, host, port);

  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  const end = async (graceMs: number): Promise<void> => {
    stopping.abort();
    if (server.listening) server.close();
    connections.endIdle();
    // A connection becomes idle when its last answer is out, and would then be kept for a next request.
    const sweep = setInterval(() => connections.endIdle(), SWEEP_MS);
    const late = setTimeout(() => server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(late);
  };
  const stop = () => end(STOP_GRACE_MS);
  signal?.addEventListener('abort', () => void stop(), { once: true });
  return { port: (server.address() as AddressInfo).port, stop, kill: () => end(0) };
}

function requestListener(app: App, stopping: AbortSignal) {
  const malformed = createSecureApp();
  malformed.notFound((c) => fail(c, 'bad_request', 'The request target or the Host header is malformed.'));
  return getRequestListener(
    async (request, env) => {
      const connection: ClientConnection = { stopping, ...connectionOf(env) };
      const response = await app.fetch(request, connection);
      return connection.bytes === undefined ? response : sendBytes(response, connection.bytes, connection.outgoing);
    },
    {
      // A request of HTTP/1.0 may come without a host.
      hostname: LOOPBACK,
      overrideGlobalObjects: false,
      // Only a target or host that makes no URL gets here: the app answers its own errors.
      errorHandler: () => malformed.request('/'),
    },
  );
}

function sendBytes({ status, headers }: Response, bytes: Uint8Array, outgoing: ServerResponse | undefined): Response {
  outgoing?.writeHead(status, Object.fromEntries(headers));
  outgoing?.end(bytes);
  return RESPONSE_ALREADY_SENT;
}

function connectionOf(env: object): Pick<ClientConnection, 'outgoing' | 'address'> {
  const { incoming, outgoing } = env as { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  const address = incoming?.socket.remoteAddress;
  return { ...(outgoing && { outgoing }), ...(address !== undefined && { address }) };
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(new Error(bindProblem(error, host, port), { cause: error }));
    server.once('error', refuse);
    server.listen({ port, host }, () => {
      server.off('error', refuse);
      // From here on an error is one connection that could not be accepted, such as for want of file descriptors:
      // it concerns that client only, and without a listener it would end the service.
      server.on('error', () => undefined);
      resolve();
    });
  });
}

function bindProblem(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === 'EADDRINUSE') {
    return `port ${port} is in use: stop what listens on ${host}:${port}, or choose another port with --port or server.port`;
  }
  if (error.code === 'EACCES') {
    return `port ${port} needs privileges: choose a port above 1023 with --port or server.port`;
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return `${host} is not an address of this machine: change server.host`;
  }
  return `cannot listen on ${host}:${port}: ${error.message}`;
}
