import { afterEach, describe, expect, it } from 'vitest';
import type { Handler, TestServer } from '../../../test/support/http-server.ts';
import { empty, json, startServer } from '../../../test/support/http-server.ts';
import { createHttpClient } from './client.ts';
import type { HttpResponse } from './response.ts';
import { createConditionalCache } from './conditional.ts';

const never = new AbortController().signal;
let server: TestServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

const answer = (body: string, etag: string | null = '"e"', status = 200): HttpResponse => ({
  status,
  headers: new Headers(etag === null ? {} : { etag }),
  url: 'http://x/',
  path: '/',
  body,
  truncated: false,
  json: () => JSON.parse(body) as unknown,
});

async function caching(handler: Handler) {
  server = await startServer(handler);
  const cache = createConditionalCache();
  return { server, cache, client: createHttpClient({ baseUrl: server.url, cache }) };
}

describe('conditional reads', () => {
  it('give the remembered body on 304, with its links and the newer headers', async () => {
    const { server: remote, client } = await caching((request) =>
      request.headers['if-none-match'] === '"v1"'
        ? empty(304, { 'x-ratelimit-remaining': '41' })
        : json([1], 200, { etag: '"v1"', link: '</?page=2>; rel="next"', 'x-ratelimit-remaining': '42' }),
    );
    const first = await client.request({ path: '/', query: { page: 1 } }, never);
    const second = await client.request({ path: '/', query: { page: 1 } }, never);
    expect([first.status, second.status, second.json()]).toEqual([200, 200, [1]]);
    expect([second.headers.get('link'), second.headers.get('x-ratelimit-remaining')]).toEqual(['</?page=2>; rel="next"', '41']);
    expect(remote.requests[1]?.headers['if-none-match']).toBe('"v1"');
    await client.request({ path: '/', query: { page: 2 } }, never);
    expect(remote.requests[2]?.headers['if-none-match']).toBeUndefined();
  });

  it('take the new body when the thing changed', async () => {
    let version = 1;
    const { client } = await caching((request) =>
      request.headers['if-none-match'] === `"v${version}"` ? empty(304) : json(version, 200, { etag: `"v${version}"` }),
    );
    await client.request({ path: '/' }, never);
    version = 2;
    expect((await client.request({ path: '/' }, never)).json()).toBe(2);
    expect((await client.request({ path: '/' }, never)).json()).toBe(2);
  });

  it('leave writes, and requests with headers of their own, alone', async () => {
    const { server: remote, cache, client } = await caching(() => json(1, 200, { etag: '"v1"' }));
    await client.request({ path: '/', method: 'POST', body: {} }, never);
    await client.request({ path: '/', headers: { accept: 'text/plain' } }, never);
    expect(cache.size).toBe(0);
    expect(remote.requests.every((request) => request.headers['if-none-match'] === undefined)).toBe(true);
  });
});

describe('the conditional cache', () => {
  it('drops the least recently used entry first', () => {
    const cache = createConditionalCache({ maxEntries: 2 });
    cache.put('a', answer('1'));
    cache.put('b', answer('2'));
    cache.get('a');
    cache.put('c', answer('3'));
    expect(['a', 'b', 'c'].map((url) => cache.get(url)?.response.body)).toEqual(['1', undefined, '3']);
  });

  it('is bounded by the bytes of all bodies, and takes no body over the bound', () => {
    const cache = createConditionalCache({ maxBytes: 10 });
    cache.put('a', answer('12345'));
    cache.put('b', answer('éé'));
    cache.put('c', answer('12'));
    expect([cache.get('a'), cache.get('b')?.response.body, cache.get('c')?.response.body]).toEqual([undefined, 'éé', '12']);
    cache.put('d', answer('x'.repeat(11)));
    expect([cache.get('d'), cache.size]).toEqual([undefined, 2]);
  });

  it('forgets an address that answers without a tag, in error or cut', () => {
    const cache = createConditionalCache();
    for (const bad of [answer('x', null), answer('x', '"e"', 404), { ...answer('x'), truncated: true }]) {
      cache.put('a', answer('1'));
      cache.put('a', bad);
      expect(cache.get('a')).toBeUndefined();
    }
  });
});
