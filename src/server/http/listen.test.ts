import { connect, createServer, Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createFakeDaemon } from '../../../test/support/fake-daemon.ts';
import { MAX_CONNECTIONS } from './connections.ts';
import { listen, type Listening } from './listen.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createSite } from '../routes.ts';

/** The end of an answer that came whole. */
const LAST_CHUNK = '\r\n0\r\n\r\n';

const open: Listening[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  sockets.splice(0).forEach((socket) => socket.destroy());
  await Promise.all(open.splice(0).map((server) => server.stop()));
});

async function serve() {
  const daemon = createFakeDaemon();
  const site = createSite(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
  );
  const server = await listen(async () => site, 0);
  open.push(server);
  return { daemon, server, url: `http://127.0.0.1:${server.port}` };
}

/** Sends bytes as they are and returns everything that comes back until the server hangs up. */
function exchange(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = dial(port);
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
    socket.write(request);
  });
}

function dial(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  return socket;
}

describe('listen', () => {
  it('serves on loopback, on a port the system chose', async () => {
    const { url, server } = await serve();
    expect(server.port).toBeGreaterThan(0);
    const response = await fetch(`${url}/livez`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'pass' });
  });

  it('loads what answers when the first request comes, once', async () => {
    const daemon = createFakeDaemon();
    let loads = 0;
    const server = await listen(async () => {
      loads += 1;
      return createSite(
        daemon,
        createMetrics(daemon.notices, () => daemon.snapshot()),
      );
    }, 0);
    open.push(server);
    expect(loads).toBe(0);
    const [first, second] = await Promise.all([
      fetch(`http://127.0.0.1:${server.port}/livez`),
      exchange(server.port, 'SING /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
    ]);
    expect([first.status, second.slice(0, 12)]).toEqual([200, 'HTTP/1.1 405']);
    await server.warmUp();
    expect(loads).toBe(1);
  });

  it('loads what answers again where it could not be loaded', async () => {
    const daemon = createFakeDaemon();
    const site = createSite(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    let loads = 0;
    const server = await listen(async () => {
      loads += 1;
      if (loads === 1) throw new Error('EMFILE: too many open files');
      return site;
    }, 0);
    open.push(server);
    const url = `http://127.0.0.1:${server.port}/livez`;
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url)).status).toBe(200);
    expect(loads).toBe(2);
  });

  it('lets another site answer from one request to the next, also while the first is being loaded', async () => {
    const siteWith = (token: string | null) => {
      const daemon = createFakeDaemon();
      const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
      return createSite(daemon, metrics, { token });
    };
    const asked = withResolvers();
    const loading = withResolvers();
    const server = await listen(async () => {
      asked.resolve();
      await loading.promise;
      return siteWith(null);
    }, 0);
    open.push(server);
    const url = `http://127.0.0.1:${server.port}`;
    const early = fetch(`${url}/api/v1/state`);
    await asked.promise;
    server.replace(async () => siteWith('secret'));
    loading.resolve();
    expect((await early).status).toBe(401);
    const headers = { authorization: 'Bearer secret' };
    const stream = (await fetch(`${url}/api/v2/events`, { headers })).text();
    server.replace(async () => siteWith('another'));
    await stream;
    expect((await fetch(`${url}/api/v1/state`, { headers })).status).toBe(401);
  });

  it('hangs up where what answers cannot be loaded, and lives on', async () => {
    const server = await listen(() => Promise.reject(new Error('a part is missing')), 0);
    open.push(server);
    expect(await exchange(server.port, 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')).toBe('');
    expect(await exchange(server.port, 'SING / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')).toBe('');
    await expect(server.warmUp()).rejects.toThrow('a part is missing');
  });

  it('does not listen on other addresses of this machine', async () => {
    const { server } = await serve();
    const refused = new Promise((resolve) => {
      const socket = connect(server.port, '127.0.0.2');
      sockets.push(socket);
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.on('connect', () => resolve('connected'));
    });
    expect(await refused).toBe('ECONNREFUSED');
  });

  it('says that a port is in use and what to do', async () => {
    const { server } = await serve();
    const daemon = createFakeDaemon();
    const site = createSite(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    await expect(listen(async () => site, server.port)).rejects.toThrow(
      `port ${server.port} is in use: stop what listens on 127.0.0.1:${server.port}, or choose another port with --port or server.port`,
    );
  });

  it('also when something else than us is there', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const daemon = createFakeDaemon();
    const site = createSite(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    await expect(listen(async () => site, port)).rejects.toThrow(`port ${port} is in use: `);
    await new Promise((resolve) => other.close(resolve));
  });
});

describe('over a socket', () => {
  it.each(['HEAD', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'CONNECT', 'FOO', 'get', 'X-GET'])(
    '%s /livez is 405',
    async (method) => {
      const { server } = await serve();
      const answer = await exchange(
        server.port,
        `${method} /livez HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      );
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 405 Method Not Allowed\r\n/);
      expect(head.toLowerCase()).toContain('\r\nallow: get');
      expect(head.toLowerCase()).toContain('\r\ncontent-type: application/json');
      if (method === 'HEAD') expect(body).toBe('');
      else expect(JSON.parse(body)).toEqual({ error: { code: 'method_not_allowed', message: '/livez accepts only GET.' } });
    },
  );

  it('an unknown method on refresh allows POST, on no path is 404, from a foreign host 403', async () => {
    const { server } = await serve();
    const ask = (path: string, host: string) => exchange(server.port, `FOO ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const refresh = (await ask('/api/v1/refresh', 'localhost')).toLowerCase();
    expect(refresh).toContain('http/1.1 405');
    expect(refresh).toContain('\r\nallow: post');
    expect(await ask('/nowhere', 'localhost')).toContain('HTTP/1.1 404');
    expect(await ask('/livez', 'evil.example')).toContain('HTTP/1.1 403');
  });

  it('an unknown method on a connection that was used before is answered too', async () => {
    const { server } = await serve();
    const socket = dial(server.port);
    let seen = '';
    socket.on('data', (chunk) => {
      seen += chunk.toString();
      if (seen.endsWith('{"status":"pass"}')) socket.write('FOO /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    });
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await closed;
    expect(seen).toContain('HTTP/1.1 405');
  });

  it.each([
    ['no HTTP at all', 'hello there\r\n\r\n', 400],
    ['a broken header', 'GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n', 400],
    ['a backslash in the path', 'GET /a\\b HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ['headers without end', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  ])('%s is answered with %s', async (_, request, status) => {
    const { server } = await serve();
    expect(await exchange(server.port, request)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect((await fetch(`http://127.0.0.1:${server.port}/livez`)).status).toBe(200);
  });

  it.each(['1.0', '1.1'])('no Host is no known one, in HTTP/%s', async (version) => {
    const { server } = await serve();
    for (const line of [
      'GET /livez',
      'POST /api/v1/refresh',
      'GET http://localhost/livez',
      'FOO /livez',
      'CONNECT localhost:80',
    ]) {
      const answer = await exchange(server.port, `${line} HTTP/${version}\r\nConnection: close\r\n\r\n`);
      expect(answer, line).toMatch(/^HTTP\/1\.1 403 .*"code":"forbidden_host"/s);
      expect(answer.toLowerCase(), line).toContain('x-content-type-options: nosniff');
    }
  });

  it.each(['a b', 'a@b', '127.0.0.1:abc', '127.0.0.1:99999', '127.0.0.1:', '::1', 'localhost/', '0177.0.0.1', ''])(
    'a Host that is none is refused as any other: "%s"',
    async (host) => {
      const { server } = await serve();
      const ask = (line: string, named: string) =>
        exchange(server.port, `${line} HTTP/1.1\r\nHost: ${named}\r\nConnection: close\r\n\r\n`);
      const bodyOf = (answer: string) => answer.split('\r\n\r\n')[1];
      const refused = await ask('GET /livez', 'evil.example');
      expect(refused).toMatch(/^HTTP\/1\.1 403 .*"code":"forbidden_host"/s);
      for (const line of ['GET /livez', 'GET /', 'POST /api/v1/refresh', 'GET http://localhost/livez', 'FOO /livez']) {
        const answer = await ask(line, host);
        expect(answer, line).toMatch(/^HTTP\/1\.1 403 /);
        expect(bodyOf(answer), line).toBe(bodyOf(refused));
        expect(answer.toLowerCase(), line).toContain('\r\ncache-control: no-store');
      }
    },
  );

  it('a foreign host in the header or in an absolute target is refused', async () => {
    const { server } = await serve();
    const ask = (target: string, host: string) =>
      exchange(server.port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(await ask('/livez', 'evil.example')).toContain('forbidden_host');
    expect(await ask('http://evil.example/livez', 'localhost')).toContain('forbidden_host');
    expect(await ask('/livez', '[::1]:80')).toContain('{"status":"pass"}');
  });

  it('a large body is ignored', async () => {
    const { url, daemon } = await serve();
    const response = await fetch(`${url}/api/v1/refresh`, { method: 'POST', body: new Uint8Array(8 * 1024 * 1024) });
    expect(response.status).toBe(202);
    expect(daemon.refreshPending).toBe(true);
  });

  it('the state comes whole and with its headers, again and again on one connection', async () => {
    const { server } = await serve();
    const socket = dial(server.port);
    let seen = '';
    const ask = () => socket.write('GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n');
    socket.on('data', (chunk) => (seen += chunk.toString()));
    ask();
    await expect.poll(() => seen.match(/"rate_limits":\{\}\}/g)?.length).toBe(1);
    ask();
    await expect.poll(() => seen.match(/"rate_limits":\{\}\}/g)?.length).toBe(2);
    expect(seen.match(/content-security-policy: default-src 'none'/gi)).toHaveLength(2);
    expect(seen.match(/cache-control: no-store/gi)).toHaveLength(2);
  });

  it('an encoded slash stays inside an identifier', async () => {
    const { url } = await serve();
    const body = (await (await fetch(`${url}/api/v1/group%2Fproject%237`)).json()) as { error: { message: string } };
    expect(body.error.message).toContain('"group/project#7"');
  });
});

describe('connections that are held open', () => {
  it('do not keep anybody out, however many they are', async () => {
    const { server, url } = await serve();
    const silent = Array.from({ length: MAX_CONNECTIONS + 200 }, () => dial(server.port));
    silent.forEach((socket) => socket.on('error', () => undefined));
    await Promise.all(silent.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    await expect
      .poll(() => silent.filter((socket) => socket.destroyed || socket.readableEnded).length)
      .toBeGreaterThanOrEqual(200);
    for (let i = 0; i < 5; i++) expect((await fetch(`${url}/livez`)).status).toBe(200);
  });

  it('are cut off after 45 s in which nothing went either way', { timeout: 10_000 }, async () => {
    const { setTimeout: wait } = Socket.prototype;
    // That long passes at once.
    vi.spyOn(Socket.prototype, 'setTimeout').mockImplementation(function shortened(this: Socket, ms, done) {
      return wait.call(this, ms === 45_000 ? 1 : ms, done);
    });
    const { server, daemon } = await serve();
    daemon.ready = () => new Promise(() => undefined);
    const socket = dial(server.port);
    const gone = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
    socket.resume();
    socket.write('GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await gone;
  });

  it('are destroyed after a refusal, even by a client that never closes its side', async () => {
    const { server } = await serve();
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    const gone = new Promise((resolve) => socket.on('error', resolve));
    const ended = new Promise((resolve) => socket.on('end', resolve));
    socket.resume();
    socket.write('hello there\r\n\r\n');
    await ended;
    const writing = setInterval(() => socket.write('x'), 100);
    expect(await gone).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) });
    clearInterval(writing);
  });
});

describe('stopping', () => {
  /** Its moment of grace never ends: nothing is cut off because that is over. */
  function stopPatiently(server: Listening): Promise<void> {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const stopped = server.stop();
    vi.useRealTimers();
    return stopped;
  }

  async function follow(url: string) {
    const response = await fetch(`${url}/api/v2/events`);
    const reader = response.body!.getReader();
    await reader.read();
    const drained = async () => {
      while (!(await reader.read()).done);
    };
    return drained();
  }

  it('ends event streams and kept connections by itself', async () => {
    const { server, url, daemon } = await serve();
    const others = daemon.listeners();
    await (await fetch(`${url}/livez`)).text();
    const idle = dial(server.port);
    await new Promise((resolve) => idle.on('connect', resolve));
    const stream = follow(url);
    await expect.poll(() => daemon.listeners()).toBe(others + 1);

    await stopPatiently(server);
    await stream;
    expect(daemon.listeners()).toBe(others);
    await expect(fetch(`${url}/livez`)).rejects.toThrow();
  });

  it('lets a request under way finish', async () => {
    const { server, url, daemon } = await serve();
    const checked = withResolvers();
    const asked = withResolvers();
    daemon.ready = async () => {
      asked.resolve();
      await checked.promise;
      return { database: true, preflight: true, workflow: true };
    };
    const answer = fetch(`${url}/readyz`);
    await asked.promise;
    const stopped = server.stop();
    checked.resolve();
    expect((await answer).status).toBe(200);
    await stopped;
  });

  it('stop cuts off what hangs', async () => {
    const { server, url, daemon } = await serve();
    const asked = withResolvers();
    daemon.ready = () => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const answer = fetch(`${url}/readyz`).catch(() => 'cut off');
    await asked.promise;
    await server.stop();
    expect(await answer).toBe('cut off');
  });

  it('a client that stops reading is cut off', async () => {
    const { server, daemon } = await serve();
    const others = daemon.listeners();
    const socket = dial(server.port);
    socket.pause();
    socket.write('GET /api/v2/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await expect.poll(() => daemon.listeners()).toBe(others + 1);
    const text = 'x'.repeat(256 * 1024);
    const issue = { id: '1', identifier: 'E', displayIdentifier: null, title: '', url: '', state: '' };
    let seen = '';
    socket.on('data', (chunk) => (seen = `${seen}${chunk.toString()}`.slice(-LAST_CHUNK.length)));
    const gone = new Promise((resolve) => socket.on('close', resolve));
    for (let i = 0; i < 400 && daemon.listeners() > others; i++) {
      daemon.notices.announce({ name: 'run:agent:spoke', facts: { issue, runId: 'r', type: 'message', text } });
      await new Promise(setImmediate);
    }
    expect(daemon.listeners()).toBe(others);
    socket.resume();
    await gone;
    expect(seen, 'it is not sent the rest').not.toBe(LAST_CHUNK);
  });
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
