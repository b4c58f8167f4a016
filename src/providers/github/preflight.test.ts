import { describe, expect, it } from 'vitest';
import { asked, connections, failureOf, LIST, searchFor } from '../../../test/fakes/github/connect.ts';
import { hang, json } from '../../../test/support/http-server.ts';

const signal = new AbortController().signal;
const connect = connections();

describe('preflight', () => {
  it('is one read that the first poll then has for nothing', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    await tracker.preflight?.(signal);
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(1);
    expect(asked(fake)).toEqual([LIST]);
    await tracker.fetchCandidateIssues(signal);
    expect(asked(fake)).toEqual([LIST, LIST]);
  });

  it('tries the filter where there is one', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'label:x' });
    await tracker.preflight?.(signal);
    expect(asked(fake)).toEqual([searchFor('state:open label:x')]);
  });

  it.each([
    ['a wrong token', { apiKey: 'wrong-token' }, 'tracker_auth_error', 'check tracker.api_key'],
    ['a wrong repository', { project: 'acme/nothing' }, 'tracker_not_found', 'check tracker.project'],
  ])('ends start-up for %s', async (_, settings, kind, remedy) => {
    const { fake, tracker } = await connect({}, settings);
    const error = await failureOf(tracker.preflight?.(signal) ?? Promise.resolve());
    expect(error.kind).toBe(kind);
    expect(error.message).toContain(remedy);
    expect(fake.requests).toHaveLength(1);
  });

  it('ends start-up for a token that cannot be sent, by its key and without a request', async () => {
    const { fake, tracker } = await connect({}, { apiKey: 'tok\u2028en-of-ours' });
    const error = await failureOf(tracker.preflight?.(signal) ?? Promise.resolve());
    expect(error).toMatchObject({ kind: 'tracker_auth_error', message: expect.stringContaining('tracker.api_key') as string });
    expect(fake.requests).toHaveLength(0);
  });

  it('is patient for a while', async () => {
    const { fake, tracker, warnings } = await connect();
    fake.failNext(/GET/, json({ message: 'Oops' }, 502));
    fake.failNext(/GET/, json({ message: 'Oops' }, 503));
    await tracker.preflight?.(signal);
    expect(fake.requests).toHaveLength(3);
    expect(warnings.map(({ message }) => message)).toEqual(['the tracker cannot be read yet, trying again']);
  });

  it('may fail for a remote that is only away, unless it must answer', async () => {
    const { fake, tracker } = await connect();
    for (let tries = 0; tries < 8; tries += 1) fake.failNext(/GET/, json({ message: 'Oops' }, 502));
    await tracker.preflight?.(signal);
    const error = await failureOf(tracker.preflight?.(signal, { mustAnswer: true }) ?? Promise.resolve());
    expect(error.kind).toBe('tracker_transport_error');
  });

  it('passes on for how long the remote wants to be left alone, and asks no more', async () => {
    const { fake, tracker } = await connect();
    fake.failNext(/GET/, json({ message: 'Slow down' }, 429, { 'retry-after': '3600' }));
    await expect(tracker.preflight?.(signal)).rejects.toMatchObject({ retryable: true, retryAfterMs: 3_600_000 });
    const reset = String(Math.ceil(Date.now() / 1000) + 600);
    fake.failNext(
      /GET/,
      json({ message: 'API rate limit exceeded' }, 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }),
    );
    const used = await tracker.preflight?.(signal).catch((error: unknown) => error as { retryAfterMs: number });
    expect(used?.retryAfterMs).toBeGreaterThan(500_000);
    expect(fake.requests).toHaveLength(2);
  });

  it.each([
    [429, 'Slow down'],
    [403, 'You have exceeded a secondary rate limit.'],
  ])('a limit that names no time is handed on, and not asked again, with status %i', async (status, message) => {
    const { fake, tracker } = await connect();
    fake.failNext(/GET/, json({ message }, status));
    await expect(tracker.preflight?.(signal)).rejects.toMatchObject({ retryable: true, isLimit: true });
    expect(fake.requests).toHaveLength(1);
  });

  it('lets the daemon start when the remote is only away', async () => {
    const { fake, tracker, warnings } = await connect();
    for (let count = 0; count < 3; count += 1) fake.failNext(/GET/, json({ message: 'Oops' }, 503));
    await tracker.preflight?.(signal);
    expect(warnings.map(({ message }) => message)).toEqual([
      'the tracker cannot be read yet, trying again',
      'tracker preflight failed for now, starting all the same',
    ]);
  });

  it.each([
    ['retry-after', 429, { 'retry-after': '90' }],
    ['the end of the window alone', 403, { 'x-ratelimit-remaining': '0' }],
    ['the end of the window alone', 429, { 'x-ratelimit-remaining': '0' }],
  ])('hands on at once what a remote asks for by %s, with status %i', async (_name, status, headers) => {
    const { fake, tracker, warnings } = await connect();
    const reset = String(Math.ceil(Date.now() / 1000) + 90);
    fake.failNext(/GET/, json({ message: 'API rate limit exceeded' }, status, { 'x-ratelimit-reset': reset, ...headers }));
    const error = await failureOf(tracker.preflight?.(signal) ?? Promise.resolve());
    expect(error).toMatchObject({ kind: 'tracker_api_error', retryable: true });
    expect(error.retryAfterMs).toBeGreaterThan(80_000);
    expect(fake.requests).toHaveLength(1);
    expect(warnings).toEqual([]);
  });

  it('ends with the reason of an abort', async () => {
    const { fake, tracker } = await connect();
    fake.failNext(/GET/, hang());
    const controller = new AbortController();
    const running = tracker.preflight?.(controller.signal);
    await fake.arrived(1);
    controller.abort(new Error('stopping'));
    await expect(running).rejects.toThrow('stopping');
  });
});
