import { afterEach, describe, expect, it, vi } from 'vitest';
import { aSnapshot, createFakeDaemon, NOON } from '../../test/support/fake-daemon.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createApp } from './routes.ts';

function setUp() {
  const daemon = createFakeDaemon();
  return {
    daemon,
    app: createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    ),
  };
}

afterEach(() => void vi.useRealTimers());

describe('GET /livez', () => {
  it('passes while serving, also when nothing is ready', async () => {
    const { app, daemon } = setUp();
    daemon.current = null;
    const response = await app.request('/livez');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'pass' });
  });

  it('fails while draining', async () => {
    const { app, daemon } = setUp();
    daemon.draining = true;
    const response = await app.request('/livez');
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ status: 'fail' });
  });
});

describe('GET /readyz', () => {
  it('passes with all three checks', async () => {
    const response = await setUp().app.request('/readyz');
    expect(response.status).toBe(200);
    const body = (await response.json()) as object;
    expect(body).toEqual({
      status: 'pass',
      version: '1.2.3',
      uptime_seconds: 3600,
      checks: { database: 'pass', preflight: 'pass', workflow: 'pass' },
    });
    expect(Object.keys(body)).toEqual(['status', 'version', 'uptime_seconds', 'checks']);
  });

  it.each(['database', 'preflight', 'workflow'] as const)('fails when %s fails, and only that check', async (name) => {
    const { app, daemon } = setUp();
    const all = { database: true, preflight: true, workflow: true };
    daemon.ready = () => Promise.resolve({ ...all, [name]: false });
    const response = await app.request('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: 'fail',
      checks: { database: 'pass', preflight: 'pass', workflow: 'pass', [name]: 'fail' },
    });
  });

  it('fails while draining, with the checks as they are', async () => {
    const { app, daemon } = setUp();
    daemon.draining = true;
    const response = await app.request('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ status: 'fail', checks: { database: 'pass' } });
  });

  it('counts uptime from its own start while there is no snapshot', async () => {
    const { app, daemon } = setUp();
    daemon.current = null;
    daemon.now = NOON + 1500;
    expect(await (await app.request('/readyz')).json()).toMatchObject({ uptime_seconds: 1.5 });
  });

  it('fails when the checks throw', async () => {
    const { app, daemon } = setUp();
    daemon.ready = () => Promise.reject(new Error('no database'));
    const response = await app.request('/readyz');
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ checks: { database: 'fail', preflight: 'fail', workflow: 'fail' } });
  });

  it('fails after five seconds when the checks hang', async () => {
    vi.useFakeTimers();
    const { app, daemon } = setUp();
    daemon.ready = () => new Promise(() => undefined);
    const answer = app.request('/readyz');
    await vi.advanceTimersByTimeAsync(5000);
    expect((await answer).status).toBe(503);
  });

  it('tells of an edit of the workflow file that was not taken, and passes', async () => {
    const daemon = createFakeDaemon();
    daemon.status = { ...daemon.status, rejected: { at: daemon.now, reason: 'error: agent.kind: unknown' } };
    const app = createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    const response = await app.request('/readyz');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: 'pass', workflow_error: 'error: agent.kind: unknown' });
  });

  it('tells of a poll that waits for the quota of the tracker, and passes', async () => {
    const daemon = createFakeDaemon();
    daemon.current = aSnapshot({ postponedPoll: { until: NOON, reason: '12 of 5000 are left' } });
    const app = createApp(
      daemon,
      createMetrics(daemon.notices, () => daemon.snapshot()),
    );
    const response = await app.request('/readyz');
    expect(response.status).toBe(200);
    const poll_postponed = { reason: '12 of 5000 are left', until: '2026-03-01T12:00:00.000Z' };
    expect(await response.json()).toMatchObject({ status: 'pass', poll_postponed });
  });
});
