import { describe, expect, it } from 'vitest';
import { createFakeDaemon } from '../../../test/support/fake-daemon.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { createApp } from '../routes.ts';

function setUp() {
  const daemon = createFakeDaemon();
  const app = createApp(
    daemon,
    createMetrics(daemon.notices, () => daemon.snapshot()),
  );
  const post = (path: string, init: RequestInit = {}) => app.request(path, { method: 'POST', ...init });
  return { daemon, app, post };
}

describe.each(['stop', 'retry', 'unpark'] as const)('POST /api/v2/issues/{identifier}/%s', (kind) => {
  const path = `/api/v2/issues/a%2Fb%2316/${kind}`;

  it('is 202 with what was asked, for whom and by whom', async () => {
    const { daemon, post } = setUp();
    const response = await post(path);
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({
      requested: kind,
      issue_identifier: 'a/b#16',
      requested_at: '2026-03-01T12:00:00.000Z',
      by: 'unknown address',
      message: 'Done.',
    });
    expect(daemon.asked).toEqual([{ request: { kind, identifier: 'a/b#16' }, by: 'unknown address' }]);
  });

  it.each([
    ['unknown', 404, 'issue_not_found'],
    ['refused', 409, 'not_possible_now'],
  ] as const)('that is %s is %i', async (outcome, status, code) => {
    const { daemon, post } = setUp();
    daemon.answer = { outcome, message: 'a/b#16 is not parked' };
    const response = await post(path);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: { code, message: 'a/b#16 is not parked.' } });
  });

  it('is 409 while draining, and nobody is asked', async () => {
    const { daemon, post } = setUp();
    daemon.draining = true;
    expect((await post(path)).status).toBe(409);
    expect(daemon.asked).toEqual([]);
  });

  it('is for pages of the same origin and clients without one', async () => {
    const { daemon, post } = setUp();
    expect((await post(path, { headers: { origin: 'http://localhost' } })).status).toBe(202);
    for (const origin of ['http://evil.example', 'null', 'http://localhost:81'])
      expect((await post(path, { headers: { origin } })).status, origin).toBe(403);
    expect((await post(path, { headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(403);
    expect(daemon.asked).toHaveLength(1);
  });

  it('accepts no other method', async () => {
    const response = await setUp().app.request(path);
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });
});

describe('POST /api/v2/pause', () => {
  it.each([
    [undefined, ''],
    ['', ''],
    ['{}', ''],
    ['{"reason":" release day "}', 'release day'],
    [JSON.stringify({ reason: 'x'.repeat(600) }), 'x'.repeat(500)],
  ])('with the body %j has the reason %j', async (body, reason) => {
    const { daemon, post } = setUp();
    const response = await post('/api/v2/pause', { ...(body !== undefined && { body }) });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ requested: 'pause', reason });
    expect(daemon.asked).toMatchObject([{ request: { kind: 'pause', reason } }]);
  });

  it('shows no secret that its reason holds, not even one that is cut in half', async () => {
    const { daemon, post } = setUp();
    const reason = `${'x'.repeat(490)} ${daemon.secret}`;
    const response = await post('/api/v2/pause', { body: JSON.stringify({ reason }) });
    expect(await response.json()).toMatchObject({ reason: `${'x'.repeat(490)} [redacted` });
    expect(JSON.stringify(daemon.asked)).not.toContain(daemon.secret.slice(0, 4));
  });

  it.each(['soon', '{"reason":5}', 'null', '{"reason":'])('refuses the body %s', async (body) => {
    const { daemon, post } = setUp();
    expect((await post('/api/v2/pause', { body })).status).toBe(400);
    expect(daemon.asked).toEqual([]);
  });

  it('refuses a long body, with and without a length', async () => {
    const { post } = setUp();
    const body = JSON.stringify({ reason: 'x'.repeat(20_000) });
    expect((await post('/api/v2/pause', { body })).status).toBe(413);
    const streamed = await post('/api/v2/pause', { body: new Blob([body]).stream(), duplex: 'half' } as RequestInit);
    expect(streamed.status).toBe(413);
  });
});

it('POST /api/v2/resume asks for it', async () => {
  const { daemon, post } = setUp();
  expect((await post('/api/v2/resume')).status).toBe(202);
  expect(daemon.asked).toMatchObject([{ request: { kind: 'resume' } }]);
});
