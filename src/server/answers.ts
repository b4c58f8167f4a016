import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { FastPath } from './fast-path.ts';
import { errorBody, fail, lengthOf, type JsonAnswer } from './http/envelope.ts';
import type { ClientConnection } from './events-stream.ts';
import { LOOPBACK } from './http/loopback.ts';
import type { Site } from './routes.ts';
import { createSecureApp, type App } from './access/security.ts';
import type { Head } from './http/unparsed-requests.ts';

/** What the app says to whatever comes in at the socket. */
export interface Answers {
  request(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** To a method that Node does not know. */
  refusal(head: Head): Promise<Response>;
  /** To bytes that make no request. */
  unreadable(status: 400 | 408 | 431): Promise<Response>;
}

export async function createAnswers({ app, fastPath, knowsHost }: Site, stopping: AbortSignal): Promise<Answers> {
  const answer = requestListener(app, stopping);
  const refuse = hostRefuser(app);
  const headers = await headersOf(app);
  return {
    request(incoming, outgoing) {
      const answered = atOnce(fastPath, incoming);
      if (answered !== null) return sendFast(answered, headers, outgoing);
      void (knowsHost((incoming.headers.host ?? '').toLowerCase()) ? answer : refuse)(incoming, outgoing);
    },
    refusal: ({ target, host }) => refusal(app, target, host),
    unreadable,
  };
}

/** The headers of every answer, as the app gives them. */
async function headersOf(app: App): Promise<readonly string[]> {
  const { headers } = await app.request('/livez');
  return [...headers].filter(([name]) => name !== 'content-type' && name !== 'content-length').flat();
}

/** What fails here fails in the app as well, which tells of it. */
function atOnce(fastPath: FastPath, incoming: IncomingMessage): JsonAnswer | null {
  try {
    return fastPath(incoming);
  } catch {
    return null;
  }
}

function sendFast({ status, body }: JsonAnswer, headers: readonly string[], outgoing: ServerResponse): void {
  outgoing.writeHead(status, [...headers, 'content-type', 'application/json', 'content-length', String(lengthOf(body))]);
  if (typeof body === 'string') outgoing.end(body);
  else writeAll(body, outgoing);
}

/** Together, though they are not copied into one. */
function writeAll(pieces: readonly Uint8Array[], outgoing: ServerResponse): void {
  outgoing.cork();
  for (const piece of pieces) outgoing.write(piece);
  outgoing.end();
}

function requestListener(app: App, stopping: AbortSignal) {
  const malformed = createSecureApp();
  malformed.notFound((c) => fail(c, 'bad_request', 'The request target is malformed.'));
  return getRequestListener(
    async (request, env) => {
      const connection: ClientConnection = { stopping, ...connectionOf(env) };
      const response = await app.fetch(request, connection);
      return connection.pieces === undefined ? response : sendPieces(response, connection.pieces, connection.outgoing);
    },
    {
      overrideGlobalObjects: false,
      // Only a target that makes no URL gets here: the app answers its own errors.
      errorHandler: () => malformed.request('/'),
    },
  );
}

/** A host that makes no URL, or is not there, cannot be handed to the app: such requests get what it says to a strange host. */
function hostRefuser(app: App) {
  const refused = async (): Promise<Response> => app.request('/', { headers: NO_HOST });
  return getRequestListener(refused, { overrideGlobalObjects: false, errorHandler: refused });
}

const NO_HOST = { host: '' };

function sendPieces(
  { status, headers }: Response,
  pieces: readonly Uint8Array[],
  outgoing: ServerResponse | undefined,
): Response {
  outgoing?.writeHead(status, Object.fromEntries(headers));
  if (outgoing !== undefined) writeAll(pieces, outgoing);
  return RESPONSE_ALREADY_SENT;
}

function connectionOf(env: object): Pick<ClientConnection, 'outgoing' | 'address'> {
  const { incoming, outgoing } = env as { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  const address = incoming?.socket.remoteAddress;
  return { ...(outgoing && { outgoing }), ...(address !== undefined && { address }) };
}

/** Asks the app about a method nobody has, so that host, path and method are judged in one place. */
async function refusal(app: App, target: string, host: string | undefined): Promise<Response> {
  const url = new URL(target.startsWith('/') ? `http://${LOOPBACK}${target}` : `http://${LOOPBACK}/`);
  return app.fetch(new Request(url, { method: 'UNKNOWN', headers: host === undefined ? NO_HOST : { host } }));
}

async function unreadable(status: 400 | 408 | 431): Promise<Response> {
  const app = createSecureApp();
  app.notFound((c) => c.json(errorBody('bad_request', `The request could not be read: ${STATUS_CODES[status]}.`), status));
  return app.request('/');
}
