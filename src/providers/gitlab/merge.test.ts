import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import type { MergeRequestFields } from '../../../test/fakes/gitlab/merge-store.ts';
import { commitName } from '../../../test/fakes/gitlab/merge-store.ts';
import { openScmSubject, REQUEST } from '../../../test/fakes/gitlab/connect-scm.ts';
import { empty, hang, json, reset, text } from '../../../test/support/http-server.ts';
import { ScmConflictError, TrackerError } from '../../domain/model/errors.ts';
import type { MergeOrder } from '../../ports/scm.ts';

const never = new AbortController().signal;
const HEAD = commitName('head 1');
const ORDER: MergeOrder = { strategy: 'merge', expectedSha: HEAD };

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(fields: MergeRequestFields = {}, options: FakeGitlabOptions = {}) {
  const fake = await startFakeGitlab(options);
  running.push(fake);
  fake.merges.add(fields);
  const sent = () => fake.requests.map(({ method, path }) => `${method} ${path.slice(38)}`);
  return { fake, sent, ...openScmSubject(fake) };
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('expected a failure');
    },
    (reason: unknown) => reason,
  );
}

const PUT = 'PUT /merge_requests/1/merge';
const READ = 'GET /merge_requests/1';

describe('merge', () => {
  it.each<[MergeOrder['strategy'], Record<string, unknown>, number]>([
    ['merge', { sha: HEAD }, 0],
    ['squash', { sha: HEAD, squash: true }, 0],
    ['rebase', { sha: HEAD }, 1],
  ])('%s sends the expected head', async (strategy, body, warned) => {
    const { fake, scm, sent, warnings } = await connect();
    const result = await scm.merge(REQUEST, { strategy, expectedSha: HEAD }, never);
    expect(result).toEqual({ mergeCommitSha: commitName('merge 1') });
    expect(fake.merges.get(1).state).toBe('merged');
    expect(sent()).toEqual([PUT]);
    expect(fake.requests[0]?.json()).toEqual(body);
    expect(warnings()).toHaveLength(warned);
  });

  it.each<[string, MergeOrder]>([
    ['no expected head', { strategy: 'merge', expectedSha: '' }],
    ['a blank expected head', { strategy: 'merge', expectedSha: ' ' }],
    ['an unknown strategy', { strategy: 'octopus' as MergeOrder['strategy'], expectedSha: HEAD }],
    ['a strategy in another case', { strategy: 'Squash' as MergeOrder['strategy'], expectedSha: HEAD }],
  ])('%s is refused before any request', async (_, order) => {
    const { scm, sent } = await connect();
    const error = await failureOf(scm.merge(REQUEST, order, never));
    expect(error).toMatchObject({ kind: 'tracker_payload_error' });
    expect(sent()).toEqual([]);
  });

  it.each([
    ['draft', { draft: true }],
    ['conflicting', { conflicting: true }],
    ['closed', { state: 'closed' } as const],
  ])('405 of one that is %s is a conflict without the mark', async (_, fields) => {
    const { scm, sent } = await connect(fields);
    const error = await failureOf(scm.merge(REQUEST, ORDER, never));
    expect(error).toBeInstanceOf(ScmConflictError);
    expect(error).toMatchObject({ alreadyMerged: false, headMoved: false });
    expect(String(error)).toContain('merge request !1 of acme/tools/rocket was not merged: status 405');
    expect(sent()).toEqual([PUT, READ]);
  });

  it('405 of one that somebody else merged has the mark', async () => {
    const { scm } = await connect({ state: 'merged' });
    expect(await failureOf(scm.merge(REQUEST, ORDER, never))).toMatchObject({ alreadyMerged: true });
  });

  it('409 of a stale head is a conflict', async () => {
    const { fake, scm, sent } = await connect();
    fake.merges.get(1).sha = commitName('newer');
    const error = await failureOf(scm.merge(REQUEST, ORDER, never));
    expect(error).toMatchObject({ alreadyMerged: false, isUnsure: false, headMoved: true });
    expect(String(error)).toContain('SHA does not match HEAD');
    expect(sent()).toEqual([PUT, READ]);
  });

  it('409 of a head that was merged in between has the mark', async () => {
    const { fake, scm } = await connect();
    fake.merges.get(1).sha = commitName('newer');
    fake.afterNext({ method: 'PUT' }, () => {
      fake.merges.get(1).state = 'merged';
    });
    expect(await failureOf(scm.merge(REQUEST, ORDER, never))).toMatchObject({ alreadyMerged: true });
  });

  it.each([
    ['gone', json({ message: '404 Not found' }, 404)],
    ['broken', text('<html>', 502)],
    ['cut off', reset()],
  ])('a second look that is %s claims nothing and warns', async (_, reply) => {
    const { fake, scm, warnings } = await connect({ state: 'merged' });
    fake.failNext({ method: 'GET' }, reply);
    const error = await failureOf(scm.merge(REQUEST, ORDER, never));
    expect(error).toMatchObject({ name: 'ScmConflictError', alreadyMerged: false, isUnsure: true });
    expect(warnings()).toHaveLength(1);
  });

  it.each(['opened', 'locked', 'closed', null])('200 in the state %s is a conflict, without another look', async (state) => {
    const { fake, scm, sent } = await connect();
    fake.failNext({ method: 'PUT' }, json({ iid: 1, state, merge_commit_sha: 'x' }));
    const error = await failureOf(scm.merge(REQUEST, ORDER, never));
    expect(error).toBeInstanceOf(ScmConflictError);
    expect(error).toMatchObject({ alreadyMerged: false, isUnsure: true });
    expect(sent()).toEqual([PUT]);
  });

  it('401 of branch protection names both causes', async () => {
    const { fake, scm, sent } = await connect();
    fake.merges.protect('main');
    const error = await failureOf(scm.merge(REQUEST, ORDER, never));
    expect(error).toMatchObject({ kind: 'tracker_auth_error', status: 401 });
    expect(String(error)).toMatch(
      /PUT \/api\/v4\/projects\/acme%2Ftools%2Frocket\/merge_requests\/1\/merge: status 401: .*branch protection.*credential/,
    );
    expect(sent()).toEqual([PUT]);
  });

  it('403 of a missing scope names both causes', async () => {
    const { scm } = await connect({}, { scopes: ['read_api'] });
    const error = await failureOf(scm.merge(REQUEST, ORDER, never));
    expect(error).toMatchObject({ kind: 'tracker_auth_error', status: 403 });
    expect(String(error)).toMatch(/insufficient_scope.*branch protection.*credential/);
  });

  it.each([
    [400, 'tracker_payload_error'],
    [404, 'tracker_not_found'],
    [406, 'tracker_api_error'],
    [422, 'tracker_payload_error'],
    [429, 'tracker_api_error'],
    [503, 'tracker_transport_error'],
  ])('%i is %s as everywhere', async (status, kind) => {
    const { fake, scm, sent } = await connect();
    fake.failNext({ method: 'PUT' }, json({ message: 'no' }, status));
    const error = await failureOf(scm.merge(REQUEST, ORDER, never));
    expect(error).toBeInstanceOf(TrackerError);
    expect(error).toMatchObject({ kind, status });
    expect(sent()).toEqual([PUT]);
  });

  it("a proxy's page instead of the answer is no success", async () => {
    const { fake, scm } = await connect();
    fake.failNext({ method: 'PUT' }, text('<!DOCTYPE html>', 200));
    expect(await failureOf(scm.merge(REQUEST, ORDER, never))).toMatchObject({ kind: 'tracker_payload_error' });
  });

  it('an abort during the second look ends it with its reason', async () => {
    const { fake, scm } = await connect({ draft: true });
    fake.failNext({ method: 'GET' }, hang());
    const controller = new AbortController();
    const outcome = failureOf(scm.merge(REQUEST, ORDER, controller.signal));
    await fake.arrived(2);
    const reason = new Error('stop');
    controller.abort(reason);
    expect(await outcome).toBe(reason);
  });

  it('a fast-forward is told by what landed', async () => {
    const { fake, scm } = await connect();
    fake.failNext({ method: 'PUT' }, json({ state: 'merged', merge_commit_sha: null, squash_commit_sha: null, sha: HEAD }));
    expect(await scm.merge(REQUEST, ORDER, never)).toEqual({ mergeCommitSha: HEAD });
  });
});

describe('merge trains', () => {
  it('are entered with the expected head where the project has them on, instead of being bypassed', async () => {
    const { fake, scm, sent } = await connect();
    fake.merges.trains();
    expect(await scm.isQueued(REQUEST, never)).toBe(false);
    expect(await scm.enqueue(REQUEST, ORDER, never)).toBe(true);
    expect(await scm.isQueued(REQUEST, never)).toBe(true);
    expect(sent()).toContain('POST /merge_trains/merge_requests/1');
    expect(sent()).not.toContain(PUT);
    expect(fake.requests.find(({ method }) => method === 'POST')?.json()).toMatchObject({ sha: HEAD });
  });

  it('are none where the project has them off, or does not tell', async () => {
    const { fake, scm, sent } = await connect();
    expect(await scm.enqueue(REQUEST, ORDER, never)).toBe(false);
    fake.failNext({ method: 'GET', path: /rocket$/ }, json({ message: '403 Forbidden' }, 403));
    expect(await scm.enqueue(REQUEST, ORDER, never)).toBe(false);
    expect(sent().filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  it.each([
    ['a limit', json({ message: 'Retry later' }, 429), { kind: 'tracker_api_error', isLimit: true }],
    ['a failure of the server', text('<html>', 502), { name: 'ScmConflictError', isBusy: true }],
    ['an answer that cannot be read', text('<html>', 200), { name: 'ScmConflictError', isBusy: true }],
    ['a credential that is refused', json({ message: '401 Unauthorized' }, 401), { kind: 'tracker_auth_error' }],
  ])('are not bypassed where %s keeps the project from telling', async (_, answer, error) => {
    const { fake, scm, sent } = await connect();
    fake.merges.trains();
    fake.failNext({ method: 'GET', path: /rocket$/ }, answer);
    await expect(scm.enqueue(REQUEST, ORDER, never)).rejects.toMatchObject(error);
    expect(sent().every((line) => line.startsWith('GET'))).toBe(true);
  });
});

describe('a merge train whose answer was lost', () => {
  const POST = 'POST /merge_trains/merge_requests/1';

  it.each([
    ['a failure of the server', text('<html>', 502)],
    ['a cut connection', reset()],
    ['an answer that cannot be read', text('<html>', 201)],
  ])('has the request all the same: %s', async (_, answer) => {
    const { fake, scm, sent } = await connect({ onTrain: true });
    fake.merges.trains();
    fake.failNext({ method: 'POST' }, answer);
    expect(await scm.enqueue(REQUEST, ORDER, never)).toBe(true);
    expect(sent().filter((line) => line === POST)).toHaveLength(1);
  });

  it('is not entered a second time: its refusal is no refusal of the merge', async () => {
    const { fake, scm } = await connect();
    fake.merges.trains();
    expect(await scm.enqueue(REQUEST, ORDER, never)).toBe(true);
    expect(await scm.enqueue(REQUEST, ORDER, never)).toBe(true);
  });

  it('is asked only after a failure, and one that does not have it, or cannot be read, changes nothing', async () => {
    const { fake, scm, sent } = await connect();
    fake.merges.trains();
    fake.failNext({ method: 'POST' }, text('<html>', 502));
    expect(await failureOf(scm.enqueue(REQUEST, ORDER, never))).toMatchObject({ kind: 'tracker_transport_error', status: 502 });
    fake.failNext({ method: 'POST' }, json({ message: 'no' }, 400));
    fake.failNext({ method: 'GET', path: /merge_trains/ }, json({ message: 'no' }, 403));
    expect(await failureOf(scm.enqueue(REQUEST, ORDER, never))).toMatchObject({ status: 400 });
    fake.failNext({ method: 'POST' }, json({ message: '401 Unauthorized' }, 401));
    const before = sent().length;
    expect(await failureOf(scm.enqueue(REQUEST, ORDER, never))).toMatchObject({ kind: 'tracker_auth_error' });
    expect(sent().slice(before)).toEqual([expect.stringMatching(/^GET /), POST]);
  });
});

describe('delete branch', () => {
  it('percent-encodes the branch, once', async () => {
    const { fake, scm, sent } = await connect({ sourceBranch: 'feature/50% faster' });
    await scm.deleteBranch(REQUEST, 'feature/50% faster', never);
    expect(fake.merges.branchNames()).toEqual(['main']);
    expect(sent()).toEqual(['DELETE /repository/branches/feature%2F50%25%20faster']);
  });

  it('one that is gone already is fine', async () => {
    const { scm } = await connect();
    await expect(scm.deleteBranch(REQUEST, 'gone', never)).resolves.toBeUndefined();
  });

  it.each(['', ' ', '\ud800', '..'])('%j is refused before any request', async (branch) => {
    const { scm, sent } = await connect();
    expect(await failureOf(scm.deleteBranch(REQUEST, branch, never))).toMatchObject({ kind: 'tracker_payload_error' });
    expect(sent()).toEqual([]);
  });

  it.each([
    [403, 'tracker_auth_error'],
    [405, 'tracker_api_error'],
    [409, 'tracker_api_error'],
    [500, 'tracker_transport_error'],
  ])('%i is %s: only a refused merge is a conflict', async (status, kind) => {
    const { fake, scm } = await connect();
    fake.failNext({ method: 'DELETE' }, empty(status));
    expect(await failureOf(scm.deleteBranch(REQUEST, 'feature/1', never))).toMatchObject({ name: 'TrackerError', kind });
  });
});

describe('remove label', () => {
  it('takes every spelling off in one update, and no other label', async () => {
    const { fake, scm, sent } = await connect({ labels: ['Foray:Fix', 'foray:fix', 'bug'] });
    await scm.removeLabel(REQUEST, 'FORAY:fix', never);
    expect(fake.merges.get(1).labels).toEqual(['bug']);
    expect(sent()).toEqual([READ, 'PUT /merge_requests/1']);
    expect(fake.requests[1]?.json()).toEqual({ remove_labels: 'Foray:Fix,foray:fix' });
  });

  it('writes nothing when it is not there', async () => {
    const { scm, sent } = await connect({ labels: ['bug'] });
    await scm.removeLabel(REQUEST, 'foray:fix', never);
    expect(sent()).toEqual([READ]);
    await scm.removeLabel(REQUEST, ' ', never);
    expect(sent()).toEqual([READ]);
  });

  it.each(['GET', 'PUT'])('a 404 of the %s is fine', async (method) => {
    const { fake, scm } = await connect({ labels: ['foray:fix'] });
    fake.failNext({ method }, json({ message: '404 Not found' }, 404));
    await expect(scm.removeLabel(REQUEST, 'foray:fix', never)).resolves.toBeUndefined();
  });

  it('any other failure is one', async () => {
    const { fake, scm } = await connect({ labels: ['foray:fix'] });
    fake.failNext({ method: 'PUT' }, json({ error: 'insufficient_scope' }, 403));
    expect(await failureOf(scm.removeLabel(REQUEST, 'foray:fix', never))).toMatchObject({ kind: 'tracker_auth_error' });
    fake.failNext({ method: 'PUT' }, text('<html>', 200));
    expect(await failureOf(scm.removeLabel(REQUEST, 'foray:fix', never))).toMatchObject({ kind: 'tracker_payload_error' });
  });

  it.each([null, []])('labels %j are none', async (labels) => {
    const { fake, scm, sent } = await connect();
    fake.failNext({ method: 'GET' }, json({ iid: 1, labels }));
    await scm.removeLabel(REQUEST, 'foray:fix', never);
    expect(sent()).toEqual([READ]);
  });
});
