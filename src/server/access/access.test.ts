import { afterEach, describe, expect, it, vi } from 'vitest';
import { aRun, aSnapshot, createFakeDaemon } from '../../../test/support/fake-daemon.ts';
import { createMemoryStore } from '../../../test/support/store/memory.ts';
import type { Daemon } from '../../ports/daemon.ts';
import { createAccess } from './access.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createApp, routes, type AppOptions } from '../routes.ts';
import { isSame } from './same-secret.ts';

afterEach(() => void vi.useRealTimers());

const DAY_MS = 86_400_000;
const TOKEN = 'correct-horse-battery';

function setUp(options: AppOptions = { token: TOKEN }, notes: Daemon['notes'] = createMemoryStore()) {
  const daemon = createFakeDaemon({ current: aSnapshot(), runs: [aRun('r-1')], notes });
  const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
  return { daemon, app: createApp(daemon, metrics, options), metrics };
}

async function logIn(app: ReturnType<typeof setUp>['app'], fields: Record<string, string>) {
  return app.request('/session', { method: 'POST', body: new URLSearchParams(fields) });
}

describe('a token', () => {
  it('is asked for on every route but probes, webhooks and the login page', async () => {
    const { app, daemon, metrics } = setUp();
    const table = routes(daemon, metrics, { access: createAccess(TOKEN, daemon), webhookSecret: null });
    const open = ['/livez', '/readyz', '/login', '/session', '/hooks/:kind', '/assets/dashboard.css'];
    for (const { method, path } of table) {
      const { status } = await app.request(path.replace(':kind', 'github'), { method });
      if (open.includes(path)) expect([200, 400, 404], path).toContain(status);
      else expect(status, path).toBe(401);
    }
    expect((await app.request('/livez')).status).toBe(200);
    expect((await app.request('/readyz')).status).toBe(200);
    expect((await app.request('/nowhere')).status).toBe(401);
  });

  it.each([`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `Bearer   ${TOKEN} `])('lets "%s" in', async (authorization) => {
    expect((await setUp().app.request('/api/v1/state', { headers: { authorization } })).status).toBe(200);
  });

  it.each(['tökén', '密码', 'voilà'])('may be "%s", whose bytes a header has', async (token) => {
    const { app } = setUp({ token });
    const status = async (sent: string) =>
      (await app.request('/api/v1/state', { headers: { authorization: `Bearer ${sent}` } })).status;
    const sent = Buffer.from(token).toString('latin1');
    expect(await status(sent)).toBe(200);
    expect(await status(sent.slice(0, -1))).toBe(401);
    expect((await logIn(app, { token })).status).toBe(303);
    expect((await logIn(app, { token: sent })).status).toBe(401);
  });

  it.each(['', 'Bearer', 'Bearer ', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN])(
    'refuses "%s"',
    async (authorization) => {
      const response = await setUp().app.request('/api/v1/state', { headers: { authorization } });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="foray"');
      expect(await response.json()).toEqual({ error: { code: 'unauthorized', message: expect.any(String) } });
    },
  );

  it('is compared once a second after two hundred wrong ones', async () => {
    const { app } = setUp();
    const ask = async (authorization: string) => app.request('/api/v1/state', { headers: { authorization } });
    for (let count = 0; count < 200; count += 1) expect((await ask('Bearer wrong')).status).toBe(401);
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const late = await inFastTime(Promise.all(Array.from({ length: 6 }, () => ask(`Bearer ${TOKEN}`))));
    expect(late.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429, 429]);
    expect(await late[5]?.json()).toMatchObject({ error: { code: 'too_many_tries' } });
  });

  it('is not asked for where none is set, and the login page leads on', async () => {
    const { app } = setUp({});
    expect((await app.request('/api/v1/state')).status).toBe(200);
    for (const [path, next] of [
      ['/login', '/'],
      ['/login?next=/history', '/history'],
      ['/login?next=//evil.example', '/'],
    ] as const) {
      const response = await app.request(path);
      expect([response.status, response.headers.get('location')], path).toEqual([303, next]);
    }
  });

  it('is compared whole', () => {
    expect(isSame('a', 'a')).toBe(true);
    expect(isSame('a', 'ab')).toBe(false);
    expect(isSame('', 'a')).toBe(false);
  });
});

describe('the login page', () => {
  it('is shown in place of a page, with 401, and leads back to it', async () => {
    const response = await setUp().app.request('/runs/r-1?x=1', { headers: { accept: 'text/html,*/*' } });
    expect(response.status).toBe(401);
    expect(await response.text()).toContain('name="next" value="/runs/r-1?x=1"');
  });

  it('gives a cookie that opens the rest, and carries the name', async () => {
    const { app } = setUp();
    const response = await logIn(app, { token: TOKEN, name: ' Ada\u0007 ', next: '/runs/r-1' });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe('/runs/r-1');
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/HttpOnly/);
    expect(cookie).toMatch(/SameSite=Strict/);
    expect(cookie).not.toContain(TOKEN);
    const [pair = ''] = cookie.split(';');
    expect((await app.request('/api/v1/state', { headers: { cookie: pair } })).status).toBe(200);
    expect((await app.request('/api/v1/state', { headers: { cookie: pair.replace('Ada', 'Eve') } })).status).toBe(401);
    expect((await setUp({ token: 'another token' }).app.request('/', { headers: { cookie: pair } })).status).toBe(401);
  });

  it('holds for thirty days, whatever the browser says', async () => {
    const { app, daemon } = setUp();
    const [cookie = ''] = ((await logIn(app, { token: TOKEN, name: 'Ada' })).headers.get('set-cookie') ?? '').split(';');
    const status = async () => (await app.request('/api/v1/state', { headers: { cookie } })).status;
    daemon.now += 29 * 86_400_000;
    expect(await status()).toBe(200);
    daemon.now += 2 * 86_400_000;
    expect(await status()).toBe(401);
  });

  it('gives a cookie for TLS alone where the page came by it', async () => {
    const { app } = setUp({ token: TOKEN, allowedHosts: ['foray.example'] });
    const from = (origin: string) =>
      app.request('/session', {
        method: 'POST',
        body: new URLSearchParams({ token: TOKEN }),
        headers: { origin, host: new URL(origin).host },
      });
    expect((await from('https://foray.example')).headers.get('set-cookie')).toMatch(/; Secure/);
    expect((await from('http://foray.example')).headers.get('set-cookie')).not.toMatch(/Secure/);
  });

  it('refuses another token', async () => {
    const response = await logIn(setUp().app, { token: 'wrong', next: '/' });
    expect(response.status).toBe(401);
    expect(response.headers.get('set-cookie')).toBeNull();
    expect(await response.text()).toContain('This is not the token.');
  });

  it.each([
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/\r/evil.example',
    '/\0/evil.example',
    '/ /evil.example',
    ' //evil.example',
    '\t//evil.example',
    'javascript:alert(1)',
    '',
  ])('never leads to %j', async (next) => {
    const response = await logIn(setUp().app, { token: TOKEN, next });
    expect(response.headers.get('location')).toBe('/');
  });

  it('takes a form of a few fields and nothing larger', async () => {
    const { app } = setUp();
    const large = await logIn(app, { token: TOKEN, name: 'x'.repeat(20_000) });
    expect(large.status).toBe(413);
    expect(await large.json()).toMatchObject({ error: { code: 'body_too_large' } });
    expect((await app.request('/session', { method: 'POST', body: '{}' })).status).toBe(400);
  });

  it('slows down who tries one token after the other, but no login that exists', async () => {
    const { app } = setUp();
    const [cookie = ''] = ((await logIn(app, { token: TOKEN })).headers.get('set-cookie') ?? '').split(';');
    const wrong = (count: number) => Promise.all(Array.from({ length: count }, () => logIn(app, { token: 'wrong' })));
    expect((await wrong(10)).map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 401));
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const next = wrong(12);
    expect((await app.request('/', { headers: { cookie } })).status).toBe(200);
    const late = (await inFastTime(next)).filter(({ status }) => status === 429);
    expect(late.length).toBeGreaterThanOrEqual(9);
    expect(late[0]?.headers.get('retry-after')).toBe('3');
    expect(await late[0]?.text()).toContain('Too many wrong tokens came from this address.');
  });

  it('shows the way out to who came by it', async () => {
    const { app } = setUp();
    const [cookie = ''] = ((await logIn(app, { token: TOKEN, name: '<b>' })).headers.get('set-cookie') ?? '').split(';');
    for (const path of ['/', '/history', '/statistics', '/runs/r-1', '/issues/ENG-1']) {
      const page = await (await app.request(path, { headers: { cookie } })).text();
      expect(page, path).toMatch(/<form[^>]*action="\/logout"[^]*&lt;b&gt;[^]*<button>Log out<\/button>/);
    }
    const byBearer = await app.request('/', { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await byBearer.text()).not.toContain('Log out');
    expect(await (await setUp({}).app.request('/')).text()).not.toContain('Log out');
  });

  it('is left again by logging out', async () => {
    const { app } = setUp();
    const [cookie = ''] = ((await logIn(app, { token: TOKEN, name: 'Ada' })).headers.get('set-cookie') ?? '').split(';');
    const response = await app.request('/logout', { method: 'POST', headers: { cookie } });
    expect(response.headers.get('set-cookie')).toMatch(/Max-Age=0/);
  });

  it('is over with the logging out, also for who copied the cookie', async () => {
    const { app } = setUp();
    const [mine = '', other = ''] = await Promise.all([1, 2].map(() => cookieOf(app)));
    const status = async (cookie: string) => (await app.request('/api/v1/state', { headers: { cookie } })).status;
    await app.request('/logout', { method: 'POST', headers: { cookie: mine } });
    expect(await status(mine)).toBe(401);
    expect(await status(other)).toBe(200);
  });

  it('stays over after a restart', async () => {
    const { app, daemon, metrics } = setUp();
    const cookie = await cookieOf(app);
    await app.request('/logout', { method: 'POST', headers: { cookie } });
    const restarted = createApp(daemon, metrics, { token: TOKEN });
    expect((await restarted.request('/api/v1/state', { headers: { cookie } })).status).toBe(401);
  });

  it('stays over when old records are deleted, for as long as its cookie would be taken', async () => {
    const store = createMemoryStore();
    const { app, daemon, metrics } = setUp({ token: TOKEN }, store);
    const cookie = await cookieOf(app);
    await app.request('/logout', { method: 'POST', headers: { cookie } });
    daemon.now += 30 * DAY_MS - 1;
    await store.forgetRuns(daemon.now - DAY_MS, 1000);
    const restarted = createApp(daemon, metrics, { token: TOKEN });
    expect((await restarted.request('/api/v1/state', { headers: { cookie } })).status).toBe(401);
  });

  it('is over and lets others in also when nothing can be stored or read', async () => {
    const { app, daemon } = setUp();
    daemon.notes.addNotes = () => Promise.reject(new Error('disk on fire'));
    daemon.notes.listNotes = () => Promise.reject(new Error('disk on fire'));
    const [mine = '', other = ''] = await Promise.all([1, 2].map(() => cookieOf(app)));
    const status = async (cookie: string) => (await app.request('/api/v1/state', { headers: { cookie } })).status;
    expect((await app.request('/logout', { method: 'POST', headers: { cookie: mine } })).status).toBe(303);
    expect([await status(mine), await status(other)]).toEqual([401, 200]);
  });
});

/** That of somebody who just logged in. */
async function cookieOf(app: ReturnType<typeof setUp>['app']): Promise<string> {
  const response = await logIn(app, { token: TOKEN, name: 'Ada' });
  return (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}

/** What a promise gives, while the clock runs ahead. */
async function inFastTime<T>(promise: Promise<T>): Promise<T> {
  let isOver = false;
  const end = promise.finally(() => (isOver = true));
  while (!isOver) {
    await vi.advanceTimersByTimeAsync(500);
    await new Promise((resolve) => void setImmediate(resolve));
  }
  return end;
}

describe('allowed hosts', () => {
  const { app } = setUp({ allowedHosts: ['foray.example', 'Other.example:8443'] });
  const status = async (host: string) => (await app.request('/livez', { headers: { host } })).status;

  it.each(['foray.example', 'FORAY.example:443', 'other.example:8443', 'localhost:1'])('%s is answered', async (host) => {
    expect(await status(host)).toBe(200);
  });

  it.each(['other.example', 'other.example:1', 'x.foray.example', 'foray.example.evil'])('%s is not', async (host) => {
    expect(await status(host)).toBe(403);
  });

  it('may be served behind TLS', async () => {
    const post = (origin: string, host: string) => app.request('/api/v1/refresh', { method: 'POST', headers: { host, origin } });
    expect((await post('https://foray.example', 'foray.example')).status).toBe(202);
    expect((await post('https://localhost:1', 'localhost:1')).status).toBe(403);
    expect((await post('https://evil.example', 'foray.example')).status).toBe(403);
  });
});
