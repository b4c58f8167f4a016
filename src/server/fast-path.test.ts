import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { aRetry, aRunning, aSnapshot, createFakeDaemon } from '../../test/support/fake-daemon.ts';
import { listen, type Listening } from './http/listen.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createSite, type Site } from './routes.ts';

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.stop()));
});

function siteOf(options = {}): Site {
  const daemon = createFakeDaemon({
    current: aSnapshot({ running: [aRunning('ENG-1'), aRunning('eng.2')], retrying: [aRetry('ENG-3'), aRetry('ENG-1')] }),
  });
  return createSite(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
    options,
  );
}

/** Sends it to a server, with what is answered without the app and with the app alone. */
async function bothAnswers(site: Site, request: string): Promise<readonly string[]> {
  const servers = await Promise.all([site, { ...site, fastPath: () => null }].map((one) => listen(async () => one, 0)));
  open.push(...servers);
  return Promise.all(servers.map(async ({ port }) => inOrder(await exchange(port, request))));
}

function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request));
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}

/** Headers may come in any order; the time of day differs. */
function inOrder(answer: string): string {
  const [head = '', body = ''] = answer.split('\r\n\r\n');
  const [status = '', ...headers] = head.split('\r\n');
  const told = headers
    .map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
    .filter((line) => !line.startsWith('date:'));
  return [status, ...told.toSorted(), body].join('\n');
}

const REQUESTS: Readonly<Record<string, readonly [status: number, request: string]>> = {
  'the state': [200, 'GET /api/v1/state HTTP/1.1\r\nHost: 127.0.0.1'],
  'an issue': [200, 'GET /api/v1/ENG-1 HTTP/1.1\r\nHost: localhost:8080'],
  'one that waits': [200, 'GET /api/v1/ENG-3 HTTP/1.1\r\nHost: LOCALHOST'],
  'a name with a dot': [200, 'GET /api/v1/eng.2 HTTP/1.1\r\nHost: [::1]:80'],
  'another spelling': [404, 'GET /api/v1/eng-3 HTTP/1.1\r\nHost: localhost'],
  'one that is not there': [404, 'GET /api/v1/ENG-9 HTTP/1.1\r\nHost: localhost'],
  'a probe': [200, 'GET /livez HTTP/1.1\r\nHost: localhost'],
  'what is asked for by POST': [405, 'GET /api/v1/refresh HTTP/1.1\r\nHost: localhost'],
  'another method': [405, 'DELETE /api/v1/state HTTP/1.1\r\nHost: localhost'],
  'a strange host': [403, 'GET /livez HTTP/1.1\r\nHost: evil.example'],
  'two hosts': [403, 'GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: evil.example'],
  'a whole address': [403, 'GET http://evil.example/livez HTTP/1.1\r\nHost: localhost'],
  'a path to be normalised': [404, 'GET /api/v1/.. HTTP/1.1\r\nHost: localhost'],
  'a path to be decoded': [200, 'GET /api/v1/ENG%2D1 HTTP/1.1\r\nHost: localhost'],
  'a query': [200, 'GET /livez?full HTTP/1.1\r\nHost: localhost'],
  'a malformed host': [403, 'GET /livez HTTP/1.1\r\nHost: a@localhost'],
  'no host at all': [403, 'GET /livez HTTP/1.0'],
};

describe('what is answered without the app', () => {
  it.each(Object.entries(REQUESTS))('is what the app says: %s', async (_, [status, request]) => {
    const [fast, long] = await bothAnswers(siteOf(), `${request}\r\nConnection: close\r\n\r\n`);
    expect(fast).toBe(long);
    expect(fast?.split(' ')[1]).toBe(String(status));
  });

  it('is nothing where a token is asked for', async () => {
    const request = 'GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    const [fast, long] = await bothAnswers(siteOf({ token: 'secret' }), request);
    expect(fast).toBe(long);
    expect(fast).toMatch(/^HTTP\/1\.1 401/);
  });
});
