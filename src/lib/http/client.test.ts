import { once } from 'node:events';
import net from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Handler, TestServer } from '../../../test/support/http-server.ts';
import {
  empty,
  hang,
  hangMidBody,
  hugeBody,
  json,
  reset,
  resetMidBody,
  router,
  startServer,
  text,
} from '../../../test/support/http-server.ts';
import type { HttpClientSettings } from './client.ts';
import { createHttpClient } from './client.ts';
import { HttpRefusedError, HttpTransportError } from './errors.ts';
import { path } from './path.ts';

const running: TestServer[] = [];
const never = new AbortController().signal;

async function serve(handler: Handler): Promise<TestServer> {
  const server = await startServer(handler);
  running.push(server);
  return server;
}

async function clientFor(handler: Handler, settings: Partial<HttpClientSettings> = {}, prefix = '') {
  const server = await serve(handler);
  return { server, client: createHttpClient({ baseUrl: server.url + prefix, ...settings }) };
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

describe('a request', () => {
  it('goes below the base path with query, shared and own headers, and no content type without a body', async () => {
    const headers = { Authorization: 'token abcd', Accept: 'application/json', 'User-Agent': 'svc/1' };
    const { server, client } = await clientFor(() => json({ a: 1 }, 200, { 'x-more': 'yes' }), { headers }, '/api/v4/');
    const query = { state: 'opened', 'iids[]': [3, 4], none: undefined, flag: true };
    const response = await client.request(
      { path: path`/projects/${'a b/c'}/issues`, query, headers: { accept: 'text/plain' } },
      never,
    );

    expect(response).toMatchObject({ status: 200, body: '{"a":1}', truncated: false, path: '/api/v4/projects/a%20b%2Fc/issues' });
    expect(response.json()).toEqual({ a: 1 });
    expect(response.headers.get('x-more')).toBe('yes');
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'GET', path: '/api/v4/projects/a%20b%2Fc/issues', body: '' });
    expect(request?.query.toString()).toBe('state=opened&iids%5B%5D=3&iids%5B%5D=4&flag=true');
    expect(request?.headers).toMatchObject({ authorization: 'token abcd', accept: 'text/plain', 'user-agent': 'svc/1' });
    expect(request?.headers['content-type']).toBeUndefined();
  });

  it('sends a body as JSON and takes URLSearchParams as they are', async () => {
    const { server, client } = await clientFor(() => empty());
    const response = await client.request(
      { method: 'POST', path: '/x', body: { ä: 1 }, query: new URLSearchParams('q=a&q=b') },
      never,
    );
    expect([response.status, response.body]).toEqual([204, '']);
    expect(server.requests[0]?.headers['content-type']).toBe('application/json');
    expect(server.requests[0]?.json()).toEqual({ ä: 1 });
    expect(server.requests[0]?.query.getAll('q')).toEqual(['a', 'b']);
  });

  it('keeps connections for the next ones', async () => {
    const sockets = new Set<unknown>();
    const { client } = await clientFor(() => (response) => {
      sockets.add(response.socket);
      response.end('ok');
    });
    for (let count = 0; count < 20; count += 1) await client.request({ path: '/' }, never);
    // A connection comes free a moment after its body ended, so a second one may be opened meanwhile.
    expect(sockets.size).toBeLessThan(5);
  });

  it('turns user and password of the address into Basic credentials, a header of its own winning', async () => {
    const server = await serve(() => empty());
    const baseUrl = server.url.replace('//', '//me:p%40ss@');
    const response = await createHttpClient({ baseUrl }).request({ path: '/x' }, never);
    await createHttpClient({ baseUrl, headers: { authorization: 'Bearer t' } }).request({ path: '/x' }, never);
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Basic bWU6cEBzcw==', 'Bearer t']);
    expect(response.url).toBe(`${server.url}/x`);
  });

  it.each(['..', '.', '%2e%2E', '.%2e'])(
    'is refused when a path segment is %s, which would name another resource',
    async (segment) => {
      const { server, client } = await clientFor(() => empty());
      const error = await failureOf(client.request({ method: 'DELETE', path: `/issues/1/labels/${segment}` }, never));
      expect(error).toBeInstanceOf(HttpRefusedError);
      expect(server.requests).toHaveLength(0);
    },
  );

  it('is refused when a header cannot be sent, without quoting its value', async () => {
    const client = createHttpClient({ baseUrl: 'http://127.0.0.1:1', headers: { authorization: 'hush\nhush' } });
    const error = await failureOf(client.request({ path: '/' }, never));
    expect(error).toBeInstanceOf(HttpRefusedError);
    expect(String(error)).toContain('authorization header');
    expect(String(error)).not.toContain('hush');
  });

  it('is refused to another origin', async () => {
    const client = createHttpClient({ baseUrl: 'http://127.0.0.1:1' });
    await expect(client.request({ url: 'http://127.0.0.1:2/x' }, never)).rejects.toThrow(HttpRefusedError);
  });
});

describe('a body', () => {
  it('of an error is read to the bound, cut between characters, and the rest given up', async () => {
    const { client } = await clientFor(() => text(`${'x'.repeat(511)}é`, 500));
    const response = await client.request({ path: '/' }, never);
    expect([response.status, response.body, response.truncated]).toEqual([500, 'x'.repeat(511), true]);
  });

  it('of an error that never ends does not hold the request', async () => {
    const { server, client } = await clientFor(() => hugeBody(1e12, 502), { errorBodyBytes: 100 });
    expect((await client.request({ path: '/' }, never)).body).toHaveLength(100);
    await server.requests[0]?.over;
  });

  it('of exactly the bound is whole', async () => {
    const { client } = await clientFor(() => text('x'.repeat(512), 400));
    expect((await client.request({ path: '/' }, never)).truncated).toBe(false);
  });

  it('of a success that is too long is an error', async () => {
    const { client } = await clientFor(() => hugeBody(1e9), { maxBodyBytes: 100_000 });
    const error = await failureOf(client.request({ path: '/' }, never));
    expect(error).toBeInstanceOf(HttpTransportError);
    expect(String(error)).toContain('longer than 100000 bytes');
  });

  it('is cut instead where the request asks for its beginning', async () => {
    const { client } = await clientFor(() => hugeBody(1e9));
    expect(await client.request({ path: '/', cutBodyBytes: 1000 }, never)).toMatchObject({
      body: 'x'.repeat(1000),
      truncated: true,
    });
  });

  it('is decompressed, and the bound counts what comes out', async () => {
    const packed = gzipSync('y'.repeat(200_000));
    const { client } = await clientFor(() => text(packed, 200, { 'content-encoding': 'gzip' }), { maxBodyBytes: 150_000 });
    await expect(client.request({ path: '/' }, never)).rejects.toThrow('longer than 150000 bytes');
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['gzip', gzipSync],
    ['X-Gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
    ['gzip, br', (bytes) => brotliCompressSync(gzipSync(bytes))],
    ['gzip', (bytes) => gzipSync(bytes).subarray(0, -8)],
    ['rot13', (bytes) => bytes],
  ])('packed as %s is read', async (coding, pack) => {
    const said = `${'wörd '.repeat(50_000)}.`;
    const { server, client } = await clientFor(() => text(pack(Buffer.from(said)), 200, { 'content-encoding': coding }));
    expect((await client.request({ path: '/' }, never)).body).toBe(said);
    expect(server.requests[0]?.headers['accept-encoding']).toBe('gzip, deflate, br');
  });

  it('that is empty is not unpacked, whatever its headers say', async () => {
    const { client } = await clientFor(() => empty(200, { 'content-encoding': 'gzip' }));
    expect((await client.request({ path: '/' }, never)).body).toBe('');
  });

  it.each(['constructor', '__proto__'])('packed as %s is left as it is, like one that nobody knows', async (coding) => {
    const { client } = await clientFor(() => text('as it came', 200, { 'content-encoding': coding }));
    expect((await client.request({ path: '/' }, never)).body).toBe('as it came');
  });

  it('that is not packed as its headers say, or far too often, is a transport error', async () => {
    let claim = '';
    const { client } = await clientFor(() => text('plain', 200, { 'content-encoding': claim }));
    for (claim of ['gzip', 'gzip, gzip, gzip, gzip, gzip, gzip']) {
      const error = await failureOf(client.request({ path: '/' }, never));
      expect(error, claim).toBeInstanceOf(HttpTransportError);
      expect(String(error)).toContain('reading the answer failed');
    }
  });

  it.each([200, 500])('that breaks off (status %d) is a transport error', async (status) => {
    const { client } = await clientFor(() => resetMidBody('[{"id":', status));
    const error = await failureOf(client.request({ path: '/' }, never));
    expect(error).toBeInstanceOf(HttpTransportError);
    expect(String(error)).toContain('reading the answer failed');
  });
});

describe('the network', () => {
  it('refusing the connection is named with its code', async () => {
    const error = await failureOf(createHttpClient({ baseUrl: 'http://127.0.0.1:1' }).request({ path: '/' }, never));
    expect(error).toBeInstanceOf(HttpTransportError);
    expect(error).toMatchObject({ code: 'ECONNREFUSED', timedOut: false });
    expect(String(error)).toContain('ECONNREFUSED');
  });

  it('not knowing the host is named', async () => {
    const error = await failureOf(createHttpClient({ baseUrl: 'http://no-such-host.invalid' }).request({ path: '/' }, never));
    expect(error).toBeInstanceOf(HttpTransportError);
    expect(String(error)).toMatch(/ENOTFOUND|EAI_AGAIN/);
  });

  it('speaking plain where TLS is expected is a transport error', async () => {
    const server = await serve(() => empty());
    const client = createHttpClient({ baseUrl: server.url.replace('http:', 'https:') });
    expect(await failureOf(client.request({ path: '/' }, never))).toBeInstanceOf(HttpTransportError);
  });

  it('resetting the connection is a transport error', async () => {
    const { client } = await clientFor(() => reset());
    expect(await failureOf(client.request({ path: '/' }, never))).toBeInstanceOf(HttpTransportError);
  });

  it.each([
    ['no answer', hang()],
    ['half a body', hangMidBody()],
  ])('giving %s times out and ends the exchange', async (_, reply) => {
    const { server, client } = await clientFor(() => reply, { timeoutMs: 50 });
    const error = await failureOf(client.request({ path: '/' }, never));
    expect(error).toBeInstanceOf(HttpTransportError);
    expect(error).toMatchObject({ timedOut: true, message: 'timed out after 0.05 s' });
    await server.requests[0]?.over;
  });

  it.each([
    ['no answer', hang()],
    ['half a body', hangMidBody()],
  ])('giving %s, an abort ends the exchange at once with the reason of the caller', async (_, reply) => {
    const { server, client } = await clientFor(() => reply);
    const controller = new AbortController();
    const pending = failureOf(client.request({ path: '/' }, controller.signal));
    await server.arrived(1);
    const reason = new Error('shutting down');
    controller.abort(reason);
    expect(await pending).toBe(reason);
    await server.requests[0]?.over;
  });

  it('is not touched when the caller gave up before', async () => {
    const { server, client } = await clientFor(() => empty());
    await expect(client.request({ path: '/' }, AbortSignal.abort(new Error('early')))).rejects.toThrow('early');
    expect(server.requests).toHaveLength(0);
  });

  it('hears nothing of a caller who gave up while the connection was made', async () => {
    const { server, client } = await clientFor(() => empty());
    const giving = new AbortController();
    const standing: Promise<unknown>[] = [];
    const { connect } = net;
    vi.spyOn(net, 'connect').mockImplementationOnce((...args: Parameters<typeof connect>) => {
      const socket = connect(...args);
      standing.push(once(socket, 'connect'));
      giving.abort(new Error('shutting down'));
      return socket;
    });
    await expect(client.request({ method: 'POST', path: '/late' }, giving.signal)).rejects.toThrow('shutting down');
    await Promise.all(standing);
    await client.request({ path: '/next' }, never);
    expect([standing.length, server.requests.map((request) => request.path)]).toEqual([1, ['/next']]);
  });
});

describe('a redirect', () => {
  const to = (location: string, status: number) => () => empty(status, { location });

  it('is the answer where the request asks for that, wherever it leads', async () => {
    const { server, client } = await clientFor(to('https://elsewhere.example/log?sig=1', 302));
    const response = await client.request({ path: '/log', keepRedirect: true }, never);
    expect([response.status, response.headers.get('location')]).toEqual([302, 'https://elsewhere.example/log?sig=1']);
    expect(server.requests).toHaveLength(1);
  });

  it.each([301, 302, 303, 307, 308])('of status %d within the origin is followed by a read', async (status) => {
    const { server, client } = await clientFor(router({ 'GET /old': to('/new?x=1', status), 'GET /new': () => text('here') }), {
      headers: { authorization: 'token abcd' },
    });
    expect(await client.request({ path: '/old' }, never)).toMatchObject({ status: 200, body: 'here', path: '/new' });
    expect(server.requests[1]?.headers.authorization).toBe('token abcd');
    expect(server.requests[1]?.query.get('x')).toBe('1');
  });

  it.each([307, 308])('of status %d keeps the method and the body of a write', async (status) => {
    const { server, client } = await clientFor(router({ 'PATCH /old': to('/new', status), 'PATCH /new': () => empty() }));
    expect((await client.request({ method: 'PATCH', path: '/old', body: { a: 1 } }, never)).status).toBe(204);
    expect(server.requests[1]?.json()).toEqual({ a: 1 });
  });

  it.each([301, 302, 303])('of status %d is not followed by a write, which would become a read', async (status) => {
    const { server, client } = await clientFor(router({ 'POST /old': to('/new', status) }));
    expect((await client.request({ method: 'POST', path: '/old', body: {} }, never)).status).toBe(status);
    expect(server.requests).toHaveLength(1);
  });

  it('to another origin is refused, and the other origin hears nothing', async () => {
    const other = await serve(() => empty());
    const { client } = await clientFor(to(`${other.url}/steal`, 302), { headers: { authorization: 'token abcd' } });
    const error = await failureOf(client.request({ path: '/' }, never));
    expect(error).toBeInstanceOf(HttpRefusedError);
    expect(error).toMatchObject({ status: 302 });
    expect(String(error)).toContain(`another origin (${other.url})`);
    expect(other.requests).toHaveLength(0);
  });

  it('without end is given up after five', async () => {
    const { server, client } = await clientFor(to('/again', 302));
    await expect(client.request({ path: '/' }, never)).rejects.toThrow('more than 5 redirects');
    expect(server.requests).toHaveLength(6);
  });

  it('to nowhere is refused', async () => {
    const { client } = await clientFor(to('http://:80', 302));
    await expect(client.request({ path: '/' }, never)).rejects.toThrow('an address that is none');
  });

  it('without a location is an answer like any other', async () => {
    const { client } = await clientFor(() => empty(302));
    expect((await client.request({ path: '/' }, never)).status).toBe(302);
  });
});

describe('a client that must ask before it writes', () => {
  const asking = (confirm: () => Promise<void>, isConfirmed = () => true) =>
    clientFor(() => empty(204), { mayWrite: { confirm, isConfirmed } });

  it('asks before each request that changes something, and before no other', async () => {
    let asked = 0;
    const { client } = await asking(async () => void (asked += 1));
    await client.request({}, never);
    await client.request({ method: 'POST', body: { query: 'query { viewer }' }, onlyReads: true }, never);
    expect(asked).toBe(0);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) await client.request({ method }, never);
    expect(asked).toBe(4);
  });

  it('sends nothing when it may not, or is given up while it waits', async () => {
    const refused = await asking(() => Promise.reject(new Error('another one leads')));
    expect(await failureOf(refused.client.request({ method: 'POST' }, never))).toMatchObject({ message: 'another one leads' });
    const waiting = await asking(() => new Promise(() => {}));
    const over = new AbortController();
    const asked = failureOf(waiting.client.request({ method: 'POST' }, over.signal));
    over.abort(new Error('given up'));
    expect(await asked).toMatchObject({ message: 'given up' });
    expect([...refused.server.requests, ...waiting.server.requests]).toEqual([]);
  });

  it('asks again when the confirmation has grown old while the connection was made, before a byte is sent', async () => {
    let asked = 0;
    const answers = [false, false, true];
    const patient = await asking(
      async () => void (asked += 1),
      () => answers.shift() ?? true,
    );
    await patient.client.request({ method: 'POST', body: { one: 1 } }, never);
    expect([asked, patient.server.requests.length]).toEqual([3, 1]);
    const overtaken = await asking(
      () => ((asked += 1) === 4 ? Promise.resolve() : Promise.reject(new Error('another one leads'))),
      () => false,
    );
    expect(await failureOf(overtaken.client.request({ method: 'DELETE' }, never))).toMatchObject({
      message: 'another one leads',
    });
    expect(overtaken.server.requests).toEqual([]);
  });
});
