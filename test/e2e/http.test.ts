import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlayground, eventually, fileWorkflow, type Playground, type RunningDaemon } from '../support/daemon.ts';
import { rawRequest } from '../support/raw-request.ts';

let ground: Playground;
let daemon: RunningDaemon;
beforeAll(async () => {
  ground = await createPlayground();
  await ground.write('WORKFLOW.md', fileWorkflow({ mock: 'turn_delay_ms: 600000\nstop_delay_ms: 4000\nmodel: mock-1' }));
  await ground.writeIssues([{ id: '1', identifier: 'A-1', title: '<b>First</b>', state: 'todo' }]);
  daemon = await ground.start();
  await daemon.record('turn started');
});
afterAll(() => ground.cleanup());

const ROUTES: readonly (readonly [method: string, route: string, status: number, type: string])[] = [
  ['GET', '/', 200, 'text/html'],
  ['GET', '/livez', 200, 'application/json'],
  ['GET', '/readyz', 200, 'application/json'],
  ['GET', '/api/v1/state', 200, 'application/json'],
  ['GET', '/api/v1/A-1', 200, 'application/json'],
  ['GET', '/metrics', 200, 'text/plain'],
  ['POST', '/api/v1/refresh', 202, 'application/json'],
];

describe('while serving', () => {
  it.each(ROUTES)('%s %s answers %d as %s', async (method, route, status, type) => {
    const response = await daemon.get(route, { method });
    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toContain(type);
  });

  it.each(
    ROUTES.flatMap(([method, route]) =>
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND']
        .filter((other) => other !== method)
        .map((other) => [other, route, method] as const),
    ),
  )('%s %s gives 405 and allows %s', async (method, route, allowed) => {
    const { status, headers, body } = await raw(method, route);
    expect(status).toBe(405);
    expect(headers['allow']).toBe(allowed);
    expect(headers['content-type']).toContain('application/json');
    if (method !== 'HEAD') expect(JSON.parse(body)).toMatchObject({ error: { code: 'method_not_allowed' } });
  });

  it('shows the running session with every field of the table', async () => {
    const state = await daemon.json('/api/v1/state');
    expect(Object.keys(state)).toEqual(['generated_at', 'counts', 'running', 'retrying', 'agent_totals', 'rate_limits']);
    expect(state).toMatchObject({ counts: { running: 1, retrying: 0 }, retrying: [], rate_limits: {} });
    const [entry] = state['running'] as Record<string, unknown>[];
    expect(entry).toMatchObject({
      issue_id: '1',
      issue_identifier: 'A-1',
      state: 'todo',
      session_id: 'mock-session-1',
      turn_count: 1,
      workspace_path: ground.path('ws', 'A-1'),
      tokens: { input_tokens: 0, output_tokens: 0, total_tokens: 0, cache_read_tokens: 0 },
      model_name: 'mock-1',
      api_request_count: 0,
      tool_time_percent: null,
      api_time_percent: null,
    });
    expect(entry).not.toHaveProperty('requests_by_model');
  });

  it('knows no other identifier', async () => {
    const response = await daemon.get('/api/v1/NOPE-1');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 'issue_not_found' } });
  });

  it('merges a refresh that is already pending', async () => {
    const three = async (): Promise<readonly { coalesced: boolean }[]> =>
      Promise.all(
        [1, 2, 3].map(
          async () => (await (await daemon.get('/api/v1/refresh', { method: 'POST' })).json()) as { coalesced: boolean },
        ),
      );
    // A poll that begins between two of them has answered the first.
    const answers = await eventually(three, (all) => all.filter(({ coalesced }) => coalesced).length >= 2, 'merged requests');
    expect(answers).toEqual(
      answers.map(() => expect.objectContaining({ queued: true, operations: ['poll', 'reconcile'] }) as unknown),
    );
  });

  it('answers to loopback names only, and to no cross-site post', async () => {
    expect((await raw('GET', '/api/v1/state', { host: 'evil.example' })).status).toBe(403);
    expect((await raw('POST', '/api/v1/refresh', { origin: 'https://evil.example' })).status).toBe(403);
  });

  it('escapes what the tracker says', async () => {
    const page = await (await daemon.get('/')).text();
    expect(page).not.toContain('<b>First</b>');
  });
});

describe('while draining', () => {
  it('answers 503, 503 and 409 until the stubborn agent is gone', async () => {
    daemon.signal('SIGINT');
    await daemon.record('draining');
    const [alive, ready, refresh] = await Promise.all([
      daemon.get('/livez'),
      daemon.get('/readyz'),
      daemon.get('/api/v1/refresh', { method: 'POST' }),
    ]);
    expect([alive.status, ready.status, refresh.status]).toEqual([503, 503, 409]);
    expect(await alive.json()).toEqual({ status: 'fail' });
    expect(await ready.json()).toMatchObject({ status: 'fail' });
    expect(await refresh.json()).toMatchObject({ queued: false, coalesced: false, operations: [] });
    expect((await daemon.exited).code).toBe(0);
  });
});

function raw(method: string, route: string, headers: Record<string, string> = {}) {
  return rawRequest(`${daemon.url}${route}`, { method, headers });
}
