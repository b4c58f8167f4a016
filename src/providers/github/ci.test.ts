import { describe, expect, it } from 'vitest';
import { asked, failureOf } from '../../../test/fakes/github/connect.ts';
import { REQUEST, scmConnections } from '../../../test/fakes/github/connect-scm.ts';
import { empty, hang, hugeBody, json, reset, startServer, text } from '../../../test/support/http-server.ts';
import { aggregate } from '../shared/ci-aggregate.ts';

const signal = new AbortController().signal;
const connect = scmConnections();
const SHA = 'c'.repeat(40);
const ask = (ref = SHA, maxLogLines = 50) => ({ owner: 'acme', repo: 'widgets', ref, maxLogLines });

const STEPS = [
  { name: 'Set up job', conclusion: 'success', started: '2026-01-01T10:00:00Z', completed: '2026-01-01T10:00:01Z' },
  { name: 'Tests', conclusion: 'failure', started: '2026-01-01T10:00:02Z', completed: '2026-01-01T10:00:05Z' },
  { name: 'Upload', conclusion: 'success', started: '2026-01-01T10:00:06Z', completed: '2026-01-01T10:00:07Z' },
];
const LOG = [
  '\uFEFF2026-01-01T10:00:00.1000000Z Current runner version',
  '2026-01-01T10:00:02.1000000Z ##[group]Run npm test',
  '2026-01-01T10:00:03.1000000Z \u001b[31mexpected 1 to be 2\u001b[0m',
  '2026-01-01T10:00:05.1000000Z ##[error]Process completed with exit code 1.',
  '2026-01-01T10:00:06.1000000Z ##[group]Run upload',
  '2026-01-01T10:00:07.1000000Z Done',
].join('\r\n');
const EXCERPT = '##[group]Run npm test\nexpected 1 to be 2\n##[error]Process completed with exit code 1.';

describe('the CI of a commit', () => {
  it('is both kinds of checks, by branch as by commit', async () => {
    const { fake, ci } = await connect();
    fake.pulls.add({ headRef: 'fix/it', headSha: SHA });
    fake.pulls.checkRun(SHA, { name: 'build' });
    fake.pulls.status(SHA, { context: 'legacy', state: 'pending', targetUrl: 'https://ci.example/1' });
    const report = await ci.readCi(ask('fix/it'), signal);
    expect(report).toMatchObject({ status: 'pending', failingCount: 0, logExcerpt: '', ref: 'fix/it' });
    expect(report.checkRuns).toEqual([
      { name: 'build', status: 'completed', conclusion: 'success', detailsUrl: expect.stringContaining('/runs/') as unknown },
      { name: 'legacy', status: 'in progress', conclusion: 'pending', detailsUrl: 'https://ci.example/1' },
    ]);
    expect(asked(fake)).toEqual(['GET /commits/fix%2Fit/check-runs?per_page=100', 'GET /commits/fix%2Fit/status?per_page=100']);
  });

  it('is pending, with an empty list, where there is none', async () => {
    const { fake, ci } = await connect();
    fake.pulls.add({ headSha: SHA });
    expect(await ci.readCi(ask(), signal)).toEqual({
      status: 'pending',
      failingCount: 0,
      checkRuns: [],
      logExcerpt: '',
      ref: SHA,
    });
  });

  it('is what its runs amount to, over all pages', async () => {
    const { fake, ci } = await connect();
    for (let count = 0; count < 150; count += 1)
      fake.pulls.checkRun(SHA, { conclusion: count % 50 === 49 ? 'failure' : 'success' });
    for (let count = 0; count < 150; count += 1)
      fake.pulls.status(SHA, { context: `c${count}`, state: count === 149 ? 'error' : 'success' });
    const report = await ci.readCi(ask(SHA, 0), signal);
    expect([report.status, report.failingCount, report.checkRuns.length]).toEqual(['failing', 4, 300]);
    expect(aggregate(report.checkRuns)).toEqual({ status: report.status, failingCount: report.failingCount });
  });

  it('says once which words are not known, and how often', async () => {
    const { fake, ci, warnings } = await connect();
    for (const conclusion of ['shiny', 'shiny', 'success']) fake.pulls.checkRun(SHA, { conclusion });
    expect((await ci.readCi(ask(), signal)).status).toBe('pending');
    await ci.readCi(ask(), signal);
    expect(warnings).toEqual([
      {
        message: 'check result is not known, it counts as pending',
        attributes: { tracker_kind: 'repoissues', value: 'shiny', count: 2 },
      },
    ]);
  });

  it('of a ref that is not there is refused', async () => {
    const { fake, ci } = await connect();
    const error = await failureOf(ci.readCi(ask('nowhere'), signal));
    expect([error.kind, error.message]).toEqual(['tracker_payload_error', expect.stringContaining('no such commit or branch')]);
    expect((await failureOf(ci.readCi(ask(' '), signal))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toHaveLength(1);
  });
});

describe('the log excerpt', () => {
  it('is what the failing step wrote, cleaned', async () => {
    const { fake, ci } = await connect();
    fake.pulls.status(SHA, { state: 'failure', description: 'less telling' });
    const job = fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    expect((await ci.readCi(ask(), signal)).logExcerpt).toBe(EXCERPT);
    expect(asked(fake).slice(2)).toEqual([`GET /actions/jobs/${job.id}`, `GET /actions/jobs/${job.id}/logs`]);
  });

  it('is fetched from the other host without the token', async () => {
    const { fake, ci } = await connect();
    fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    await ci.readCi(ask(), signal);
    expect(fake.logRequests).toHaveLength(1);
    const [{ headers, query } = { headers: {}, query: new URLSearchParams() }] = fake.logRequests;
    expect(headers.authorization).toBeUndefined();
    expect(JSON.stringify(headers)).not.toContain(fake.token);
    expect([headers['user-agent'], query.get('sig')]).toEqual(['svc/dev', 'secret/signature']);
  });

  it.each([
    [1, '##[error]Process completed with exit code 1.'],
    [2, 'expected 1 to be 2\n##[error]Process completed with exit code 1.'],
  ])('has at most %d lines, the last ones', async (maxLogLines, expected) => {
    const { fake, ci } = await connect();
    fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    expect((await ci.readCi(ask(SHA, maxLogLines), signal)).logExcerpt).toBe(expected);
  });

  it.each([0, -1])('is not fetched for %d lines', async (maxLogLines) => {
    const { fake, ci } = await connect();
    fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    expect(await ci.readCi(ask(SHA, maxLogLines), signal)).toMatchObject({ status: 'failing', logExcerpt: '' });
    expect(asked(fake)).toHaveLength(2);
  });

  it('is not fetched where nothing fails', async () => {
    const { fake, ci } = await connect();
    fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG, conclusion: 'cancelled' });
    expect(await ci.readCi(ask(), signal)).toMatchObject({ status: 'pending', logExcerpt: '' });
    expect(fake.logRequests).toHaveLength(0);
  });

  it('is fetched once for the same job', async () => {
    const { fake, ci } = await connect();
    fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    await ci.readCi(ask(), signal);
    expect((await ci.readCi(ask(), signal)).logExcerpt).toBe(EXCERPT);
    expect(fake.logRequests).toHaveLength(1);
  });

  it('is the end of the log where the steps do not help', async () => {
    const { fake, ci } = await connect();
    fake.pulls.job({ sha: SHA, log: LOG });
    expect((await ci.readCi(ask(SHA, 2), signal)).logExcerpt).toBe(
      'expected 1 to be 2\n##[error]Process completed with exit code 1.',
    );
  });

  it.each<[string, object, string]>([
    ['a check run of another app', { output: { title: 'Two faults', summary: 'a\n\nb', text: null } }, 'Two faults\na\nb'],
    ['one that says nothing', {}, ''],
  ])('of %s is what it says of itself', async (_, parts, expected) => {
    const { fake, ci } = await connect();
    fake.pulls.checkRun(SHA, { conclusion: 'failure', ...parts });
    expect((await ci.readCi(ask(), signal)).logExcerpt).toBe(expected);
    expect(asked(fake)).toHaveLength(2);
  });

  it('of a commit status is its description and address', async () => {
    const { fake, ci } = await connect();
    fake.pulls.status(SHA, { state: 'failure', description: 'Build broke', targetUrl: 'https://ci.example/7' });
    expect((await ci.readCi(ask(), signal)).logExcerpt).toBe('Build broke\nhttps://ci.example/7');
  });

  it('reads no more of an endless log than it must', async () => {
    const { fake, ci } = await connect();
    const job = fake.pulls.job({ sha: SHA, steps: STEPS });
    const store = await startServer(() => hugeBody(1e12));
    try {
      fake.failNext(`GET /repos/acme/widgets/actions/jobs/${job.id}/logs`, empty(302, { location: `${store.url}/log` }));
      expect((await ci.readCi(ask(SHA, 1), signal)).logExcerpt).toMatch(/^x{4096}$/);
    } finally {
      await store.close();
    }
  });
});

describe('a log that cannot be read', () => {
  it.each<[string, string, () => ReturnType<typeof json>]>([
    ['the job is gone', '', () => json({ message: 'Not Found' }, 404)],
    ['the job is no JSON', '', () => text('<html>')],
    ['the log is gone', '/logs', () => json({ message: 'Gone' }, 410)],
    ['the token may not', '/logs', () => json({ message: 'Must have admin rights' }, 403)],
    ['the connection breaks', '/logs', () => reset()],
    ['the redirect leads nowhere', '/logs', () => empty(302)],
    ['the redirect is no address', '/logs', () => empty(302, { location: 'http://:x' })],
    ['the redirect is not encrypted', '/logs', () => empty(302, { location: 'http://elsewhere.example/log' })],
    ['the redirect leaves the web', '/logs', () => empty(302, { location: 'file:///etc/passwd' })],
    ['the store has nothing', '/logs', () => empty(302, { location: 'http://127.0.0.1:1/log' })],
  ])('is left out with a warning: %s', async (_, end, reply) => {
    const { fake, ci, warnings } = await connect();
    const job = fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    fake.failNext(`GET /repos/acme/widgets/actions/jobs/${job.id}${end}`, reply());
    expect(await ci.readCi(ask(), signal)).toMatchObject({ status: 'failing', failingCount: 1, logExcerpt: '' });
    expect(warnings.map(({ message }) => message)).toEqual(['job log could not be read, the failure is shown without it']);
    expect(JSON.stringify(warnings)).not.toContain(fake.token);
    expect((await ci.readCi(ask(), signal)).logExcerpt).toBe(EXCERPT);
  });

  it('is told once while the cause is the same', async () => {
    const { fake, ci, warnings } = await connect();
    const job = fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    for (const status of [403, 403, 410]) {
      fake.failNext(`GET /repos/acme/widgets/actions/jobs/${job.id}/logs`, json({ message: 'no' }, status));
      await ci.readCi(ask(), signal);
    }
    expect(warnings).toHaveLength(2);
  });

  it('does not hold up an abort', async () => {
    const { fake, ci, warnings } = await connect();
    const job = fake.pulls.job({ sha: SHA, steps: STEPS, log: LOG });
    fake.failNext(`GET /repos/acme/widgets/actions/jobs/${job.id}/logs`, hang());
    const controller = new AbortController();
    const read = ci.readCi(ask(), controller.signal);
    await fake.arrived(4);
    const reason = new Error('shutting down');
    controller.abort(reason);
    await expect(read).rejects.toBe(reason);
    expect(warnings).toEqual([]);
  });
});

describe('the gate and the provider', () => {
  it('judge the same checks in the same way', async () => {
    const { fake, scm, ci } = await connect();
    fake.pulls.add({ headSha: SHA });
    for (const conclusion of ['success', 'cancelled', 'failure']) {
      fake.pulls.checkRun(SHA, { conclusion });
      expect(await scm.readCiStatus(REQUEST, signal)).toBe((await ci.readCi(ask(SHA, 0), signal)).status);
    }
  });
});
