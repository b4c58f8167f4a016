import { describe, expect, it } from 'vitest';
import { aRetry, aRun, aRunning, aSnapshot, createFakeDaemon, type FakeDaemon } from '../../test/support/fake-daemon.ts';
import { RecordsError } from '../domain/model/errors.ts';
import { createAccess } from './access/access.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createApp, routes } from './routes.ts';

function setUp(daemon: FakeDaemon = busyDaemon()) {
  const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
  return {
    daemon,
    app: createApp(daemon, metrics),
    table: routes(daemon, metrics, { access: createAccess(null, daemon), webhookSecret: null }),
  };
}

function busyDaemon(): FakeDaemon {
  return createFakeDaemon({
    current: aSnapshot({ running: [aRunning('ENG-1')], retrying: [aRetry('ENG-2')] }),
    runs: [aRun('r-1')],
  });
}

/** A path of the table with its parameters filled in. */
function concrete(path: string): string {
  return path.replace(':identifier', 'ENG-1').replace(':id', 'r-1').replace(':kind', 'github');
}

const ENDPOINTS = [
  ['GET', '/', 200, 'text/html'],
  ['GET', '/login', 303, ''],
  ['POST', '/session', 303, ''],
  ['POST', '/logout', 303, ''],
  ['POST', '/hooks/github', 404, 'application/json'],
  ['GET', '/livez', 200, 'application/json'],
  ['GET', '/readyz', 200, 'application/json'],
  ['GET', '/api/v1/state', 200, 'application/json'],
  ['GET', '/api/v1/ENG-1', 200, 'application/json'],
  ['POST', '/api/v1/refresh', 202, 'application/json'],
  ['GET', '/metrics', 200, 'text/plain'],
  ['GET', '/history', 200, 'text/html'],
  ['GET', '/runs/r-1', 200, 'text/html'],
  ['GET', '/runs/r-1/rows', 200, 'text/html'],
  ['GET', '/issues/ENG-1', 200, 'text/html'],
  ['GET', '/statistics', 200, 'text/html'],
  ['GET', '/assets/dashboard.css', 200, 'text/css'],
  ['GET', '/assets/dashboard.js', 200, 'text/javascript'],
  ['GET', '/api/v2/runs', 200, 'application/json'],
  ['GET', '/api/v2/runs/r-1', 200, 'application/json'],
  ['GET', '/api/v2/parked', 200, 'application/json'],
  ['GET', '/api/v2/holds', 200, 'application/json'],
  ['GET', '/api/v2/merge-requests', 200, 'application/json'],
  ['GET', '/api/v2/workers', 200, 'application/json'],
  ['GET', '/api/v2/notifications', 200, 'application/json'],
  ['GET', '/api/v2/workflow', 200, 'application/json'],
  ['GET', '/api/v2/statistics', 200, 'application/json'],
  ['GET', '/api/v2/openapi.json', 200, 'application/json'],
  ['GET', '/api/v2/issues/ENG-1', 200, 'application/json'],
  ['POST', '/api/v2/issues/ENG-1/stop', 202, 'application/json'],
  ['POST', '/api/v2/issues/ENG-1/retry', 202, 'application/json'],
  ['POST', '/api/v2/issues/ENG-1/unpark', 202, 'application/json'],
  ['POST', '/api/v2/pause', 202, 'application/json'],
  ['POST', '/api/v2/resume', 202, 'application/json'],
  ['GET', '/api/v2/events', 200, 'text/event-stream'],
] as const;

const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
} as const;

describe('the endpoints', () => {
  it.each(ENDPOINTS)('%s %s answers %i as %s', async (method, path, status, type) => {
    const response = await setUp().app.request(path, { method });
    expect(response.status).toBe(status);
    expect((response.headers.get('content-type') ?? '').split(';')[0]).toBe(type);
    await response.body?.cancel();
  });

  it('are all in the table above', () => {
    const listed = setUp().table.map(({ method, path }) => `${method} ${concrete(path)}`);
    expect(listed.sort()).toEqual(ENDPOINTS.map(([method, path]) => `${method} ${path}`).sort());
  });

  it('carry the security headers, errors included', async () => {
    const { app, daemon } = setUp();
    daemon.history.findRun = () => Promise.reject(new Error('disk on fire'));
    for (const path of [...ENDPOINTS.map(([, path]) => path), '/nowhere', '/api/v1/GONE-1', '/api/v2/runs?limit=x']) {
      const response = await app.request(path);
      for (const [name, value] of Object.entries(SECURITY_HEADERS))
        expect(response.headers.get(name), `${name} of ${path}`).toBe(value);
      await response.body?.cancel();
    }
  });
});

describe('an unknown path', () => {
  it.each([
    '/nowhere',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v1/a/b',
    '/api/v1/state/',
    '/api/v2/nothing',
    '/assets/other.css',
    '/favicon.ico',
  ])('%s is 404 not_found', async (path) => {
    const response = await setUp().app.request(path);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.json()).toEqual({ error: { code: 'not_found', message: expect.any(String) } });
  });
});

describe('a wrong method', () => {
  const wrong = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'SEARCH', 'FOO', 'get-it', 'post'];

  it.each(ENDPOINTS)('on %s %s is 405 with Allow', async (method, path) => {
    const { app } = setUp();
    // A request object turns a lowercase `post` into POST; other unknown spellings reach us as they are.
    for (const other of wrong.filter((candidate) => candidate.toUpperCase() !== method)) {
      const response = await app.request(path, { method: other });
      expect(response.status, other).toBe(405);
      expect(response.headers.get('allow'), other).toBe(method);
      expect(response.headers.get('content-type'), other).toBe('application/json');
      if (other === 'HEAD') expect(await response.text()).toBe('');
      else
        expect(await response.json()).toEqual({
          error: { code: 'method_not_allowed', message: `${path} accepts only ${method}.` },
        });
    }
  });

  it('does not start a refresh', async () => {
    const { app, daemon } = setUp();
    await app.request('/api/v1/refresh');
    expect(daemon.refreshPending).toBe(false);
  });
});

describe('the host', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '127.0.0.1:8080', 'localhost:1', 'LOCALHOST:65535', '[::1]:8080'])(
    '%s is answered',
    async (host) => {
      expect((await setUp().app.request('/livez', { headers: { host } })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'evil.example:80',
    '127.0.0.2',
    '::1',
    '0.0.0.0',
    'localhost:',
    '',
    'localhost:x',
  ])('"%s" is 403 forbidden_host', async (host) => {
    const response = await setUp().app.request('/livez', { headers: { host } });
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ error: { code: 'forbidden_host', message: expect.any(String) } });
  });

  it('of a target in absolute form counts too', async () => {
    const response = await setUp().app.request('http://evil.example/livez', { headers: { host: 'localhost' } });
    expect(response.status).toBe(403);
  });

  it('is judged before method and route', async () => {
    for (const [method, path] of [
      ['DELETE', '/livez'],
      ['GET', '/nowhere'],
    ] as const) {
      expect((await setUp().app.request(path, { method, headers: { host: 'evil.example' } })).status).toBe(403);
    }
  });
});

describe('the origin of a POST', () => {
  const refresh = (headers: Record<string, string>) => setUp().app.request('/api/v1/refresh', { method: 'POST', headers });

  it.each([
    ['none', {}],
    ['the same', { host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080' }],
    ['the same by another case', { host: 'localhost:8080', origin: 'HTTP://LOCALHOST:8080' }],
  ])('%s is let through', async (_, headers) => {
    expect((await refresh(headers)).status).toBe(202);
  });

  it.each(['http://evil.example', 'https://127.0.0.1:8080', 'http://127.0.0.1:8081', 'http://localhost:8080', 'null', ''])(
    '"%s" is 403 forbidden_origin',
    async (origin) => {
      const response = await refresh({ host: '127.0.0.1:8080', origin });
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({ error: { code: 'forbidden_origin', message: expect.any(String) } });
    },
  );

  it('does not matter to a GET', async () => {
    expect((await setUp().app.request('/api/v1/state', { headers: { origin: 'http://evil.example' } })).status).toBe(200);
  });
});

describe('a handler that throws', () => {
  it('is 500 internal_error, logged, and tells nothing of the cause', async () => {
    const { app, daemon } = setUp();
    daemon.history.listRuns = () => Promise.reject(new Error('disk on fire'));
    const response = await app.request('/api/v2/runs');
    expect(response.status).toBe(500);
    const body = await response.text();
    expect(JSON.parse(body)).toEqual({ error: { code: 'internal_error', message: expect.any(String) } });
    expect(body).not.toContain('fire');
    expect(daemon.logged).toContainEqual({
      level: 'error',
      message: 'http request failed',
      attributes: { method: 'GET', path: '/api/v2/runs', error: 'disk on fire' },
    });
  });

  it('is 503 where the database is away, and names it', async () => {
    class Away extends RecordsError {
      readonly isAway = true;
    }
    const { app, daemon } = setUp();
    const away = () => Promise.reject(new Away('database postgres://db.internal: cannot be reached'));
    Object.assign(daemon.history, { listRuns: away });
    daemon.ask = away;
    for (const [method, path] of [
      ['GET', '/api/v2/runs'],
      ['POST', '/api/v2/pause'],
      ['POST', '/api/v2/issues/X-1/stop'],
    ] as const) {
      const response = await app.request(path, { method });
      expect(response.status, path).toBe(503);
      const body = await response.text();
      expect(JSON.parse(body)).toEqual({
        error: {
          code: 'database_unavailable',
          message: 'The database cannot be reached at the moment. Ask again when it answers; the log of the service says why.',
        },
      });
      expect(body).not.toContain('db.internal');
    }
    const page = await app.request('/history');
    expect(page.status).toBe(503);
    expect(await page.text()).toContain('The database cannot be reached at the moment.');
  });

  it.each(['/history', '/runs/r-1', '/issues/X-1', '/statistics'])('%s says so in a page that looks again', async (path) => {
    const { app, daemon } = setUp();
    const onFire = () => Promise.reject(new Error('disk on fire'));
    Object.assign(daemon.history, { listRuns: onFire, findRun: onFire, statistics: onFire });
    const response = await app.request(path);
    expect(response.status).toBe(500);
    expect(response.headers.get('content-type')).toContain('text/html');
    const body = await response.text();
    expect(body).toContain('This page could not be made. The log of the service says why.');
    expect(body).toContain('id="live"');
    expect(body).not.toContain('fire');
    expect(daemon.logged).toContainEqual(
      expect.objectContaining({ message: 'http request failed', attributes: expect.objectContaining({ path }) }),
    );
  });
});
