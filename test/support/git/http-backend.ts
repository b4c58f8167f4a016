import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

export interface GitServer {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly origin: string;
  /** Every request, as `METHOD path`. */
  readonly requests: readonly string[];
  /** What the next pushes are answered with, so many as are told, or null for what git itself says. */
  refusePushes(status: number | null, times?: number): void;
  close(): Promise<void>;
}

export interface GitServerOptions {
  /** Folder of the bare repositories. */
  readonly root: string;
  /** Asked for as the Basic password; null lets everybody in. */
  readonly token: string | null;
}

/** A real git server over HTTP: `git http-backend` behind Node, with Basic credentials as a forge asks for them. */
export async function startGitServer({ root, token }: GitServerOptions): Promise<GitServer> {
  const requests: string[] = [];
  let refused: { readonly status: number; left: number } | null = null;
  const backend = path.join(execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim(), 'git-http-backend');
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (!isLetIn(request, token)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('login required');
    } else if (refused !== null && refused.left > 0 && (request.url ?? '').includes('git-receive-pack')) {
      refused.left -= 1;
      response.writeHead(refused.status).end('refused');
    } else serve(backend, root, request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    refusePushes(status, times = Infinity) {
      refused = status === null ? null : { status, left: times };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function isLetIn({ headers }: IncomingMessage, token: string | null): boolean {
  if (token === null) return true;
  const given = Buffer.from((headers.authorization ?? '').replace(/^Basic /, ''), 'base64').toString('utf8');
  return given.endsWith(`:${token}`);
}

function serve(backend: string, root: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '/', 'http://server');
  const child = spawn(backend, [], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: root,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REMOTE_USER: 'somebody',
      REQUEST_METHOD: request.method ?? 'GET',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  request.pipe(child.stdin);
  child.stdin.on('error', () => {});
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => answer(Buffer.concat(chunks), response));
}

/** The backend speaks CGI: headers, an empty line, the body. */
function answer(output: Buffer, response: ServerResponse): void {
  const end = output.indexOf('\r\n\r\n');
  const headers = output.subarray(0, end).toString('latin1').split('\r\n');
  let status = 200;
  for (const header of headers) {
    const [name = '', value = ''] = header.split(/:\s*/, 2);
    if (name.toLowerCase() === 'status') status = Number.parseInt(value, 10);
    else if (name !== '') response.setHeader(name, value);
  }
  response.writeHead(status).end(output.subarray(end + 4));
}
