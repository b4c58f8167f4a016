import { describe, expect, it } from 'vitest';
import { asked, failureOf } from '../../../test/fakes/github/connect.ts';
import { REQUEST, scmConnections } from '../../../test/fakes/github/connect-scm.ts';
import { json } from '../../../test/support/http-server.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { CiConclusion } from '../../ports/scm.ts';

const signal = new AbortController().signal;
const connect = scmConnections();
const PULL = 'GET /repos/acme/widgets/pulls/1';
describe('the CI status for the gate', () => {
  const HEAD = '1'.padStart(40, 'a');

  it.each<[string, { runs?: object[]; statuses?: object[] }, CiConclusion]>([
    ['no checks at all', {}, ''],
    ['a check run that is good', { runs: [{}] }, 'success'],
    ['a commit status that is good', { statuses: [{}] }, 'success'],
    ['neutral and skipped ones', { runs: [{ conclusion: 'neutral' }, { conclusion: 'skipped' }] }, 'success'],
    ['a failing run among good statuses', { runs: [{ conclusion: 'timed_out' }], statuses: [{}] }, 'failing'],
    ['a failing status among good runs', { runs: [{}], statuses: [{ state: 'error' }] }, 'failing'],
    ['a cancelled one', { runs: [{}, { conclusion: 'cancelled' }] }, 'pending'],
    ['a stale one', { runs: [{}, { conclusion: 'stale' }] }, 'pending'],
    ['one under way', { runs: [{ status: 'in_progress', conclusion: null }] }, 'pending'],
    ['one of a kind nobody knows', { runs: [{ conclusion: 'shiny' }] }, 'pending'],
  ])('with %s', async (_, { runs = [], statuses = [] }, expected) => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    for (const run of runs) fake.pulls.checkRun(HEAD, run);
    for (const status of statuses) fake.pulls.status(HEAD, status);
    expect(await scm.readCiStatus(REQUEST, signal)).toBe(expected);
    expect(asked(fake)).toEqual([
      'GET /pulls/1',
      `GET /commits/${HEAD}/check-runs?per_page=100`,
      `GET /commits/${HEAD}/status?per_page=100`,
    ]);
  });

  it.each<['checkRun' | 'status']>([['checkRun'], ['status']])('sees a failing %s on the last page', async (source) => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    for (let count = 0; count < 230; count += 1) fake.pulls[source](HEAD, { name: `n${count}`, context: `c${count}` });
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('success');
    fake.pulls[source](HEAD, { name: 'last', context: 'last', conclusion: 'failure', state: 'failure' });
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('failing');
  });

  it('judges the head of this moment', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.pulls.checkRun(HEAD, { conclusion: 'failure' });
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('failing');
    fake.pulls.push(1, 'd'.repeat(40));
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('');
  });

  it('costs nothing while nothing changes', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.pulls.checkRun(HEAD);
    await scm.readCiStatus(REQUEST, signal);
    const left = fake.remaining('core');
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('success');
    expect(fake.remaining('core')).toBe(left);
  });

  it.each<[string, string, object, TrackerErrorKind]>([
    ['fewer check runs than are said to be', 'check-runs', { total_count: 2, check_runs: [] }, 'tracker_api_error'],
    ['a list that is none', 'check-runs', { total_count: 0, check_runs: {} }, 'tracker_payload_error'],
    ['an entry that is none', 'status', { total_count: 1, statuses: ['x'] }, 'tracker_payload_error'],
    ['a refusal', 'status', { message: 'Resource not accessible' }, 'tracker_auth_error'],
  ])('is not told with %s', async (_, end, body, kind) => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.pulls.checkRun(HEAD);
    fake.failNext(`GET /repos/acme/widgets/commits/${HEAD}/${end}`, json(body, 'message' in body ? 403 : 200));
    expect((await failureOf(scm.readCiStatus(REQUEST, signal))).kind).toBe(kind);
  });

  it.each([[{ total_count: 0, check_runs: null }], [{ check_runs: [] }], [{}]])('takes %j for no check runs', async (body) => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.failNext(`GET /repos/acme/widgets/commits/${HEAD}/check-runs`, json(body));
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('');
  });

  it('is a failure although not everything could be read', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    const failed = { id: 1, name: 'x', status: 'completed', conclusion: 'failure' };
    fake.failNext(`GET /repos/acme/widgets/commits/${HEAD}/check-runs`, json({ total_count: 9, check_runs: [failed] }));
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('failing');
  });

  it('has no commit to look at where the head is not named', async () => {
    const { fake, scm } = await connect();
    fake.failNext(PULL, json({ number: 1, head: { sha: null }, base: {} }));
    expect((await failureOf(scm.readCiStatus(REQUEST, signal))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toHaveLength(1);
  });
});
describe('check runs of the same name', () => {
  const HEAD = '1'.padStart(40, 'a');
  const first = { suite: 11, workflow: 7, number: 1, event: 'pull_request' };
  const again = { ...first, suite: 12, number: 2 };
  const RUNS = 'GET /repos/acme/widgets/actions/runs';

  async function judge(older: object, newer: object, app = 'github-actions') {
    const connected = await connect();
    const { fake } = connected;
    fake.pulls.add();
    // The newest comes first in the list.
    fake.pulls.checkRun(HEAD, { app, workflowRun: again, ...newer });
    fake.pulls.checkRun(HEAD, { app, workflowRun: first, conclusion: 'failure', ...older });
    return connected;
  }

  it.each<[string, object, object, CiConclusion]>([
    ['a later run that is good', {}, {}, 'success'],
    ['a later run after a cancelled one', { conclusion: 'cancelled' }, {}, 'success'],
    ['a later run that failed', { conclusion: 'success' }, { conclusion: 'failure' }, 'failing'],
    ['a later run that is under way', {}, { status: 'in_progress', conclusion: null }, 'pending'],
    ['an earlier failure that a later run skipped', {}, { conclusion: 'skipped' }, 'failing'],
    ['an earlier failure that a later run was cancelled in', {}, { conclusion: 'cancelled' }, 'failing'],
    ['a failed job of another request with the same head', { workflowRun: { ...first, requests: [77] } }, {}, 'failing'],
    ['a failed job of another workflow', { workflowRun: { ...first, workflow: 8 } }, {}, 'failing'],
    ['a failed job for another event', { workflowRun: { ...first, event: 'push' } }, {}, 'failing'],
    ['a failed job of another name', { name: 'lint' }, {}, 'failing'],
    ['a failed job of the same run', { workflowRun: again }, {}, 'failing'],
  ])('are judged by %s', async (_, older, newer, expected) => {
    const { scm } = await judge(older, newer);
    expect(await scm.readCiStatus(REQUEST, signal)).toBe(expected);
  });

  it('all count where they are of another app, and nothing more is asked', async () => {
    const { fake, scm } = await judge({}, {}, 'other-app');
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('failing');
    expect(asked(fake).filter((route) => route.includes('/actions/'))).toEqual([]);
  });

  it('all count where the runs of their workflows cannot be read', async () => {
    const { fake, scm } = await judge({}, {});
    fake.failNext(RUNS, json({ message: 'Not accessible' }, 403));
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('failing');
  });
});
describe('check runs that the token may not read', () => {
  const HEAD = '1'.padStart(40, 'a');
  const forbidden = json({ message: 'Resource not accessible by personal access token' }, 403);
  const route = `GET /repos/acme/widgets/commits/${HEAD}/check-runs`;

  it('are replaced by the runs of Actions, which is said once', async () => {
    const { fake, scm, warnings } = await connect();
    fake.pulls.add();
    fake.pulls.job({ sha: HEAD, name: 'unit' });
    for (let looks = 0; looks < 2; looks += 1) {
      fake.failNext(route, forbidden);
      expect(await scm.readCiStatus(REQUEST, signal)).toBe('failing');
    }
    expect(warnings).toHaveLength(1);
  });

  it('leave out the runs that a later one of the same workflow replaces', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    const workflowRun = { suite: 11, workflow: 7, number: 1, event: 'pull_request' };
    fake.pulls.checkRun(HEAD, { app: 'github-actions', conclusion: 'cancelled', workflowRun });
    fake.pulls.checkRun(HEAD, { app: 'github-actions', workflowRun: { ...workflowRun, suite: 12, number: 2 } });
    fake.failNext(route, forbidden);
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('success');
    fake.pulls.checkRun(HEAD, {
      app: 'github-actions',
      conclusion: 'failure',
      workflowRun: { ...workflowRun, suite: 13, workflow: 8 },
    });
    fake.failNext(route, forbidden);
    expect(await scm.readCiStatus(REQUEST, signal)).toBe('failing');
  });

  it('fail the read where the runs of Actions may not be read either: nothing would be known', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.failNext(route, forbidden);
    fake.failNext('GET /repos/acme/widgets/actions/runs', forbidden);
    const failure = await failureOf(scm.readCiStatus(REQUEST, signal));
    expect([failure.kind, failure.detail]).toEqual(['tracker_auth_error', expect.stringContaining('checks:read')]);
  });
});
