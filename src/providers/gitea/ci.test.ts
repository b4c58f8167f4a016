import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { openScm } from '../../../test/fakes/gitea/connect-scm.ts';
import { asked, failureOf, never } from '../../../test/fakes/gitea/connect.ts';
import { hang, json, text } from '../../../test/support/http-server.ts';

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeGiteaOptions = {}) {
  const fake = await startFakeGitea(options);
  running.push(fake);
  const { ci, logged } = openScm(fake);
  fake.addPull({ branch: 'feat/x', sha: 'd'.repeat(40) });
  const read = (ref: string, maxLogLines = 50) => ci.readCi({ owner: 'acme', repo: 'app', ref, maxLogLines }, never);
  return { fake, ci, logged, read, sha: 'd'.repeat(40) };
}

describe('gitea CI provider', () => {
  it('reads the combined status by branch, encoded, without asking for the pull request', async () => {
    const { fake, read, sha } = await start();
    fake.status(sha, { context: 'lint', status: 'success', targetUrl: 'https://ci/1' });
    fake.status(sha, { context: 'test', status: 'failure', description: '2 failed', targetUrl: 'https://ci/2' });
    expect(await read('feat/x')).toEqual({
      status: 'failing',
      failingCount: 1,
      checkRuns: [
        { name: 'test', status: 'completed', conclusion: 'failure', detailsUrl: 'https://ci/2' },
        { name: 'lint', status: 'completed', conclusion: 'success', detailsUrl: 'https://ci/1' },
      ],
      logExcerpt: '2 failed\nhttps://ci/2',
      ref: 'feat/x',
    });
    expect(asked(fake)).toEqual(['GET /repos/acme/app/commits/feat%2Fx/status?page=1&limit=50']);
    expect(fake.requests[0]?.headers['user-agent']).toBe('svc/dev');
  });

  it('echoes a SHA as it was given', async () => {
    const { read, sha } = await start();
    expect(await read(sha)).toMatchObject({ ref: sha, status: 'pending', checkRuns: [] });
  });

  it.each([true, false])('a commit without statuses is pending with an empty list (old server: %s)', async (emptyStatusBody) => {
    const { read } = await start({ emptyStatusBody });
    expect(await read('feat/x')).toEqual({ status: 'pending', failingCount: 0, checkRuns: [], logExcerpt: '', ref: 'feat/x' });
  });

  it('reads every page: a failure on the last one counts', async () => {
    const { fake, read, sha } = await start();
    fake.status(sha, { context: 'oldest', status: 'error' });
    for (let n = 0; n < 50; n += 1) fake.status(sha, { context: `job ${n}` });
    expect(await read('feat/x')).toMatchObject({ status: 'failing', failingCount: 1 });
    expect(asked(fake)).toHaveLength(2);
  });

  it.each([true, false])('exactly one full page of statuses (old server: %s)', async (emptyStatusBody) => {
    const { fake, read, sha } = await start({ emptyStatusBody });
    for (let n = 0; n < 50; n += 1) fake.status(sha, { context: `job ${n}` });
    expect((await read('feat/x')).checkRuns).toHaveLength(50);
  });

  it('warns of a status it does not know, once', async () => {
    const { fake, read, sha, logged } = await start();
    fake.status(sha, { context: 'a', status: 'skipped' });
    fake.status(sha, { context: 'b', status: 'Skipped' });
    expect((await read('feat/x')).status).toBe('pending');
    await read('feat/x');
    expect(logged('warn')).toMatchObject([
      { message: 'commit status is not known, it counts as pending', attributes: { status: 'skipped', count: 2 } },
    ]);
  });

  it('statuses may be null, and the state at the top is not believed', async () => {
    const { fake, read } = await start();
    fake.failNext('GET /status', json({ state: 'failure', statuses: null }));
    expect(await read('feat/x')).toMatchObject({ status: 'pending', checkRuns: [] });
    fake.failNext('GET /status', json({ state: 'pending', statuses: [{ status: 'success' }] }));
    expect(await read('feat/x')).toMatchObject({ status: 'success' });
  });

  it.each<[string, number, string]>([
    ['an unknown ref', 404, 'tracker_not_found'],
    ['a server error', 500, 'tracker_transport_error'],
    ['a missing scope', 403, 'tracker_auth_error'],
    ['a conflict is no merge conflict here', 409, 'tracker_api_error'],
  ])('%s', async (_, status, kind) => {
    const { fake, read } = await start();
    fake.failNext('GET /status', json({ message: 'no scope' }, status));
    expect((await failureOf(read('feat/x'))).kind).toBe(kind);
  });

  it('what is no JSON, and a failure in the middle of the pages, are failures', async () => {
    const { fake, read, sha } = await start();
    fake.failNext('GET /status', text('<html>'));
    expect((await failureOf(read('feat/x'))).kind).toBe('tracker_payload_error');
    for (let n = 0; n < 51; n += 1) fake.status(sha, { context: `job ${n}` });
    fake.failNext(({ query }) => query.get('page') === '2', json({ message: 'gone' }, 404));
    expect((await failureOf(read('feat/x'))).kind).toBe('tracker_not_found');
  });

  it.each(['', ' '])('the ref %j is refused before any request', async (ref) => {
    const { fake, read } = await start();
    expect((await failureOf(read(ref))).kind).toBe('tracker_payload_error');
    expect(asked(fake)).toEqual([]);
  });

  it('an abort ends it with its reason', async () => {
    const { fake, ci } = await start();
    fake.failNext('GET /status', hang());
    const controller = new AbortController();
    const pending = ci.readCi({ owner: 'acme', repo: 'app', ref: 'main', maxLogLines: 0 }, controller.signal);
    const ended = expect(pending).rejects.toThrow('stopping');
    await fake.arrived(1);
    controller.abort(new Error('stopping'));
    await ended;
  });
});
