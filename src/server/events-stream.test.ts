import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { anIssue, createFakeDaemon, NOON } from '../../test/support/fake-daemon.ts';
import type { Notice } from '../domain/model/notice.ts';
import { BUFFER_BYTES, STREAM_HEARTBEAT_MS, HINT_EVERY_MS, MAX_STREAMS, type ClientConnection } from './events-stream.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createApp } from './routes.ts';

const HINT = 'event: snapshot-changed\ndata: {"at":"2026-03-01T12:00:00.000Z"}\n\n';
const issue = anIssue('ENG-1');

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

async function open(query = '', connection: ClientConnection = {}) {
  const daemon = createFakeDaemon();
  const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
  metrics.stop();
  const app = createApp(daemon, metrics);
  const others = daemon.listeners();
  const response = await app.request(`/api/v2/events${query}`, {}, connection);
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  const next = async () => {
    const { value, done } = await reader.read();
    return done ? null : decoder.decode(value);
  };
  /** How many streams listen; the pages' own listeners do not count. */
  const streams = () => daemon.listeners() - others;
  return { daemon, streams, response, reader, next };
}

function spoke(text: string): Notice {
  return { name: 'run:agent:spoke', facts: { issue, runId: 'r-1', type: 'message', text } };
}

describe('GET /api/v2/events', () => {
  it('begins with a reconnect time and a first hint', async () => {
    const { response, next } = await open();
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await next()).toBe('retry: 2000\n\n');
    expect(await next()).toBe(HINT);
  });

  it('tells a notice by its name, with its facts in the names of the API', async () => {
    const { daemon, next } = await open('?names=run:agent:spoke,agent:kind:paused');
    await next();
    daemon.notices.announce(spoke('line one\nline two'));
    const text = (await next()) ?? '';
    expect(text).toMatch(/^event: run:agent:spoke\ndata: [^\n]+\n\n$/);
    expect(JSON.parse(text.split('data: ')[1] ?? '')).toEqual({
      at: '2026-03-01T12:00:00.000Z',
      issue: {
        id: 'id-ENG-1',
        identifier: 'ENG-1',
        display_identifier: null,
        title: 'Title of ENG-1',
        url: 'https://tracker.example/ENG-1',
        state: 'todo',
      },
      run_id: 'r-1',
      type: 'message',
      text: 'line one\nline two',
    });
    daemon.notices.announce({ name: 'agent:kind:paused', facts: { agentKind: 'mock', until: NOON, reason: 'limit' } });
    expect(await next()).toContain('"agent_kind":"mock","until":"2026-03-01T12:00:00.000Z"');
  });

  it('tells no more of a title than is shown of it', async () => {
    const { daemon, next } = await open('?names=issue:park:entered');
    await next();
    const issue = anIssue('ENG-1', { title: 'x'.repeat(100_000) });
    daemon.notices.announce({ name: 'issue:park:entered', facts: { issue, reason: 'blocked', detail: '' } });
    expect((await next())?.length).toBeLessThan(1_000);
  });

  it('hints at most four times a second, and once more at the end', async () => {
    const { daemon, next } = await open('?names=snapshot-changed');
    await next();
    expect(await next()).toBe(HINT);
    for (let i = 0; i < 50; i++) daemon.notices.announce(spoke(`${i}`));
    const late = next();
    await vi.advanceTimersByTimeAsync(HINT_EVERY_MS - 1);
    expect(await Promise.race([late, Promise.resolve('nothing yet')])).toBe('nothing yet');
    await vi.advanceTimersByTimeAsync(1);
    expect(await late).toBe(HINT);

    let hints = 0;
    const count = async () => {
      while ((await next()) !== null) hints += 1;
    };
    void count();
    for (let ms = 0; ms < 10_000; ms += 10) {
      daemon.notices.announce(spoke('x'));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(hints).toBeGreaterThanOrEqual(38);
    expect(hints).toBeLessThanOrEqual(41);
  });

  it('names= keeps everything else out', async () => {
    const { daemon, next } = await open('?names=workflow:file:reloaded');
    await next();
    daemon.notices.announce(spoke('x'));
    daemon.notices.announce({ name: 'workflow:file:reloaded', facts: { path: 'W' } });
    expect(await next()).toContain('event: workflow:file:reloaded\n');
  });

  it.each([
    ['spaces and empty ones between them', '?names=agent:kind:resumed,%20,%20workflow:file:reloaded,'],
    ['one beside them that no event has', '?names=agent:kind:resumed,zzz,workflow:file:reloaded'],
    ['names= given more than once', '?names=agent:kind:resumed&names=workflow:file:reloaded'],
  ])('takes all names: %s', async (_, query) => {
    const { daemon, next } = await open(query);
    await next();
    daemon.notices.announce(spoke('x'));
    daemon.notices.announce({ name: 'workflow:file:reloaded', facts: { path: 'W' } });
    expect(await next()).toContain('event: workflow:file:reloaded\n');
    daemon.notices.announce({ name: 'agent:kind:resumed', facts: { agentKind: 'mock' } });
    expect(await next()).toContain('event: agent:kind:resumed\n');
  });

  it.each([
    ['?names=run:worker:exitd', 'There is no event "run:worker:exitd"; did you mean "run:worker:exited"?'],
    ['?names=zzz,toString', 'There is no event "zzz".'],
    ['?names=', 'names must not be empty.'],
    ['?names=%20,', 'names must not be empty.'],
  ])('refuses %s', async (query, message) => {
    const { response, next, streams } = await open(query);
    expect(response.status).toBe(400);
    expect(JSON.parse((await next()) ?? '')).toEqual({ error: { code: 'bad_request', message } });
    expect(streams()).toBe(0);
  });

  it('sends a heartbeat every 15 s', async () => {
    const { next } = await open('?names=workflow:file:reloaded');
    await next();
    for (let i = 0; i < 2; i++) {
      const beat = next();
      await vi.advanceTimersByTimeAsync(STREAM_HEARTBEAT_MS);
      expect(await beat).toBe(': heartbeat\n\n');
    }
    expect(STREAM_HEARTBEAT_MS).toBe(15_000);
  });

  it('lets go of everything when the client leaves', async () => {
    const { streams, reader } = await open();
    expect(streams()).toBe(1);
    await reader.cancel();
    expect(streams()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends when the server stops', async () => {
    const stopping = new AbortController();
    const { streams, next } = await open('?names=workflow:file:reloaded', { stopping: stopping.signal });
    await next();
    stopping.abort();
    expect(await next()).toBeNull();
    expect(streams()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('ends at once when the server has stopped already', async () => {
    const { next, streams } = await open('?names=workflow:file:reloaded', { stopping: AbortSignal.abort() });
    await next();
    expect(await next()).toBeNull();
    expect(streams()).toBe(0);
  });

  it('drops a client that does not read, and holds no more for it than the limit', async () => {
    const { daemon, streams, next } = await open('?names=run:agent:spoke');
    const chunk = 'x'.repeat(64 * 1024);
    let announced = 0;
    while (streams() > 0 && announced < 1000) {
      daemon.notices.announce(spoke(chunk));
      announced += 1;
    }
    expect(streams()).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
    let bytes = 0;
    for (let text = await next(); text !== null; text = await next()) bytes += text.length;
    expect(bytes).toBeLessThanOrEqual(BUFFER_BYTES);
    expect(bytes).toBeGreaterThan(BUFFER_BYTES - 128 * 1024);
  });

  it('opens no more streams than it can hold, and again when one ended', async () => {
    const daemon = createFakeDaemon();
    const metrics = createMetrics(daemon.notices, () => daemon.snapshot());
    const app = createApp(daemon, metrics);
    const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, async () => app.request('/api/v2/events')));
    const refused = await app.request('/api/v2/events');
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toEqual({ error: { code: 'too_many_streams', message: expect.any(String) } });
    await streams[0]?.body?.cancel();
    expect((await app.request('/api/v2/events')).status).toBe(200);
  });

  it('a first poll of 5000 held issues fits', async () => {
    const { daemon, streams } = await open();
    for (let i = 0; i < 5000; i++)
      daemon.notices.announce({ name: 'issue:candidate:held', facts: { issue, reason: 'blocked_by', detail: '' } });
    expect(streams()).toBe(1);
  });
});
