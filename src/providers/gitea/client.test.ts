import { afterEach, describe, expect, it } from 'vitest';
import { depsWith, failureOf, never } from '../../../test/fakes/gitea/connect.ts';
import type { Handler, Reply, TestServer } from '../../../test/support/http-server.ts';
import {
  hang,
  hugeBody,
  json,
  reset,
  resetMidBody,
  startServer,
  text,
  truncatedJson,
} from '../../../test/support/http-server.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { createClient, issuePath } from './client.ts';
import { ISSUE } from './schema.ts';

const TOKEN = '0123456789abcdef0123456789abcdef01234567';
const repository = { owner: 'acme', repo: 'app' };

const running: TestServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function connect(handler: Handler, now: () => number = Date.now) {
  const server = await startServer(handler);
  running.push(server);
  const { deps, records } = depsWith(now);
  const http = createClient({ baseUrl: `${server.url}/api/v1`, apiKey: TOKEN, userAgent: null }, deps);
  const read = () => http.getJson(ISSUE, { path: '/repos/acme/app/issues/7' }, never);
  return { server, http, records, read };
}

describe('gitea headers', () => {
  it('are the fixed ones, Content-Type only with a body', async () => {
    const { server, http } = await connect(() => json({ number: 7 }));
    await http.getJson(ISSUE, { path: '/x' }, never);
    await http.sendJson('POST', ISSUE, { path: '/x', body: { a: 1 } }, never);
    const [get, post] = server.requests;
    const fixed = { authorization: `token ${TOKEN}`, accept: 'application/json', 'user-agent': 'svc/1.2.3' };
    expect(get?.headers).toMatchObject(fixed);
    expect(get?.headers['content-type']).toBeUndefined();
    expect(post?.headers).toMatchObject({ ...fixed, 'content-type': 'application/json' });
    expect(get?.path).toBe('/api/v1/x');
  });
});

describe('gitea error table', () => {
  it.each<[number, TrackerErrorKind, boolean]>([
    [400, 'tracker_payload_error', false],
    [401, 'tracker_auth_error', false],
    [403, 'tracker_auth_error', false],
    [404, 'tracker_not_found', false],
    [405, 'tracker_api_error', false],
    [409, 'tracker_api_error', true],
    [410, 'tracker_api_error', true],
    [412, 'tracker_payload_error', false],
    [414, 'tracker_api_error', true],
    [418, 'tracker_api_error', true],
    [422, 'tracker_payload_error', false],
    [423, 'tracker_api_error', false],
    [429, 'tracker_api_error', true],
    [500, 'tracker_transport_error', true],
    [502, 'tracker_transport_error', true],
    [503, 'tracker_transport_error', true],
    [599, 'tracker_transport_error', true],
    [304, 'tracker_api_error', true],
  ])('status %i gives %s', async (status, kind, retryable) => {
    const { read } = await connect(() =>
      status === 304 ? text('', 304) : json({ message: 'no luck', url: 'https://h/api/swagger' }, status),
    );
    const error = await failureOf(read());
    expect(error).toMatchObject({ kind, retryable, status });
    if (status !== 304) {
      expect(error.message).toBe(`tracker: ${kind}: GET /api/v1/repos/acme/app/issues/7: status ${status}: no luck`);
    }
  });

  it.each<[string, () => Reply, TrackerErrorKind]>([
    ['a connection that ends before the answer', reset, 'tracker_transport_error'],
    ['a connection that ends in the answer', resetMidBody, 'tracker_transport_error'],
    ['truncated JSON', truncatedJson, 'tracker_payload_error'],
    ['an HTML page with 200', () => text('<html>Sign in</html>', 200, { 'content-type': 'text/html' }), 'tracker_payload_error'],
    ['an empty 200', () => text('', 200), 'tracker_payload_error'],
    ['a list where an issue should be', () => json([]), 'tracker_payload_error'],
    ['an issue without a number', () => json({ title: 'x' }), 'tracker_payload_error'],
    ['null', () => json(null), 'tracker_payload_error'],
    ['10 MB that are no JSON', () => hugeBody(10 * 1024 * 1024), 'tracker_payload_error'],
    ['10 MB with an error', () => hugeBody(10 * 1024 * 1024, 500), 'tracker_transport_error'],
    ['a redirect to another host', () => text('', 302, { location: 'http://localhost:1/x' }), 'tracker_api_error'],
  ])('%s', async (_, reply, kind) => {
    const { read } = await connect(() => reply());
    expect((await failureOf(read())).kind).toBe(kind);
  });

  it('a host that cannot be reached is a transport error', async () => {
    const { deps } = depsWith();
    const http = createClient({ baseUrl: 'http://127.0.0.1:1/api/v1', apiKey: TOKEN, userAgent: null }, deps);
    expect((await failureOf(http.getJson(ISSUE, { path: '/user' }, never))).kind).toBe('tracker_transport_error');
  });

  it('shows a body that is not the documented one as it is, at most 512 bytes, and never the token', async () => {
    const { read } = await connect(() => text(`<h1>Bad gateway</h1> ${TOKEN} ${'x'.repeat(2000)}`, 502));
    const { detail } = await failureOf(read());
    expect(detail).toContain('<h1>Bad gateway</h1>');
    expect(detail).not.toContain(TOKEN);
    expect(detail.length).toBeLessThan(560);
  });

  it('an abort ends the request in flight with its reason', async () => {
    const { server, http } = await connect(() => hang());
    const controller = new AbortController();
    const pending = http.getJson(ISSUE, { path: '/x' }, controller.signal);
    const ended = expect(pending).rejects.toThrow('enough');
    await server.arrived(1);
    controller.abort(new Error('enough'));
    await ended;
  });
});

describe('gitea throttling', () => {
  it('429 with Retry-After: nothing is sent until the time has passed', async () => {
    let now = 1_000_000;
    const replies = [json({ message: 'slow down' }, 429, { 'retry-after': '7' }), json({ number: 7 })];
    const { server, read, records } = await connect(
      () => replies.shift(),
      () => now,
    );
    expect(await failureOf(read())).toMatchObject({ kind: 'tracker_api_error', retryAfterMs: 7000 });
    expect(records[0]).toMatchObject({ level: 'debug', attributes: { retry_after: '7' } });
    now += 6000;
    const early = await failureOf(read());
    expect(early).toMatchObject({ kind: 'tracker_api_error', retryable: true, retryAfterMs: 1000, isLimit: true });
    expect(server.requests).toHaveLength(1);
    now += 1000;
    expect((await read()).number).toBe(7);
  });

  it('429 without Retry-After holds nothing back', async () => {
    const replies = [json({ message: 'slow down' }, 429), json({ number: 7 })];
    const { read } = await connect(() => replies.shift());
    expect((await failureOf(read())).kind).toBe('tracker_api_error');
    expect((await read()).number).toBe(7);
  });

  it('asks again after five minutes, however long it was told to wait', async () => {
    let now = 1_000_000;
    const replies = [json({}, 429, { 'retry-after': '86400' }), json({ number: 7 })];
    const { read } = await connect(
      () => replies.shift(),
      () => now,
    );
    await failureOf(read());
    now += 300_000;
    expect((await read()).number).toBe(7);
  });
});

describe('gitea issue path', () => {
  it('is percent-encoded once', () => {
    expect(issuePath({ owner: 'a b', repo: 'c' }, '7')).toBe('/repos/a%20b/c/issues/7');
  });

  it.each(['', ' ', '0', '07', '-1', '+1', '1.5', '7a', '../8', '1/labels', '9'.repeat(30)])('%j is not found', async (id) => {
    expect((await failureOf(() => issuePath(repository, id))).kind).toBe('tracker_not_found');
  });
});
