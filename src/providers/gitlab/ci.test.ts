import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import type { FakeJob } from '../../../test/fakes/gitlab/merge-store.ts';
import { commitName } from '../../../test/fakes/gitlab/merge-store.ts';
import { openScmSubject } from '../../../test/fakes/gitlab/connect-scm.ts';
import { hang, json, reset, text } from '../../../test/support/http-server.ts';
import type { ScmConnection } from '../../domain/model/settings.ts';

const never = new AbortController().signal;
const HEAD = commitName('head 1');
const ASK = { owner: 'acme/tools', repo: 'rocket', ref: 'feature/1', maxLogLines: 3 };

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeGitlabOptions = {}, over: Partial<ScmConnection> = {}) {
  const fake = await startFakeGitlab(options);
  running.push(fake);
  fake.merges.add();
  const sent = () =>
    fake.requests.map(({ path, query }) => `${path.replace('/api/v4', '')}${query.size > 0 ? `?${query.toString()}` : ''}`);
  return { fake, sent, ...openScmSubject(fake, over) };
}

const PROJECT = '/projects/acme%2Ftools%2Frocket';
const COMMIT = `${PROJECT}/repository/commits/feature%2F1`;

describe('reading the CI of a ref', () => {
  it('resolves the commit, then reads the statuses of its current pipeline', async () => {
    const { fake, ci, sent } = await connect();
    fake.merges.pipeline({ status: 'failed', jobs: [{ status: 'failed' }] }, 1);
    const { id, jobs } = fake.merges.pipeline({ jobs: [{ name: 'lint' }, { name: 'deploy', status: 'manual' }] }, 1);
    const url = `${fake.url}/acme/tools/rocket/-/jobs/${jobs[0]?.id}`;
    expect(await ci.readCi(ASK, never)).toEqual({
      status: 'success',
      failingCount: 0,
      checkRuns: [
        { name: 'lint', status: 'completed', conclusion: 'success', detailsUrl: url },
        { name: 'deploy', status: 'completed', conclusion: 'neutral', detailsUrl: expect.stringContaining('/jobs/') as string },
      ],
      logExcerpt: '',
      ref: 'feature/1',
    });
    expect(sent()).toEqual([COMMIT, `${PROJECT}/repository/commits/${HEAD}/statuses?pipeline_id=${id}&per_page=100`]);
  });

  it('echoes the ref as it was asked for, never the commit', async () => {
    const { fake, ci } = await connect();
    fake.merges.pipeline({ jobs: [{}] }, 1);
    for (const ref of ['feature/1', HEAD, HEAD.slice(0, 8)]) {
      expect(await ci.readCi({ ...ASK, ref }, never)).toMatchObject({ ref, status: 'success' });
    }
  });

  it('a commit without a pipeline: pending with an empty list, and no further request', async () => {
    const { ci, sent } = await connect();
    const none = { status: 'pending', failingCount: 0, checkRuns: [], logExcerpt: '', ref: 'feature/1' };
    expect(await ci.readCi(ASK, never)).toEqual(none);
    expect(sent()).toEqual([COMMIT]);
  });

  it('a pipeline without statuses: pending with an empty list', async () => {
    const { fake, ci } = await connect();
    fake.merges.pipeline({}, 1);
    expect(await ci.readCi(ASK, never)).toMatchObject({ status: 'pending', checkRuns: [] });
  });

  it('reads to exhaustion, and discards entries of other pipelines on every page', async () => {
    const { fake, ci, sent } = await connect({ maxPerPage: 2 });
    const jobs = ['1', '2', '3'].map((name) => ({ name }));
    const { id } = fake.merges.pipeline({ jobs }, 1);
    fake.failNext({ path: /statuses/ }, (response) => {
      response.setHeader(
        'link',
        `<${fake.url}/api/v4${PROJECT}/repository/commits/${HEAD}/statuses?pipeline_id=${id}&per_page=2&page=2>; rel="next"`,
      );
      json([
        { id: 1, name: 'other', status: 'failed', pipeline_id: id - 1 },
        { id: 2, name: 'own', status: 'success', pipeline_id: id },
      ])(response);
    });
    fake.merges.pipeline({ sha: commitName('elsewhere'), jobs: [{ status: 'failed' }] });
    const { status, checkRuns } = await ci.readCi(ASK, never);
    expect(checkRuns.map(({ name }) => name)).toEqual(['own', '3']);
    expect(status).toBe('success');
    expect(sent()).toHaveLength(3);
  });

  it.each<[string, Partial<FakeJob>[], string, number]>([
    ['two failing', [{ status: 'failed' }, { status: 'failed' }, { status: 'running' }], 'failing', 2],
    ['a failure that is allowed', [{ status: 'failed', allowFailure: true }], 'success', 0],
    ['canceled', [{ status: 'success' }, { status: 'canceled' }], 'pending', 0],
    ['running', [{ status: 'success' }, { status: 'running' }], 'pending', 0],
  ])('%s', async (_, jobs, status, failingCount) => {
    const { fake, ci } = await connect();
    fake.merges.pipeline({ jobs }, 1);
    expect(await ci.readCi({ ...ASK, maxLogLines: 0 }, never)).toMatchObject({ status, failingCount });
  });

  it('an unrecognized status is one warning with its value and count', async () => {
    const { fake, ci, warnings } = await connect();
    fake.merges.pipeline({ jobs: [{ status: 'odd' }, { status: 'odd' }, {}] }, 1);
    for (let look = 0; look < 2; look += 1) expect(await ci.readCi(ASK, never)).toMatchObject({ status: 'pending' });
    expect(warnings()).toMatchObject([{ attributes: { status: 'odd', count: 2 } }]);
  });

  it('the configured project wins over the repository of the call', async () => {
    const { fake, ci, sent } = await connect({}, { project: '4711' });
    fake.merges.pipeline({ jobs: [{}] }, 1);
    expect(await ci.readCi({ ...ASK, owner: 'someone', repo: 'else' }, never)).toMatchObject({ status: 'success' });
    expect(sent()[0]).toBe('/projects/4711/repository/commits/feature%2F1');
  });

  it.each([
    ['acme/board', {}, PROJECT],
    ['4711', { projectId: '815' }, PROJECT],
    ['Acme/Tools/Rocket', { projectId: '815' }, '/projects/Acme%2FTools%2FRocket'],
    ['815', { projectId: '815' }, '/projects/815'],
  ])('a request of another project than the configured %s is read from its own', async (project, known, route) => {
    const { fake, ci, sent } = await connect({}, { project });
    fake.failNext({ path: /commits/ }, json({ id: HEAD }));
    await ci.readCi({ ...ASK, ...known }, never);
    expect(sent()).toEqual([`${route}/repository/commits/feature%2F1`]);
  });

  it.each(['', ' ', '\udc00', '..'])('the ref %j is refused before any request', async (ref) => {
    const { ci, sent } = await connect();
    await expect(ci.readCi({ ...ASK, ref }, never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    expect(sent()).toEqual([]);
  });

  it.each([
    ['an unknown ref', /commits\/feature%2F1$/, json({ message: '404 Commit Not Found' }, 404), 'tracker_not_found'],
    ['a commit without a name', /commits\/feature%2F1$/, json({ last_pipeline: { id: 1 } }), 'tracker_payload_error'],
    ['no statuses route', /statuses/, json({ error: '404 Not Found' }, 404), 'tracker_not_found'],
    ['statuses null', /statuses/, json(null), 'tracker_payload_error'],
    ['a status null', /statuses/, json([null]), 'tracker_payload_error'],
    ['a broken server', /statuses/, text('<html>', 502), 'tracker_transport_error'],
  ])('%s fails the read', async (_, path, reply, kind) => {
    const { fake, ci } = await connect();
    fake.merges.pipeline({ jobs: [{}] }, 1);
    fake.failNext({ path }, reply);
    await expect(ci.readCi(ASK, never)).rejects.toMatchObject({ kind });
  });
});

describe('the log excerpt', () => {
  const FAILED = { status: 'failed', trace: 'one\n\u001b[31mtwo\u001b[0m\n\nsection_end:1:x\r\u001b[0K\nthree\nfour\n' };

  it('is the tail of the first failing job, cleaned', async () => {
    const { fake, ci, sent } = await connect();
    const { jobs } = fake.merges.pipeline(
      { jobs: [{}, { status: 'failed', allowFailure: true, trace: 'no' }, FAILED, { ...FAILED, trace: 'other' }] },
      1,
    );
    expect((await ci.readCi(ASK, never)).logExcerpt).toBe('two\nthree\nfour');
    expect(sent().slice(2)).toEqual([`${PROJECT}/jobs/${jobs[2]?.id}/trace`]);
    expect(fake.requests[2]?.headers).not.toHaveProperty('range');
  });

  it.each([0, -1])('%i lines ask for no log', async (maxLogLines) => {
    const { fake, ci, sent } = await connect();
    fake.merges.pipeline({ jobs: [FAILED] }, 1);
    expect(await ci.readCi({ ...ASK, maxLogLines }, never)).toMatchObject({ status: 'failing', logExcerpt: '' });
    expect(sent()).toHaveLength(2);
  });

  it('nothing failing asks for none either', async () => {
    const { fake, ci, sent } = await connect();
    fake.merges.pipeline({ jobs: [{}, { status: 'canceled' }] }, 1);
    expect((await ci.readCi(ASK, never)).logExcerpt).toBe('');
    expect(sent()).toHaveLength(2);
  });

  it('of a log over 1 MiB is the tail of its first megabyte', async () => {
    const { fake, ci } = await connect();
    const line = `${'x'.repeat(63)}\n`;
    const trace = `${line.repeat((1024 * 1024) / 64 - 1)}${'y'.repeat(63)}\nbeyond\n`;
    fake.merges.pipeline({ jobs: [{ status: 'failed', trace }] }, 1);
    expect((await ci.readCi({ ...ASK, maxLogLines: 1 }, never)).logExcerpt).toBe('y'.repeat(63));
  });

  it('what another system reported has no log: the next failing job has', async () => {
    const { fake, ci, warnings } = await connect();
    fake.merges.pipeline({ jobs: [{ status: 'failed', trace: null }, FAILED] }, 1);
    expect((await ci.readCi({ ...ASK, maxLogLines: 1 }, never)).logExcerpt).toBe('four');
    expect(warnings()).toEqual([]);
  });

  it.each([
    ['missing', json({ message: '404 Not found' }, 404)],
    ['forbidden', json({ message: '403 Forbidden' }, 403)],
    ['cut off', reset()],
  ])('of a log that is %s is empty, with a warning, and the report stands', async (_, reply) => {
    const { fake, ci, warnings } = await connect();
    const { jobs } = fake.merges.pipeline({ jobs: [FAILED] }, 1);
    fake.failNext({ path: /trace/ }, reply);
    expect(await ci.readCi(ASK, never)).toMatchObject({ status: 'failing', failingCount: 1, logExcerpt: '' });
    expect(warnings()).toMatchObject([{ attributes: { job_id: jobs[0]?.id } }]);
  });

  it('tries three entries at most', async () => {
    const { fake, ci, sent, warnings } = await connect();
    fake.merges.pipeline({ jobs: Array.from({ length: 5 }, () => ({ status: 'failed', trace: null })) }, 1);
    expect((await ci.readCi(ASK, never)).logExcerpt).toBe('');
    expect(sent()).toHaveLength(5);
    await ci.readCi(ASK, never);
    expect(warnings()).toHaveLength(1);
  });

  it('an abort while it is read ends the whole with its reason', async () => {
    const { fake, ci } = await connect();
    fake.merges.pipeline({ jobs: [FAILED] }, 1);
    fake.failNext({ path: /trace/ }, hang());
    const controller = new AbortController();
    const outcome = ci.readCi(ASK, controller.signal).catch((error: unknown) => error);
    await fake.arrived(3);
    const reason = new Error('stop');
    controller.abort(reason);
    expect(await outcome).toBe(reason);
  });
});
