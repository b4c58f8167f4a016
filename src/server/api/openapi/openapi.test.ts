import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { beforeAll, describe, expect, it } from 'vitest';
import { aRetry, aRun, aRunning, aSnapshot, anIssue, createFakeDaemon, NOON } from '../../../../test/support/fake-daemon.ts';
import { busyAfternoon } from '../../../../test/browser/scene.ts';
import { createAccess } from '../../access/access.ts';
import { createMetrics } from '../../metrics/metrics.ts';
import { createApp, routes } from '../../routes.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}
interface Described {
  readonly parameters?: readonly { name: string; in: string }[];
  readonly responses: Readonly<Record<string, { content: Readonly<Record<string, { schema: object }>> }>>;
}

function setUp(daemon = busyAfternoon()) {
  const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
  const app = createApp(daemon, metrics);
  const table = routes(daemon, metrics, { access: createAccess(null, daemon), webhookSecret: null });
  return { daemon, app, table };
}

let document: Document;
let ajv: Ajv2020;
beforeAll(async () => {
  document = (await (await setUp(createFakeDaemon()).app.request('/api/v2/openapi.json')).json()) as Document;
  ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, 'api');
});

const PAGES = /^\/(?:$|runs|issues|statistics|history|login|session|logout|assets)/;

describe('GET /api/v2/openapi.json', () => {
  it('describes every route that is no page, and no other', () => {
    const { paths } = document;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = setUp()
      .table.filter(({ path }) => !PAGES.test(path))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`);
    expect(described.sort()).toEqual(served.sort());
  });

  it.each([
    ['get', '/livez', '/livez', 200],
    ['get', '/readyz', '/readyz', 200],
    ['get', '/api/v1/state', '/api/v1/state', 200],
    ['post', '/api/v1/refresh', '/api/v1/refresh', 202],
    ['get', '/api/v1/{identifier}', '/api/v1/SHOP-412', 200],
    ['get', '/api/v1/{identifier}', '/api/v1/SHOP-377', 200],
    ['get', '/api/v1/{identifier}', '/api/v1/none', 404],
    ['get', '/api/v2/runs', '/api/v2/runs?limit=2', 200],
    ['get', '/api/v2/runs', '/api/v2/runs?limit=x', 400],
    ['get', '/api/v2/runs/{id}', '/api/v2/runs/r-31', 200],
    ['get', '/api/v2/runs/{id}', '/api/v2/runs/none', 404],
    ['get', '/api/v2/issues/{identifier}', '/api/v2/issues/SHOP-412', 200],
    ['get', '/api/v2/issues/{identifier}', '/api/v2/issues/SHOP-377', 200],
    ['get', '/api/v2/issues/{identifier}', '/api/v2/issues/shop-351', 200],
    ['get', '/api/v2/issues/{identifier}', '/api/v2/issues/SHOP-433', 200],
    ['get', '/api/v2/issues/{identifier}', '/api/v2/issues/SHOP-389', 200],
    ['get', '/api/v2/issues/{identifier}', '/api/v2/issues/SHOP-370', 200],
    ['get', '/api/v2/issues/{identifier}', '/api/v2/issues/none', 404],
    ['post', '/api/v2/issues/{identifier}/stop', '/api/v2/issues/SHOP-412/stop', 202],
    ['post', '/api/v2/issues/{identifier}/retry', '/api/v2/issues/SHOP-377/retry', 202],
    ['post', '/api/v2/issues/{identifier}/unpark', '/api/v2/issues/SHOP-351/unpark', 202],
    ['post', '/api/v2/pause', '/api/v2/pause', 202],
    ['post', '/api/v2/resume', '/api/v2/resume', 202],
    ['get', '/api/v2/parked', '/api/v2/parked', 200],
    ['get', '/api/v2/holds', '/api/v2/holds', 200],
    ['get', '/api/v2/merge-requests', '/api/v2/merge-requests', 200],
    ['get', '/api/v2/workers', '/api/v2/workers', 200],
    ['get', '/api/v2/notifications', '/api/v2/notifications', 200],
    ['get', '/api/v2/workflow', '/api/v2/workflow', 200],
    ['get', '/api/v2/statistics', '/api/v2/statistics?by=agent', 200],
    ['get', '/api/v2/statistics', '/api/v2/statistics?by=weather', 400],
    ['post', '/hooks/{kind}', '/hooks/github', 404],
  ] as const)('%s %s answers as described (%s, %i)', async (method, template, path, status) => {
    const response = await setUp().app.request(path, { method: method.toUpperCase() });
    expect(response.status).toBe(status);
    expect(Object.keys(document.paths[template]?.[method]?.responses ?? {})).toContain(String(status));
    const pointer = [template, method, 'responses', String(status), 'content', 'application/json', 'schema']
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .map(encodeURIComponent)
      .join('/');
    const validate = ajv.compile({ $ref: `api#/paths/${pointer}` });
    validate(await response.json());
    expect(validate.errors).toBeNull();
  });

  it.each(['leader', 'standby'] as const)('/readyz of a %s answers as described', async (role) => {
    const leader = { host: 'build-7', pid: 7, url: null, since: NOON, epoch: 3 };
    for (const view of [
      { role, leader },
      { role, leader: null },
    ]) {
      const daemon = { ...createFakeDaemon(), leader: () => view };
      const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
      const validate = ajv.compile({ $ref: 'api#/paths/~1readyz/get/responses/200/content/application~1json/schema' });
      validate(await (await createApp(daemon, metrics).request('/readyz')).json());
      expect(validate.errors).toBeNull();
    }
  });

  it('POST /api/v2/pause takes what it is described to take', async () => {
    const validate = ajv.compile({ $ref: 'api#/paths/~1api~1v2~1pause/post/requestBody/content/application~1json/schema' });
    for (const body of [{}, { reason: 'release day' }, { reason: 'release day', ticket: 'OPS-1' }, { reason: 5 }, [], null]) {
      const { status } = await setUp().app.request('/api/v2/pause', { method: 'POST', body: JSON.stringify(body) });
      expect(validate(body), JSON.stringify(body)).toBe(status === 202);
    }
  });

  it('names the query parameters that are read', () => {
    const { paths } = document;
    const names = (paths['/api/v2/runs']?.['get']?.parameters ?? []).map(({ name }) => name);
    expect(names).toEqual(['identifier', 'limit', 'before', 'cursor']);
  });
});

describe('what operators ask for over HTTP', () => {
  const post = (path: string, daemon = createFakeDaemon(), init: RequestInit = {}) =>
    setUp(daemon).app.request(path, { method: 'POST', ...init }, { address: '10.0.0.7' });

  it('is passed on with who asked, and answered with what was asked', async () => {
    const daemon = createFakeDaemon({ current: aSnapshot({ running: [aRunning('a/b#1')], retrying: [aRetry('X-2')] }) });
    const response = await post('/api/v2/issues/a%2Fb%231/stop', daemon);
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({
      requested: 'stop',
      issue_identifier: 'a/b#1',
      by: '10.0.0.7',
      message: 'Done.',
    });
    expect(daemon.asked).toEqual([{ request: { kind: 'stop', identifier: 'a/b#1' }, by: '10.0.0.7' }]);
  });

  it.each([
    ['refused', 409, 'not_possible_now'],
    ['unknown', 404, 'issue_not_found'],
  ] as const)('%s is %i', async (outcome, status, code) => {
    const daemon = createFakeDaemon();
    daemon.answer = { outcome, message: 'X-1 is not parked' };
    const response = await post('/api/v2/issues/X-1/unpark', daemon);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: { code, message: 'X-1 is not parked.' } });
  });

  it('is 409 while the service stops', async () => {
    const daemon = createFakeDaemon();
    daemon.draining = true;
    for (const path of ['/api/v2/pause', '/api/v2/resume', '/api/v2/issues/X-1/retry']) {
      expect((await post(path, daemon)).status).toBe(409);
    }
    expect(daemon.asked).toEqual([]);
  });

  it('a pause may give a reason', async () => {
    const daemon = createFakeDaemon();
    expect((await post('/api/v2/pause', daemon, { body: '{"reason":" release day "}' })).status).toBe(202);
    expect((await post('/api/v2/pause', daemon)).status).toBe(202);
    expect(daemon.asked.map(({ request }) => request)).toEqual([
      { kind: 'pause', reason: 'release day' },
      { kind: 'pause', reason: '' },
    ]);
    for (const body of ['{', '[]x', '{"reason":5}', 'reason=x', 'null']) {
      expect((await post('/api/v2/pause', daemon, { body })).status, body).toBe(400);
    }
  });

  it('is refused from another origin', async () => {
    const daemon = createFakeDaemon();
    const foreign = [
      ['origin', 'http://evil.example'],
      ['sec-fetch-site', 'cross-site'],
      ['origin', 'null'],
    ] as const;
    for (const [name, value] of foreign) {
      expect((await post('/api/v2/pause', daemon, { headers: { [name]: value } })).status).toBe(403);
    }
    expect(daemon.asked).toEqual([]);
  });
});

it('GET /api/v2/issues/{identifier} knows an issue by its runs alone', async () => {
  const run = aRun('r-9', { issue: anIssue('OLD-9'), startedAt: NOON });
  const { app } = setUp(createFakeDaemon({ runs: [run] }));
  expect(await (await app.request('/api/v2/issues/OLD-9')).json()).toMatchObject({ place: 'handed_off', runs: [{ id: 'r-9' }] });
});

it.each([
  ['succeeded', { name: 'handoff:transition:succeeded', facts: { issue: anIssue('OLD-9'), state: 'review' } }, 'handed_off'],
  [
    'was skipped',
    { name: 'handoff:transition:skipped', facts: { issue: anIssue('OLD-9'), state: 'review', reason: 'it moved' } },
    'not_running',
  ],
  [
    'was skipped, for the issue was there already',
    {
      name: 'handoff:transition:skipped',
      facts: { issue: { ...anIssue('OLD-9'), state: 'Review' }, state: 'review', reason: 'it moved' },
    },
    'handed_off',
  ],
] as const)('GET /api/v2/issues/{identifier} knows whether the handoff %s', async (_name, notice, place) => {
  const daemon = createFakeDaemon({ runs: [aRun('r-9', { issue: anIssue('OLD-9'), startedAt: NOON })] });
  const { app } = setUp(daemon);
  daemon.notices.announce(notice);
  expect(await (await app.request('/api/v2/issues/OLD-9')).json()).toMatchObject({ place });
});
