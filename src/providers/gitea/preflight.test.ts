import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { asked, failureOf, never, openTracker } from '../../../test/fakes/gitea/connect.ts';
import { json, reset, text } from '../../../test/support/http-server.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeGiteaOptions = {}, changes: Partial<TrackerSettings> = {}) {
  const fake = await startFakeGitea(options);
  running.push(fake);
  return { fake, ...openTracker(fake, changes) };
}

describe('gitea preflight', () => {
  it('reads the user, then the repository', async () => {
    const { fake, tracker, records } = await start();
    await tracker.preflight?.(never);
    expect(asked(fake)).toEqual(['GET /user', 'GET /repos/acme/app']);
    expect(records).toEqual([]);
  });

  it.each<[string, FakeGiteaOptions, Partial<TrackerSettings>, TrackerErrorKind, string]>([
    ['a bad token', {}, { apiKey: 'wrong' }, 'tracker_auth_error', 'tracker.api_key'],
    ['a token without read:user', { scopes: ['read:repository'] }, {}, 'tracker_auth_error', 'read:user'],
    ['an unknown repository', {}, { project: 'acme/nope' }, 'tracker_not_found', 'tracker.project'],
    ['a token without read:repository', { scopes: ['read:user'] }, {}, 'tracker_auth_error', 'read:repository'],
  ])('%s is refused at once, with the remedy', async (_, options, changes, kind, remedy) => {
    const { tracker, fake } = await start(options, changes);
    const error = await failureOf(tracker.preflight!(never));
    expect(error).toMatchObject({ kind, retryable: false });
    expect(error.detail).toContain(remedy);
    expect(fake.requests.length).toBeLessThanOrEqual(2);
  });

  it('an address without the API is an auth error that names the endpoint', async () => {
    const { fake, tracker } = await start();
    fake.failNext('GET /user', text('404 page not found', 404));
    const error = await failureOf(tracker.preflight!(never));
    expect(error.kind).toBe('tracker_auth_error');
    expect(error.message).toContain('GET /api/v1/user: status 404: 404 page not found; there is no such API at this address');
  });

  it('something else behind the address is a payload error', async () => {
    const { fake, tracker } = await start();
    fake.failNext('GET /user', text('<html>Welcome</html>'));
    expect((await failureOf(tracker.preflight!(never))).kind).toBe('tracker_payload_error');
  });

  it.each([
    ['5xx', () => json({ message: 'starting up' }, 503)],
    ['transport', () => reset()],
    ['429', () => json({}, 429)],
  ])('a passing %s failure is tried again', async (_, reply) => {
    const { fake, tracker } = await start();
    for (let n = 0; n < 3; n += 1) fake.failNext('GET /user', reply());
    for (let n = 0; n < 3; n += 1) fake.failNext('GET /repos/acme/app', reply());
    await tracker.preflight!(never);
    expect(fake.requests).toHaveLength(8);
  });

  it('a failure that stays blocks start-up after a bounded number of tries', async () => {
    const { fake, tracker } = await start();
    for (let n = 0; n < 9; n += 1) fake.failNext('GET /user', json({ message: 'down' }, 502));
    const error = await failureOf(tracker.preflight!(never));
    expect(error).toMatchObject({ kind: 'tracker_transport_error', retryable: true });
    expect(error.detail).toContain('tracker.endpoint');
    expect(fake.requests).toHaveLength(4);
  });

  it('an abort ends it with its reason', async () => {
    const { tracker } = await start();
    const controller = new AbortController();
    controller.abort(new Error('stopping'));
    await expect(tracker.preflight!(controller.signal)).rejects.toThrow('stopping');
  });

  it('warns of an archived repository and of issues switched off', async () => {
    const { fake, tracker, logged } = await start();
    fake.archive();
    await tracker.preflight!(never);
    fake.failNext('GET /repos/acme/app', json({ has_issues: false }));
    await tracker.preflight!(never);
    expect(logged('warn').map(({ message }) => message)).toEqual([
      'repository is archived, the remote will refuse every write',
      'repository has its issues switched off, none can be read',
    ]);
  });
});
