import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import type { FakeJob } from '../../../test/fakes/gitlab/merge-store.ts';
import { commitName } from '../../../test/fakes/gitlab/merge-store.ts';
import { openScmSubject, REQUEST } from '../../../test/fakes/gitlab/connect-scm.ts';
import { json } from '../../../test/support/http-server.ts';
import type { CiConclusion } from '../../ports/scm.ts';
import { PIPELINE_CONCLUSIONS, readHead } from './head-pipeline.ts';

const never = new AbortController().signal;
const HEAD = commitName('head 1');

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeGitlabOptions = {}) {
  const fake = await startFakeGitlab(options);
  running.push(fake);
  fake.merges.add();
  const sent = () => fake.requests.map(({ path, query }) => `${path.slice(38)}${query.size > 0 ? `?${query.toString()}` : ''}`);
  return { fake, sent, ...openScmSubject(fake) };
}

const READ = '/merge_requests/1';

const ROWS: readonly [status: string, conclusion: CiConclusion][] = [
  ['success', 'success'],
  ['skipped', 'success'],
  ['failed', 'failing'],
  ['created', 'pending'],
  ['waiting_for_resource', 'pending'],
  ['preparing', 'pending'],
  ['waiting_for_callback', 'pending'],
  ['pending', 'pending'],
  ['running', 'pending'],
  ['canceling', 'pending'],
  ['canceled', 'pending'],
  ['scheduled', 'pending'],
];

describe('head pipeline status', () => {
  it.each(ROWS)('%s is %s', (status, conclusion) => {
    const head_pipeline = { id: 9, sha: 'ABC', status };
    expect(readHead({ sha: 'abc', head_pipeline }, 1)).toEqual({ kind: 'settled', conclusion });
  });

  it('every word of the table has a row here', () => {
    expect([...PIPELINE_CONCLUSIONS.keys()]).toEqual(ROWS.map(([status]) => status));
  });

  it.each([null, undefined])('absent (%s) is empty', (head_pipeline) => {
    expect(readHead({ sha: 'abc', head_pipeline }, 1)).toEqual({ kind: 'none' });
  });

  it.each(['', 'Success', 'constructor', 'brand_new'])('any other value (%j) is unrecognized', (status) => {
    expect(readHead({ sha: 'abc', head_pipeline: { id: 9, sha: 'abc', status } }, 1)).toEqual({ kind: 'unrecognized', status });
  });

  it('manual leaves it to the jobs of that pipeline, by its own commit', () => {
    const head_pipeline = { id: 9, sha: 'ABC', status: 'manual' };
    expect(readHead({ sha: 'abc', head_pipeline }, 1)).toEqual({ kind: 'jobs', sha: 'ABC', pipelineId: 9 });
  });
});

describe('a superseded head pipeline', () => {
  const source = 'merge_request_event';
  it.each([
    ['another commit', { source, ref: 'refs/merge-requests/1/head' }, 'superseded'],
    ['merged results of this request', { source, ref: 'refs/merge-requests/1/merge' }, 'settled'],
    ['merge train of this request', { source, ref: 'refs/merge-requests/1/train' }, 'settled'],
    ['merged results of another request', { source, ref: 'refs/merge-requests/11/merge' }, 'superseded'],
    ['a branch that is named alike', { source: 'push', ref: 'refs/merge-requests/1/merge' }, 'superseded'],
    ['more than the ref', { source, ref: 'refs/merge-requests/1/merge/x' }, 'superseded'],
    ['in another case', { source: 'Merge_Request_Event', ref: 'refs/merge-requests/1/merge' }, 'superseded'],
    ['without ref and source', {}, 'superseded'],
  ])('%s', (_, facts, kind) => {
    expect(readHead({ sha: 'abc', head_pipeline: { id: 9, sha: 'def', status: 'success', ...facts } }, 1).kind).toBe(kind);
  });

  it.each([
    ['the pipeline names no commit', { sha: 'abc', head_pipeline: { id: 9, sha: null, status: 'success' } }],
    ['the request names no head', { sha: null, head_pipeline: { id: 9, sha: 'def', status: 'success' } }],
    ['neither does', { sha: '', head_pipeline: { id: 9, sha: '', status: 'success' } }],
  ])('also when %s', (_, wire) => {
    expect(readHead(wire, 1).kind).toBe('superseded');
  });

  it('comes before the manual pipeline, unless that has no commit', () => {
    expect(readHead({ sha: 'abc', head_pipeline: { id: 0, sha: 'def', status: 'manual' } }, 1).kind).toBe('superseded');
    expect(readHead({ sha: 'abc', head_pipeline: { id: 9, sha: '', status: 'manual' } }, 1).kind).toBe('broken');
    expect(readHead({ sha: 'abc', head_pipeline: { id: 0, sha: 'abc', status: 'manual' } }, 1).kind).toBe('broken');
  });

  it('never passes on the strength of another commit', () => {
    const word = fc.oneof(fc.constantFrom('success', 'manual', 'skipped'), fc.string());
    const ref = fc.oneof(fc.string(), fc.constantFrom('refs/merge-requests/2/merge', 'refs/merge-requests/1/head'));
    fc.assert(
      fc.property(word, ref, fc.string({ minLength: 1 }), (status, where, sha) => {
        const head_pipeline = { id: 9, sha: `${sha}x`, status, ref: where, source: 'merge_request_event' };
        expect(readHead({ sha, head_pipeline }, 1).kind).toBe('superseded');
      }),
    );
  });

  it('is pending with one warning that names both commits and the pipeline, and asks nothing more', async () => {
    const { fake, scm, sent, warnings } = await connect();
    const { id } = fake.merges.pipeline({ status: 'manual' }, 1);
    fake.merges.push(1, commitName('newer'));
    for (let look = 0; look < 2; look += 1) expect(await scm.readCiStatus(REQUEST, never)).toBe('pending');
    expect(sent()).toEqual([READ, READ]);
    expect(warnings()).toMatchObject([
      { attributes: { merge_request: 1, head_sha: commitName('newer'), pipeline_sha: HEAD, pipeline_id: id } },
    ]);
  });
});

describe('reading the CI status', () => {
  it('costs one request, and none of the tracker project', async () => {
    const { fake, scm, sent, warnings } = await connect();
    expect(await scm.readCiStatus(REQUEST, never)).toBe('');
    fake.merges.pipeline({ status: 'success' }, 1);
    expect(await scm.readCiStatus(REQUEST, never)).toBe('success');
    expect(sent()).toEqual([READ, READ]);
    expect(warnings()).toEqual([]);
  });

  it('an unrecognized status is pending, with a warning that names it', async () => {
    const { fake, scm, warnings } = await connect();
    fake.merges.pipeline({ status: 'meditating' }, 1);
    expect(await scm.readCiStatus(REQUEST, never)).toBe('pending');
    expect(warnings()).toMatchObject([{ attributes: { status: 'meditating' } }]);
  });

  it.each([
    ['no commit', { id: 9, sha: null }],
    ['no id', { id: 0, sha: HEAD }],
  ])('a manual pipeline with %s is a payload error before its jobs are asked for', async (_, facts) => {
    const { fake, scm, sent } = await connect();
    fake.failNext({ path: /merge_requests/ }, json({ iid: 1, sha: HEAD, head_pipeline: { status: 'manual', ...facts } }));
    await expect(scm.readCiStatus(REQUEST, never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    expect(sent()).toEqual([READ]);
  });

  it('a head pipeline that is none of the kind is a payload error, not "no checks"', async () => {
    const { fake, scm } = await connect();
    fake.failNext({ path: /merge_requests/ }, json({ iid: 1, sha: HEAD, head_pipeline: 'passed' }));
    await expect(scm.readCiStatus(REQUEST, never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
  });
});

describe('a manual head pipeline', () => {
  it.each<[string, Partial<FakeJob>[], CiConclusion]>([
    ['settled clean', [{ status: 'success' }, { status: 'manual' }, { status: 'failed', allowFailure: true }], 'success'],
    ['hides a failed job', [{ status: 'success' }, { status: 'failed' }, { status: 'manual' }], 'failing-unseen'],
    [
      'a failed job that was retried',
      [{ status: 'failed', retried: true }, { status: 'success' }, { status: 'manual' }],
      'success',
    ],
    ['work is queued', [{ status: 'manual' }, { status: 'created' }], 'pending'],
    ['work is running', [{ status: 'manual' }, { status: 'running' }], 'pending'],
    ['a job was canceled', [{ status: 'manual' }, { status: 'canceled' }], 'pending'],
  ])('%s', async (_, jobs, conclusion) => {
    const { fake, scm, sent, warnings } = await connect();
    const { id } = fake.merges.pipeline({ status: 'manual', jobs }, 1);
    expect(await scm.readCiStatus(REQUEST, never)).toBe(conclusion);
    expect(sent()).toEqual([READ, `/repository/commits/${HEAD}/statuses?pipeline_id=${id}&per_page=100`]);
    expect(warnings()).toEqual([]);
  });

  it('reads all pages, and of this pipeline only', async () => {
    const { fake, scm, sent } = await connect({ maxPerPage: 2 });
    fake.merges.pipeline({ status: 'failed', jobs: [{ status: 'failed' }] }, 1);
    const jobs = ['success', 'success', 'success', 'success', 'failed'].map((status) => ({ status }));
    fake.merges.pipeline({ status: 'manual', jobs }, 1);
    expect(await scm.readCiStatus(REQUEST, never)).toBe('failing-unseen');
    expect(sent()).toHaveLength(4);
  });

  it('discards entries of other pipelines, also where the remote ignores the parameter', async () => {
    const { fake, scm } = await connect();
    const { id } = fake.merges.pipeline({ status: 'manual' }, 1);
    const entries = [
      { id: 1, status: 'failed', pipeline_id: id + 1 },
      { id: 2, status: 'failed' },
      { id: 3, status: 'success', pipeline_id: id },
    ];
    fake.failNext({ path: /statuses/ }, json(entries));
    expect(await scm.readCiStatus(REQUEST, never)).toBe('success');
  });

  it('of merged results is read by the commit the remote made', async () => {
    const { fake, scm, sent } = await connect();
    const merged = commitName('merged result');
    fake.merges.pipeline({ status: 'manual', sha: merged, ref: 'refs/merge-requests/1/merge', jobs: [{ status: 'success' }] }, 1);
    expect(await scm.readCiStatus(REQUEST, never)).toBe('success');
    expect(sent()[1]).toContain(merged);
  });

  it('without any jobs is held at pending with a warning', async () => {
    const { fake, scm, warnings } = await connect();
    const { id } = fake.merges.pipeline({ status: 'manual' }, 1);
    expect(await scm.readCiStatus(REQUEST, never)).toBe('pending');
    expect(warnings()).toMatchObject([{ attributes: { pipeline_id: id } }]);
  });

  it('an unrecognized job status is one warning with its name and count', async () => {
    const { fake, scm, warnings } = await connect();
    fake.merges.pipeline({ status: 'manual', jobs: [{ status: 'odd' }, { status: 'success' }, { status: 'odd' }] }, 1);
    expect(await scm.readCiStatus(REQUEST, never)).toBe('pending');
    expect(warnings()).toMatchObject([{ attributes: { status: 'odd', count: 2 } }]);
  });

  it.each([
    [404, 'tracker_not_found'],
    [403, 'tracker_auth_error'],
    [500, 'tracker_transport_error'],
  ])('a failure (%i) of the job read surfaces unchanged', async (status, kind) => {
    const { fake, scm } = await connect();
    fake.merges.pipeline({ status: 'manual' }, 1);
    fake.failNext({ path: /statuses/ }, json({ message: 'no' }, status));
    await expect(scm.readCiStatus(REQUEST, never)).rejects.toMatchObject({ kind, status });
  });

  it('an entry that is none fails the read: it may have been the failing one', async () => {
    const { fake, scm } = await connect();
    const { id } = fake.merges.pipeline({ status: 'manual' }, 1);
    fake.failNext({ path: /statuses/ }, json([null, { id: 3, status: 'success', pipeline_id: id }]));
    await expect(scm.readCiStatus(REQUEST, never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
  });
});
