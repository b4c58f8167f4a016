import { describe, expect, it } from 'vitest';
import {
  empty,
  hang,
  hangMidBody,
  hugeBody,
  json,
  reset,
  resetMidBody,
  router,
  startServer,
  text,
  truncatedJson,
} from './http-server.ts';

describe('test server', () => {
  it('records method, path as sent, query, headers and body', async () => {
    const server = await startServer(() => json({ ok: true }, 201, { etag: '"1"' }));
    const answer = await fetch(`${server.url}/a%2Fb/c?x=1&x=2`, { method: 'POST', body: '{"n":1}', headers: { 'x-one': 'two' } });
    expect([answer.status, answer.headers.get('etag'), await answer.json()]).toEqual([201, '"1"', { ok: true }]);
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/a%2Fb/c', body: '{"n":1}' });
    expect(request?.query.getAll('x')).toEqual(['1', '2']);
    expect(request?.headers['x-one']).toBe('two');
    expect(request?.json()).toEqual({ n: 1 });
    await server.close();
  });

  it('answers an unexpected request with 599 and throws about it when closed', async () => {
    const server = await startServer();
    expect((await fetch(`${server.url}/what?x=1`)).status).toBe(599);
    await expect(server.close()).rejects.toThrow('unexpected request: GET /what?x=1');
  });

  it('reports a handler that throws', async () => {
    const server = await startServer(() => {
      throw new Error('oops');
    });
    expect((await fetch(server.url)).status).toBe(599);
    await expect(server.close()).rejects.toThrow('handler threw on GET /: Error: oops');
  });

  it('routes by method and path, one segment per parameter', async () => {
    const server = await startServer(
      router({
        'GET /projects/:id/issues': (_, { id }) => json({ list: id }),
        'GET /projects/:id/issues/:iid': (_, { id, iid }) => json({ id, iid }),
        'DELETE /projects/:id': () => empty(),
      }),
    );
    expect(await (await fetch(`${server.url}/projects/a%2Fb/issues`)).json()).toEqual({ list: 'a/b' });
    expect(await (await fetch(`${server.url}/projects/1/issues/7`)).json()).toEqual({ id: '1', iid: '7' });
    expect((await fetch(`${server.url}/projects/1`, { method: 'DELETE' })).status).toBe(204);
    await server.close();
  });

  it('breaks in the documented ways', async () => {
    const replies = [reset(), resetMidBody(), truncatedJson(), hugeBody(200_000), text('plain', 418)];
    const server = await startServer(() => replies.shift());
    await expect(fetch(server.url)).rejects.toThrow();
    await expect(fetch(server.url).then((answer) => answer.text())).rejects.toThrow();
    await expect(fetch(server.url).then((answer) => answer.json())).rejects.toThrow(SyntaxError);
    expect(await (await fetch(server.url)).text()).toHaveLength(200_000);
    expect(await (await fetch(server.url)).text()).toBe('plain');
    await server.close();
  });

  it('lets a test act while a request hangs, and tells when the client gave up', async () => {
    for (const reply of [hang(), hangMidBody()]) {
      const server = await startServer(() => reply);
      const controller = new AbortController();
      const pending = fetch(server.url, { signal: controller.signal }).then((answer) => answer.text());
      const failed = expect(pending).rejects.toThrow();
      await server.arrived(1);
      controller.abort();
      await failed;
      await server.requests[0]?.over;
      await server.close();
    }
  });
});
