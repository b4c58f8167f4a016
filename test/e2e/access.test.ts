import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { rawRequest } from '../support/raw-request.ts';

const TOKEN = 'what-opens-the-door';
const ISSUES = ['A-1', 'A-2', 'A-3', 'A-4', 'A-5'];
const PAGES = [
  '/',
  '/history',
  '/statistics',
  '/runs/none',
  '/runs/none/rows',
  '/issues/A-1',
  '/assets/dashboard.js',
  '/nowhere',
];

let ground: Playground;
let daemon: RunningDaemon;
/** `METHOD /path` of everything that the service says it has, without parameters in the path. */
let described: readonly string[];

beforeAll(async () => {
  ground = await createPlayground();
  const mock = 'turn_delay_ms: 600000\nstop_delay_ms: 4000';
  const server = 'token: $DOOR\nallowed_hosts: [foray.example, "other.example:8443"]\nwebhooks: { secret: $HOOK }';
  await ground.write('WORKFLOW.md', fileWorkflow({ mock, server }));
  await ground.writeIssues(ISSUES.map((identifier, index) => ({ id: `${index}`, identifier, title: identifier, state: 'todo' })));
  daemon = await ground.start(['--port', '0'], { env: { DOOR: TOKEN, HOOK: 'between-us' } });
  const { paths } = (await ask('GET', '/api/v2/openapi.json')).json() as { paths: Record<string, Record<string, unknown>> };
  described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${path.replace('{identifier}', 'A-1').replace(/\{\w+\}/, 'none')}`,
    ),
  );
  await eventually(
    async () => (await ask('GET', '/api/v1/state')).json()['counts'],
    (counts) => (counts as { running: number }).running === ISSUES.length,
  );
});
afterAll(() => ground.cleanup());

const BEARER = { authorization: `Bearer ${TOKEN}` };

function raw(method: string, route: string, headers: Readonly<Record<string, string>> = {}, body?: string) {
  return rawRequest(`${daemon.url}${route}`, { method, headers, ...(body !== undefined && { body }) });
}

/** With the token. */
function ask(method: string, route: string, body?: string) {
  return raw(method, route, BEARER, body);
}

async function logIn(fields: Record<string, string>) {
  const form = new URLSearchParams(fields).toString();
  const answer = await raw('POST', '/session', { 'content-type': 'application/x-www-form-urlencoded' }, form);
  return { ...answer, cookie: answer.headers['set-cookie']?.[0] ?? '' };
}

describe('the token', () => {
  it('is asked for on every route but probes and webhooks, on 127.0.0.1 too', async () => {
    const open = ['GET /livez', 'GET /readyz', 'POST /hooks/none'];
    expect(described).toEqual(expect.arrayContaining(open));
    for (const line of [...described, ...PAGES.map((page) => `GET ${page}`), 'POST /logout']) {
      const [method = '', route = ''] = line.split(' ');
      const { status, headers, body } = await raw(method, route);
      if (open.includes(line)) expect(status, line).toBe(line.startsWith('POST') ? 404 : 200);
      else {
        expect(status, line).toBe(401);
        expect(headers['www-authenticate'], line).toBe('Bearer realm="foray"');
        expect(JSON.parse(body), line).toMatchObject({ error: { code: 'unauthorized' } });
      }
    }
  });

  it('comes as a bearer, whole and in no other form', async () => {
    const status = async (authorization: string) => (await raw('GET', '/api/v1/state', { authorization })).status;
    expect(await status(`Bearer ${TOKEN}`)).toBe(200);
    expect(await status(`bearer ${TOKEN}`)).toBe(200);
    for (const wrong of ['', 'Bearer', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`, `Basic ${TOKEN}`, TOKEN]) {
      expect(await status(wrong), wrong).toBe(401);
    }
    expect((await raw('GET', `/api/v1/state?token=${TOKEN}`)).status).toBe(401);
  });

  it('is needed for any address but 127.0.0.1', async () => {
    await ground.write('OPEN.md', fileWorkflow({ server: 'host: 0.0.0.0' }));
    const { code, stdout, stderr } = await ground.run(['validate', 'OPEN.md']);
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain('error: server.token.required: ');
  });
});

describe('the login page', () => {
  it('is shown to a browser in place of any page, and leads back to it', async () => {
    const { status, headers, body } = await raw('GET', '/history?identifier=A-1', { accept: 'text/html' });
    expect(status).toBe(401);
    expect(headers['content-type']).toContain('text/html');
    expect(body).toContain('name="next" value="/history?identifier=A-1"');
    expect((await raw('GET', '/login')).status).toBe(200);
    expect((await raw('GET', '/assets/dashboard.css')).status).toBe(200);
  });

  it('gives a cookie that no script reads and no other site sends, and takes it back', async () => {
    const { status, headers, cookie } = await logIn({ token: TOKEN, name: 'Ada', next: '/history' });
    expect(status).toBe(303);
    expect(headers['location']).toBe('/history');
    const port = new URL(daemon.url).port;
    expect(cookie.split('; ').slice(1).sort()).toEqual(['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Strict']);
    const [pair = ''] = cookie.split(';');
    expect(pair).toMatch(new RegExp(`^foray_login_${port}=`));
    expect(decodeURIComponent(pair)).not.toContain(TOKEN);
    expect((await raw('GET', '/api/v1/state', { cookie: pair })).status).toBe(200);
    expect((await raw('GET', '/', { cookie: pair })).body).toMatch(/Ada[^]*Log out/);
    expect((await raw('GET', '/', BEARER)).body).not.toContain('Log out');
    expect((await raw('GET', '/api/v1/state', { cookie: pair.replace('Ada', 'Eve') })).status).toBe(401);
    const left = await raw('POST', '/logout', { cookie: pair, origin: daemon.url });
    expect([left.status, left.headers['location']]).toEqual([303, '/login']);
    expect(left.headers['set-cookie']).toEqual([`foray_login_${port}=; Max-Age=0; Path=/`]);
  });

  it('refuses another token, leads to no other site, and slows down who goes on trying', async () => {
    expect(await logIn({ token: TOKEN, next: '//evil.example' })).toMatchObject({ headers: { location: '/' } });
    const refused = await logIn({ token: 'wrong' });
    expect([refused.status, refused.cookie]).toEqual([401, '']);
    const tries = await Promise.all(Array.from({ length: 40 }, () => logIn({ token: 'wrong' })));
    const late = tries.filter(({ status }) => status === 429);
    expect(late.length).toBeGreaterThan(10);
    expect(late[0]?.headers['retry-after']).toBe('3');
    expect(late[0]?.body).toMatch(/role="alert">Too many wrong tokens/);
    expect((await ask('GET', '/api/v1/state')).status).toBe(200);
  });
});

describe('the host', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', 'LOCALHOST:9', 'foray.example', 'foray.example:443', 'other.example:8443'])(
    '%s is answered',
    async (host) => {
      expect((await raw('GET', '/api/v1/state', { ...BEARER, host })).status).toBe(200);
    },
  );

  it.each(['evil.example', 'other.example', 'foray.example.evil', '127.0.0.1.evil', '0.0.0.0', 'a@foray.example', '::1'])(
    '%s is 403',
    async (host) => {
      for (const route of ['/', '/livez', '/api/v1/state', '/hooks/github']) {
        const answer = await raw('GET', route, { ...BEARER, host });
        expect(answer.status, route).toBe(403);
        expect(answer.json(), route).toMatchObject({ error: { code: 'forbidden_host' } });
      }
    },
  );
});

const FOREIGN: readonly Readonly<Record<string, string>>[] = [
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'cross-site' },
];

it('a post of another origin is 403, whatever it asks for', async () => {
  for (const line of [...described, 'POST /session', 'POST /logout'].filter((one) => one.startsWith('POST'))) {
    const route = line.replace('POST ', '');
    if (route.startsWith('/hooks/')) continue;
    // Nothing encrypts on loopback: what is served so is somebody else's.
    for (const headers of [...FOREIGN, { origin: daemon.url.replace('http:', 'https:') }]) {
      const answer = await raw('POST', route, { ...BEARER, ...headers });
      expect(answer.status, line).toBe(403);
      expect(answer.json(), line).toMatchObject({ error: { code: 'forbidden_origin' } });
    }
  }
});

it('every answer carries a strict policy and may not be kept', async () => {
  const answers = await Promise.all([
    ask('GET', '/'),
    ask('GET', '/api/v1/state'),
    ask('GET', '/assets/dashboard.js'),
    ask('GET', '/nowhere'),
    raw('GET', '/'),
    raw('GET', '/', { host: 'evil.example' }),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 404, 401, 403]);
  for (const { headers } of answers) {
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    );
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('no-store');
  }
  expect(answers[0]?.body).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+=|<style|\sstyle=/);
});

it('what is described is served, and nothing else', async () => {
  for (const line of described.filter((one) => one.startsWith('GET ') && !one.endsWith('/events'))) {
    const { status } = await ask('GET', line.replace('GET ', ''));
    expect([200, 404], line).toContain(status);
    if (!line.includes('none')) expect(status, line).toBe(200);
  }
  for (const route of ['/api', '/api/v1', '/api/v2', '/api/v2/none', '/api/v3/state', '/hooks', '/api/v2/issues']) {
    expect((await ask('GET', route)).status, route).toBe(404);
  }
});

describe('what operators ask for', () => {
  it('is 202 and what was asked, 404 for an unknown issue, 409 where it makes no sense', async () => {
    const [cookie = ''] = (await logIn({ token: TOKEN, name: 'Ada' })).cookie.split(';');
    const act = (identifier: string, kind: string) =>
      raw('POST', `/api/v2/issues/${identifier}/${kind}`, { cookie, origin: daemon.url });
    for (const kind of ['stop', 'retry', 'unpark']) {
      const unknown = await act('NOPE-1', kind);
      expect([unknown.status, unknown.json()], kind).toMatchObject([404, { error: { code: 'issue_not_found' } }]);
    }
    for (const kind of ['retry', 'unpark']) {
      const senseless = await act('A-1', kind);
      expect([senseless.status, senseless.json()], kind).toMatchObject([409, { error: { code: 'not_possible_now' } }]);
    }
    const asked = performance.now();
    const stopped = await act('a-1', 'stop');
    expect(stopped.status).toBe(202);
    expect(performance.now() - asked, 'the session takes longer to end').toBeLessThan(3_500);
    expect(stopped.json()).toMatchObject({ requested: 'stop', issue_identifier: 'a-1', by: 'Ada' });
    expect(stopped.json()['requested_at']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    await Promise.all(['A-2', 'A-3', 'A-4'].map((identifier) => act(identifier, 'stop')));
    await placeOf('A-1', 'parked');
    expect((await act('A-1', 'stop')).status).toBe(409);
    const page = (await raw('GET', '/issues/A-1', { cookie })).body;
    expect(page).toContain('Ada');
    expect(page, 'as it is written in the source, in the built command too').toMatch(/\d turns? ·\s/);
    expect((await act('A-1', 'unpark')).status).toBe(202);
    await placeOf('A-2', 'parked');
    expect((await act('A-2', 'retry')).status).toBe(202);
    await placeOf('A-1', 'running');
    await placeOf('A-2', 'running');
    await placeOf('A-3', 'parked');
  });

  it('pause takes a reason and may be repeated; resume lifts it', async () => {
    const paused = await ask('POST', '/api/v2/pause', '{"reason":"release day"}');
    expect([paused.status, paused.json()]).toMatchObject([202, { requested: 'pause', reason: 'release day', by: '127.0.0.1' }]);
    expect((await ask('GET', '/')).body).toContain('release day');
    expect((await ask('POST', '/api/v2/pause')).status).toBe(202);
    for (const wrong of ['soon', '[]', 'null', '"soon"', '{"reason":5}'])
      expect((await ask('POST', '/api/v2/pause', wrong)).status, wrong).toBe(400);
    // A body that is too large spoils no connection that the client keeps.
    const large = await ask('POST', '/api/v2/pause', 'x'.repeat(3_000_000));
    expect([large.status, large.headers['connection']]).toEqual([413, 'keep-alive']);
    expect((await ask('GET', '/livez')).status).toBe(200);
    const resumed = await ask('POST', '/api/v2/resume');
    expect([resumed.status, resumed.json()]).toMatchObject([202, { requested: 'resume' }]);
    expect((await ask('GET', '/')).body).not.toContain('release day');
  });

  async function placeOf(identifier: string, wanted: string) {
    await eventually(
      async () => (await ask('GET', `/api/v2/issues/${identifier}`)).json()['place'],
      (place) => place === wanted,
    );
  }
});

describe('what is known', () => {
  it('of an issue stands in one place, wherever the issue is', async () => {
    expect((await ask('GET', '/api/v2/issues/A-1')).json()).toMatchObject({
      issue_identifier: 'A-1',
      place: 'running',
      claim: { phase: 'running' },
      retry: null,
      parked: null,
      watch: null,
      runs: [{ status: 'running' }, { status: 'cancelled' }],
    });
    expect((await ask('GET', '/api/v2/issues/A-3')).json()).toMatchObject({
      place: 'parked',
      claim: null,
      parked: { reason: 'stopped_by_operator' },
      holds: [{ reason: 'parked' }],
    });
    expect((await ask('GET', '/api/v2/issues/NOPE-1')).status).toBe(404);
  });

  it('of runs comes in pages that lose none, also from a moment on', async () => {
    interface Runs {
      readonly runs: readonly { readonly id: string; readonly started_at: string }[];
      readonly next_cursor: string | null;
    }
    const page = async (query: string) => (await ask('GET', `/api/v2/runs?${query}`)).json() as unknown as Runs;
    const { runs: all, next_cursor: end } = await page('limit=500');
    expect(end).toBeNull();
    expect(all).toHaveLength(7);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { runs, next_cursor } = await page(`limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      seen.push(...runs.map(({ id }) => id));
      cursor = next_cursor;
    }
    expect(seen).toEqual(all.map(({ id }) => id));
    const before = all[1]?.started_at ?? '';
    const older = all.filter(({ started_at }) => started_at < before);
    expect((await page(`before=${before}`)).runs).toEqual(older);
    expect((await page('identifier=A-2')).runs).toHaveLength(2);
    for (const wrong of ['cursor=x', 'before=yesterday', 'limit=0'])
      expect((await ask('GET', `/api/v2/runs?${wrong}`)).status).toBe(400);
  });
});

it('while draining nothing more can be asked for', async () => {
  daemon.signal('SIGINT');
  await daemon.record('draining');
  const routes = ['issues/A-1/stop', 'issues/A-3/retry', 'issues/A-3/unpark', 'pause', 'resume'];
  const answers = await Promise.all(routes.map((route) => ask('POST', `/api/v2/${route}`)));
  expect(answers.map(({ status }) => status)).toEqual(routes.map(() => 409));
  expect(answers[0]?.json()).toMatchObject({ error: { code: 'not_possible_now' } });
  expect((await daemon.exited).code).toBe(0);
});
