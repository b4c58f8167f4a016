import { describe, expect, it } from 'vitest';
import { anIssue, aRetry, aRunning, aSnapshot, createFakeDaemon, NOON } from '../../../test/support/fake-daemon.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createApp } from '../routes.ts';

function setUp(current: Snapshot | null = aSnapshot()) {
  const daemon = createFakeDaemon({ current });
  return {
    daemon,
    app: createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    ),
  };
}

async function get(path: string, current?: Snapshot | null) {
  const response = await setUp(current).app.request(path);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const FULL = aRunning('ENG-1', {
  displayIdentifier: 'acme/shop#1',
  state: 'In Progress',
  lastMessage: 'Looking',
  modelName: 'model-x',
  requestsByModel: { 'model-x': 4 },
  toolTimePercent: 12.5,
  apiTimePercent: 0,
});

const FULL_ENTRY = {
  issue_id: 'id-ENG-1',
  issue_identifier: 'ENG-1',
  display_identifier: 'acme/shop#1',
  state: 'In Progress',
  session_id: 'mock-session-1',
  turn_count: 2,
  last_event: 'turn_completed',
  last_message: 'Looking',
  started_at: '2026-03-01T11:58:55.000Z',
  last_event_at: '2026-03-01T11:59:55.000Z',
  workspace_path: '/workspaces/ENG-1',
  tokens: { input_tokens: 1200, output_tokens: 300, total_tokens: 1500, cache_read_tokens: 800 },
  model_name: 'model-x',
  api_request_count: 4,
  requests_by_model: { 'model-x': 4 },
  tool_time_percent: 12.5,
  api_time_percent: 0,
};

const RETRY_ENTRY = {
  issue_id: 'id-ENG-2',
  issue_identifier: 'ENG-2',
  attempt: 1,
  due_at: '2026-03-01T12:00:20.000Z',
  error: 'agent: turn_failed: it did not work',
};

describe('a state that no label carries', () => {
  it('is marked wherever it stands, and no other is', async () => {
    const issue = anIssue('ENG-4', { stateAssumed: true });
    const current = aSnapshot({
      running: [aRunning('ENG-1', { stateAssumed: true }), aRunning('ENG-2')],
      holds: [{ issue, reason: 'no_global_slot', detail: '', since: NOON }],
    });
    const { body } = await get('/api/v1/state', current);
    const [first, second] = body['running'] as Record<string, unknown>[];
    expect(first).toMatchObject({ state: 'todo', state_assumed: true });
    expect(second).not.toHaveProperty('state_assumed');
    expect((await get('/api/v1/ENG-1', current)).body).toMatchObject({ running: { state_assumed: true } });
    expect(JSON.stringify((await get('/api/v2/holds', current)).body)).toContain('"state":"todo","state_assumed":true');
    expect(JSON.stringify((await get('/api/v2/issues/ENG-1', current)).body)).toContain('"state_assumed":true');
  });
});

describe('GET /api/v1/state', () => {
  const snapshot = aSnapshot({
    running: [FULL, aRunning('ENG-3')],
    retrying: [aRetry('ENG-2')],
    totals: {
      tokens: { inputTokens: 10, outputTokens: 2, totalTokens: 12, cacheReadTokens: 4 },
      secondsRunning: 65.5,
      sessions: 2,
      costUsd: 1,
    },
  });

  it('has the fields of the specification, in order', async () => {
    const { status, body } = await get('/api/v1/state', snapshot);
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['generated_at', 'counts', 'running', 'retrying', 'agent_totals', 'rate_limits']);
    expect(body).toMatchObject({
      generated_at: '2026-03-01T12:00:00.000Z',
      counts: { running: 2, retrying: 1 },
      retrying: [RETRY_ENTRY],
      agent_totals: { input_tokens: 10, output_tokens: 2, total_tokens: 12, cache_read_tokens: 4, seconds_running: 65.5 },
      rate_limits: {},
    });
  });

  it('running entry: every field, in order', async () => {
    const { body } = await get('/api/v1/state', snapshot);
    const [entry] = body.running as object[];
    expect(entry).toEqual(FULL_ENTRY);
    expect(Object.keys(entry ?? {})).toEqual(Object.keys(FULL_ENTRY));
  });

  it('running entry: what is unknown is omitted or null', async () => {
    const { body } = await get('/api/v1/state', snapshot);
    const entry = (body.running as object[])[1];
    expect(entry).not.toHaveProperty('model_name');
    expect(entry).not.toHaveProperty('requests_by_model');
    expect(entry).not.toHaveProperty('display_identifier');
    expect(entry).toMatchObject({ last_message: '', tool_time_percent: null, api_time_percent: null });
  });

  it('retry entry: every field, in order, display_identifier where there is one', async () => {
    const { body } = await get(
      '/api/v1/state',
      aSnapshot({ retrying: [aRetry('ENG-2'), aRetry('7', { displayIdentifier: 'a/b#7' })] }),
    );
    const [plain, qualified] = body.retrying as object[];
    expect(Object.keys(plain ?? {})).toEqual(['issue_id', 'issue_identifier', 'attempt', 'due_at', 'error']);
    expect(qualified).toMatchObject({ issue_identifier: '7', display_identifier: 'a/b#7' });
  });

  it('answers while draining', async () => {
    const { app, daemon } = setUp(snapshot);
    daemon.draining = true;
    expect((await app.request('/api/v1/state')).status).toBe(200);
  });

  it.each(['/api/v1/state', '/api/v1/ENG-1', '/api/v2/parked', '/api/v2/holds', '/api/v2/merge-requests'])(
    '%s is 503 snapshot_unavailable without a snapshot',
    async (path) => {
      const { status, body } = await get(path, null);
      expect(status).toBe(503);
      expect(body).toEqual({ error: { code: 'snapshot_unavailable', message: expect.any(String) } });
    },
  );

  it('is 503 when making the snapshot throws', async () => {
    const { app, daemon } = setUp();
    daemon.snapshot = () => {
      throw new Error('boom');
    };
    expect((await app.request('/api/v1/state')).status).toBe(503);
    expect(daemon.logged).toContainEqual({ level: 'error', message: 'snapshot failed', attributes: { error: 'Error: boom' } });
  });
});

describe('GET /api/v1/{identifier}', () => {
  it('a running issue', async () => {
    const { status, body } = await get('/api/v1/ENG-1', aSnapshot({ running: [FULL] }));
    expect(status).toBe(200);
    const expected = {
      issue_identifier: 'ENG-1',
      display_identifier: 'acme/shop#1',
      issue_id: 'id-ENG-1',
      status: 'running',
      workspace: { path: '/workspaces/ENG-1' },
      attempts: { restart_count: 0, current_retry_attempt: 0 },
      running: FULL_ENTRY,
      retry: null,
      recent_events: [],
      last_error: null,
      tracked: {},
    };
    expect(body).toEqual(expected);
    expect(Object.keys(body)).toEqual(Object.keys(expected));
  });

  it('a retrying issue', async () => {
    const { body } = await get('/api/v1/ENG-2', aSnapshot({ retrying: [aRetry('ENG-2', { attempt: 3 })] }));
    expect(body).toEqual({
      issue_identifier: 'ENG-2',
      issue_id: 'id-ENG-2',
      status: 'retrying',
      workspace: null,
      attempts: { restart_count: 2, current_retry_attempt: 3 },
      running: null,
      retry: { ...RETRY_ENTRY, attempt: 3 },
      recent_events: [],
      last_error: 'agent: turn_failed: it did not work',
      tracked: {},
    });
  });

  it.each([
    [0, { restart_count: 0, current_retry_attempt: 0 }],
    [1, { restart_count: 0, current_retry_attempt: 1 }],
    [4, { restart_count: 3, current_retry_attempt: 4 }],
  ])('attempts of a running issue at attempt %i', async (attempt, expected) => {
    const { body } = await get('/api/v1/ENG-1', aSnapshot({ running: [aRunning('ENG-1', { attempt })] }));
    expect(body.attempts).toEqual(expected);
  });

  it('workspace is null while its path is unknown', async () => {
    const { body } = await get('/api/v1/ENG-1', aSnapshot({ running: [aRunning('ENG-1', { workspacePath: '' })] }));
    expect(body.workspace).toBeNull();
  });

  it('last_error is null for a retry without an error', async () => {
    const { body } = await get('/api/v1/ENG-2', aSnapshot({ retrying: [aRetry('ENG-2', { error: '' })] }));
    expect(body).toMatchObject({ last_error: null, retry: { error: '' } });
  });

  it.each([
    'ENG-1',
    'group/project#7',
    '#12',
    'Größe 7',
    '日本-1',
    'a?b&c=d',
    '100%',
    '%41',
    'a+b',
    'x;y',
    '"><script>',
    "o'brien",
    'state-1',
  ])('finds %s by its percent-encoded name', async (identifier) => {
    const { status, body } = await get(
      `/api/v1/${encodeURIComponent(identifier)}`,
      aSnapshot({ running: [aRunning(identifier)] }),
    );
    expect(status).toBe(200);
    expect(body.issue_identifier).toBe(identifier);
  });

  it('finds an issue by its exact spelling alone', async () => {
    const snapshot = aSnapshot({ running: [aRunning('eng-1')], retrying: [aRetry('ENG-1')] });
    expect((await get('/api/v1/ENG-1', snapshot)).body).toMatchObject({ issue_identifier: 'ENG-1', status: 'retrying' });
    expect((await get('/api/v1/eng-1', snapshot)).body).toMatchObject({ issue_identifier: 'eng-1', status: 'running' });
    expect((await get('/api/v1/Eng-1', snapshot)).body).toMatchObject({ error: { code: 'issue_not_found' } });
  });

  it.each(['GONE-1', 'id-ENG-1', '%zz', 'constructor'])('%s is 404 issue_not_found', async (path) => {
    const { status, body } = await get(`/api/v1/${path}`, aSnapshot({ running: [aRunning('ENG-1')] }));
    expect(status).toBe(404);
    expect(body).toEqual({ error: { code: 'issue_not_found', message: expect.any(String) } });
  });
});

describe('what is kept between two requests', () => {
  it('is neither the time nor what the sessions add up to', async () => {
    const totals = { ...aSnapshot().totals, secondsRunning: 65.5, sessions: 2 };
    const { app, daemon } = setUp(aSnapshot({ running: [FULL, aRunning('ENG-3')], retrying: [aRetry('ENG-2')], totals }));
    const read = async () => (await (await app.request('/api/v1/state')).json()) as Record<string, unknown>;
    expect(await read()).toMatchObject({
      generated_at: '2026-03-01T12:00:00.000Z',
      agent_totals: { seconds_running: 65.5 },
    });
    daemon.now += 250;
    expect(await read()).toMatchObject({
      generated_at: '2026-03-01T12:00:00.250Z',
      counts: { running: 2, retrying: 1 },
      running: [FULL_ENTRY, { issue_identifier: 'ENG-3' }],
      retrying: [RETRY_ENTRY],
      agent_totals: { seconds_running: 66 },
    });
  });

  it('an issue that began since is found at once, and what it says next is told', async () => {
    const { app, daemon } = setUp(aSnapshot({ running: [aRunning('ENG-1')] }));
    const read = async (name: string) => {
      const response = await app.request(`/api/v1/${name}`);
      return { status: response.status, body: (await response.json()) as { running: { last_message: string } | null } };
    };
    expect((await read('ENG-2')).status).toBe(404);
    daemon.current = aSnapshot({ running: [aRunning('ENG-1', { lastMessage: 'Done' }), aRunning('ENG-2')] });
    expect((await read('ENG-2')).status).toBe(200);
    expect((await read('ENG-1')).body.running?.last_message).toBe('Done');
    daemon.current = aSnapshot({ retrying: [aRetry('ENG-1')] });
    await expect.poll(async () => (await read('ENG-1')).body.running).toBeNull();
    await expect.poll(async () => (await read('ENG-2')).status).toBe(404);
  });
});

describe('POST /api/v1/refresh', () => {
  const post = (app: ReturnType<typeof setUp>['app']) => app.request('/api/v1/refresh', { method: 'POST' });

  it('is queued', async () => {
    const response = await post(setUp().app);
    expect(response.status).toBe(202);
    const body = (await response.json()) as object;
    expect(body).toEqual({
      queued: true,
      coalesced: false,
      requested_at: new Date(NOON).toISOString(),
      operations: ['poll', 'reconcile'],
    });
    expect(Object.keys(body)).toEqual(['queued', 'coalesced', 'requested_at', 'operations']);
  });

  it('merges with a pending one', async () => {
    const { app } = setUp();
    await post(app);
    const response = await post(app);
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ queued: true, coalesced: true, operations: ['poll', 'reconcile'] });
  });

  it('a daemon that only says "coalesced" still counts as queued', async () => {
    const { app, daemon } = setUp();
    daemon.requestRefresh = () => ({ queued: false, coalesced: true });
    expect(await (await post(app)).json()).toMatchObject({ queued: true, coalesced: true });
  });

  it('is 409 while draining and asks for nothing', async () => {
    const { app, daemon } = setUp();
    daemon.draining = true;
    const response = await post(app);
    expect(response.status).toBe(409);
    expect(await response.json()).toEqual({
      queued: false,
      coalesced: false,
      requested_at: new Date(NOON).toISOString(),
      operations: [],
    });
    expect(daemon.refreshPending).toBe(false);
  });

  it('is 409 when the daemon refuses', async () => {
    const { app, daemon } = setUp();
    daemon.requestRefresh = () => ({ queued: false, coalesced: false });
    expect((await post(app)).status).toBe(409);
  });
});
