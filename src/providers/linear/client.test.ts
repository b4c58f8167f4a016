import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { bodyOf, depsWith, failureOf, never } from '../../../test/fakes/linear/connect.ts';
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
import { createClient } from './client.ts';
import { VIEWER } from './operations.ts';

const KEY = 'lin_api_0123456789';
const GOOD = { data: { viewer: { id: 'u1' } } };

const running: TestServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function connect(handler: Handler, path = '/graphql') {
  const server = await startServer(handler);
  running.push(server);
  const { deps, records } = depsWith();
  const client = createClient({ baseUrl: `${server.url}${path}`, apiKey: KEY, userAgent: null }, deps);
  return { server, client, records, run: () => client.run(VIEWER, { a: 1 }, never) };
}

describe('linear request', () => {
  it('is one POST of a document with variables and the fixed headers, the key verbatim', async () => {
    const { server, run } = await connect(() => json(GOOD));
    expect(await run()).toEqual(GOOD.data);
    const [request] = server.requests;
    expect([request?.method, request?.path]).toEqual(['POST', '/graphql']);
    expect(request?.headers).toMatchObject({
      authorization: KEY,
      'content-type': 'application/json',
      'user-agent': 'svc/1.2.3',
    });
    expect(bodyOf(request)).toEqual({ query: VIEWER.text, variables: { a: 1 } });
  });

  it.each([
    ['', '/', ''],
    ['/', '/', ''],
    ['/a/graphql?tenant=x', '/a/graphql', 'tenant=x'],
  ])('goes to the address as it is: %j', async (given, path, query) => {
    const { server, run } = await connect(() => json({}, 502), given);
    expect((await failureOf(run())).message).toMatch(`tracker: tracker_transport_error: POST ${path}: status 502`);
    expect([server.requests[0]?.path, server.requests[0]?.query.toString()]).toEqual([path, query]);
  });
});

describe('linear status table, where the body holds no errors', () => {
  it.each<[number, TrackerErrorKind, boolean]>([
    [400, 'tracker_payload_error', false],
    [401, 'tracker_auth_error', false],
    [403, 'tracker_auth_error', false],
    [429, 'tracker_api_error', true],
    [500, 'tracker_transport_error', true],
    [503, 'tracker_transport_error', true],
    [599, 'tracker_transport_error', true],
    [404, 'tracker_api_error', true],
    [409, 'tracker_api_error', true],
    [422, 'tracker_api_error', true],
    [301, 'tracker_api_error', true],
  ])('%i gives %s', async (status, kind, retryable) => {
    for (const reply of [json({ message: 'no luck' }, status), text('no luck', status), json({ errors: [] }, status)]) {
      const { run } = await connect(() => reply);
      const error = await failureOf(run());
      expect(error).toMatchObject({ kind, retryable, status });
      expect(error.message).toContain(`tracker: ${kind}: POST /graphql: status ${status}`);
    }
  });

  it.each<[string, () => Reply, TrackerErrorKind]>([
    ['a connection that ends before the answer', reset, 'tracker_transport_error'],
    ['a connection that ends in the answer', resetMidBody, 'tracker_transport_error'],
    ['truncated JSON', truncatedJson, 'tracker_payload_error'],
    ['an HTML page with 200', () => text('<html>Sign in</html>', 200, { 'content-type': 'text/html' }), 'tracker_payload_error'],
    ['an HTML page with 502', () => text('<html>Bad gateway</html>', 502), 'tracker_transport_error'],
    ['an empty 200', () => text('', 200), 'tracker_payload_error'],
    ['no data', () => json({}), 'tracker_payload_error'],
    ['null data', () => json({ data: null }), 'tracker_payload_error'],
    ['data of another shape', () => json({ data: { viewer: null } }), 'tracker_payload_error'],
    ['a list', () => json([]), 'tracker_payload_error'],
    ['10 MB that are no JSON', () => hugeBody(10 * 1024 * 1024), 'tracker_payload_error'],
    ['10 MB with an error', () => hugeBody(10 * 1024 * 1024, 500), 'tracker_transport_error'],
    ['a redirect to another host', () => text('', 307, { location: 'http://localhost:1/x' }), 'tracker_api_error'],
  ])('%s', async (_, reply, kind) => {
    const { run } = await connect(() => reply());
    expect((await failureOf(run())).kind).toBe(kind);
  });

  it('a host that cannot be reached is a transport error', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1/graphql', apiKey: KEY, userAgent: null }, depsWith().deps);
    expect((await failureOf(client.run(VIEWER, {}, never))).kind).toBe('tracker_transport_error');
  });

  it('429 tells Retry-After where there is one', async () => {
    const replies = [json({}, 429, { 'retry-after': '7' }), json({}, 429)];
    const { run, records } = await connect(() => replies.shift());
    expect(await failureOf(run())).toMatchObject({ kind: 'tracker_api_error', retryAfterMs: 7000 });
    expect((await failureOf(run())).retryAfterMs).toBeUndefined();
    expect(records).toHaveLength(2);
  });

  it('an abort ends the request in flight with its reason', async () => {
    const { server, client } = await connect(() => hang());
    const controller = new AbortController();
    const ended = expect(client.run(VIEWER, {}, controller.signal)).rejects.toThrow('enough');
    await server.arrived(1);
    controller.abort(new Error('enough'));
    await ended;
  });
});

describe('linear errors in the body come before the status', () => {
  const forbidden = { message: 'dev', extensions: { type: 'forbidden', userPresentableMessage: 'You may not.' } };

  it.each([200, 400, 401, 429, 500])('with status %i', async (status) => {
    const { run } = await connect(() => json({ data: GOOD.data, errors: [forbidden] }, status));
    const error = await failureOf(run());
    expect(error.message).toBe('tracker: tracker_auth_error: POST /graphql: You may not.');
    expect(error).toMatchObject({ retryable: false, status });
  });

  it('also when the body is far longer than what is shown of it', async () => {
    const { run } = await connect(() => json({ errors: [{ ...forbidden, stack: 'x'.repeat(20_000) }] }, 400));
    expect((await failureOf(run())).kind).toBe('tracker_auth_error');
  });

  it('a key in the answer is not shown', async () => {
    const { run } = await connect(() => json({ errors: [{ message: `bad key ${KEY}` }] }));
    expect((await failureOf(run())).message).not.toContain(KEY);
  });
});

describe('linear pages', () => {
  const NODE = z.object({ id: z.number() });
  const page = (ids: unknown[], hasNextPage: boolean, endCursor?: string | null) => ({
    nodes: ids.map((id) => ({ id })),
    pageInfo: { hasNextPage, endCursor },
  });

  it('are read until there is none, each by the cursor of the last', async () => {
    const { client } = await connect(() => undefined);
    const cursors: (string | null)[] = [];
    const pages = [page([1, 2], true, 'a'), page([], true, 'b'), page([3], false, 'c')];
    const read = await client.readAll('things', NODE, async (after) => {
      cursors.push(after);
      return pages.shift()!;
    });
    expect(read).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(cursors).toEqual([null, 'a', 'b']);
  });

  it.each([
    ['absent', undefined],
    ['null', null],
    ['empty', ''],
  ])('a next page with an end cursor that is %s is tracker_missing_end_cursor', async (_, cursor) => {
    const { client } = await connect(() => undefined);
    const error = await failureOf(client.readAll('things', NODE, async () => page([1], true, cursor)));
    expect(error.kind).toBe('tracker_missing_end_cursor');
  });

  it('a cursor that leads back ends at the cap, with a warning', async () => {
    const { client, records } = await connect(() => undefined);
    expect(await client.readAll('things', NODE, async () => page([1], true, 'a'))).toHaveLength(200);
    expect(records).toMatchObject([{ level: 'warn', attributes: { list: 'things', pages: 200 } }]);
  });

  it('an entry that cannot be read loses nothing but itself', async () => {
    const { client, records } = await connect(() => undefined);
    expect(await client.readAll('things', NODE, async () => page([1, 'x', 3], false))).toEqual([{ id: 1 }, { id: 3 }]);
    expect(records).toMatchObject([{ level: 'warn', attributes: { endpoint: 'things', skipped: 1 } }]);
  });

  it('200 pages are the most: a warning, and what was read is returned', async () => {
    const { client, records } = await connect(() => undefined);
    let count = 0;
    const read = await client.readAll('things', NODE, async () => page([(count += 1)], true, `c${count}`));
    expect([read.length, count]).toEqual([200, 200]);
    expect(records).toMatchObject([{ level: 'warn', attributes: { pages: 200, list: 'things' } }]);
  });
});

describe('linear allowance', () => {
  const replyLeft = (headers: Record<string, string>, status = 200) => json(GOOD, status, headers);

  it.each([
    ['requests', 'X-RateLimit-Requests-Remaining'],
    ['complexity', 'X-RateLimit-Complexity-Remaining'],
    ['endpoint requests', 'X-RateLimit-Endpoint-Requests-Remaining'],
  ])('a warning when %s reach zero, once until there are some again', async (allowance, header) => {
    const replies = ['2', '0', '0', '5', '0'].map((left) => replyLeft({ [header]: left }));
    const { run, records } = await connect(() => replies.shift());
    for (let n = 0; n < 5; n += 1) await run();
    expect(records).toMatchObject([
      { level: 'warn', message: 'tracker allowance is used up', attributes: { tracker_kind: 'graphql', allowance } },
      { level: 'warn', attributes: { allowance } },
    ]);
  });

  it('tells when there will be more, and reads failed answers too', async () => {
    const headers = { 'x-ratelimit-requests-remaining': '0', 'x-ratelimit-requests-reset': '1772355600000' };
    const { run, records } = await connect(() =>
      json({ errors: [{ message: 'x', extensions: { code: 'RATELIMITED' } }] }, 400, headers),
    );
    expect((await failureOf(run())).kind).toBe('tracker_api_error');
    expect(records[0]?.attributes.resets_at).toBe('2026-03-01T09:00:00.000Z');
  });

  it.each(['', 'many', '-', 'NaN'])('a header that says %j is no number', async (left) => {
    const { run, records } = await connect(() => replyLeft({ 'x-ratelimit-requests-remaining': left }));
    await run();
    expect(records).toEqual([]);
  });
});
