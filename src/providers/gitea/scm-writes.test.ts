import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { conflictOf, openScm, requestFor } from '../../../test/fakes/gitea/connect-scm.ts';
import { asked, failureOf, never } from '../../../test/fakes/gitea/connect.ts';
import { empty, hang, json } from '../../../test/support/http-server.ts';
import type { MergeOrder } from '../../ports/scm.ts';

const SHA = 'd'.repeat(40);
const MERGE = 'POST /repos/acme/app/pulls/1/merge';
const READ = 'GET /repos/acme/app/pulls/1';
const READ_SCOPES = ['read:user', 'read:repository', 'write:issue'];

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeGiteaOptions = {}) {
  const fake = await startFakeGitea({ labels: ['Foray:Fix', 'foray:fix', 'bug'], ...options });
  running.push(fake);
  fake.addPull({ branch: 'feat/x', sha: SHA });
  const { scm } = openScm(fake);
  const merge = (order: Partial<MergeOrder> = {}) =>
    scm.merge(requestFor(1), { strategy: 'squash', expectedSha: SHA, ...order }, never);
  return { fake, scm, merge };
}

describe('gitea merge', () => {
  it.each(['merge', 'squash', 'rebase'] as const)('%s sends the strategy and the expected head', async (strategy) => {
    const { fake, merge } = await start();
    expect(await merge({ strategy })).toEqual({ mergeCommitSha: '' });
    expect(asked(fake)).toEqual([MERGE]);
    expect(fake.requests[0]?.json()).toEqual({ Do: strategy, head_commit_id: SHA });
    expect(fake.pull(1).merged?.by).toBe('foray-bot');
  });

  it.each<[string, object]>([
    ['an empty head', { expectedSha: '' }],
    ['a blank head', { expectedSha: ' ' }],
    ['no head', { expectedSha: undefined }],
    ['an unknown strategy', { strategy: 'rebase-merge' }],
    ['no strategy', { strategy: undefined }],
  ])('%s is refused before any request', async (_, order) => {
    const { fake, merge } = await start();
    expect((await failureOf(merge(order as Partial<MergeOrder>))).kind).toBe('tracker_payload_error');
    expect(asked(fake)).toEqual([]);
  });

  it.each<[string, (fake: FakeGitea) => void, string]>([
    ['a draft', (fake) => fake.editPull(1, { draft: true }), 'Work in progress PRs cannot be merged; it is a draft'],
    ['a check under way', (fake) => fake.editPull(1, { mergeable: false }), 'Please try again later; it is open'],
  ])('405: %s is a conflict without the marker, and not tried again', async (_, prepare, text) => {
    const { fake, merge } = await start();
    prepare(fake);
    const conflict = await conflictOf(merge());
    expect(conflict.alreadyMerged).toBe(false);
    expect(conflict.isUnsure).toBe(false);
    expect(conflict.message).toContain(`merge of acme/app#1 refused: status 405: ${text}`);
    expect(asked(fake)).toEqual([MERGE, READ]);
  });

  it('405: somebody merged it meanwhile, which the read afterwards shows', async () => {
    const { fake, merge } = await start();
    fake.mergePull(1);
    const conflict = await conflictOf(merge());
    expect(conflict.alreadyMerged).toBe(true);
    expect(asked(fake)).toEqual([MERGE, READ]);
  });

  it('409: a head that moved on is a conflict that names both', async () => {
    const { fake, merge } = await start();
    fake.push(1, 'e'.repeat(40));
    const conflict = await conflictOf(merge());
    expect(conflict).toMatchObject({ alreadyMerged: false, headMoved: true });
    expect(conflict.message).toContain(`status 409: head out of date; its head is ${'e'.repeat(40)}, expected was ${SHA}`);
    expect(asked(fake)).toEqual([MERGE, READ]);
  });

  it('409: the head is as expected after all, so it is tried once more', async () => {
    const { fake, merge } = await start();
    fake.failNext('POST /merge', json({ message: 'merge push out of date' }, 409));
    expect(await merge()).toEqual({ mergeCommitSha: '' });
    expect(asked(fake)).toEqual([MERGE, READ, MERGE]);
  });

  it('409 twice: a conflict after one more read, and no third try', async () => {
    const { fake, merge } = await start();
    fake.editPull(1, { conflicts: true });
    const conflict = await conflictOf(merge());
    expect(conflict).toMatchObject({ alreadyMerged: false, headMoved: false });
    expect(conflict.message).toContain('CONFLICT (content)');
    expect(asked(fake)).toEqual([MERGE, READ, MERGE, READ]);
  });

  it('409, then merged by somebody before the second try: marked', async () => {
    const { fake, merge } = await start();
    fake.failNext('POST /merge', json({ message: 'merge push out of date' }, 409));
    fake.beforeNext(
      ({ method }) => method === 'POST' && fake.requests.length === 3,
      () => fake.mergePull(1),
    );
    expect((await conflictOf(merge())).alreadyMerged).toBe(true);
    expect(asked(fake)).toEqual([MERGE, READ, MERGE, READ]);
  });

  it('409: merged meanwhile is marked and not tried again; closed meanwhile is not marked', async () => {
    const merged = await start();
    merged.fake.failNext('POST /merge', json({ message: 'head out of date' }, 409));
    merged.fake.mergePull(1);
    expect((await conflictOf(merged.merge())).alreadyMerged).toBe(true);
    expect(asked(merged.fake)).toEqual([MERGE, READ]);
    const closed = await start();
    closed.fake.failNext('POST /merge', json({ message: 'head out of date' }, 409));
    closed.fake.editIssue(1, { state: 'closed' });
    const conflict = await conflictOf(closed.merge());
    expect([conflict.alreadyMerged, conflict.message.endsWith('it is closed')]).toEqual([false, true]);
    expect(asked(closed.fake)).toEqual([MERGE, READ]);
  });

  it.each([
    [405, 404],
    [409, 404],
    [409, 500],
  ])('%i whose read afterwards answers %i stays a conflict without the marker', async (refusal, status) => {
    const { fake, merge } = await start();
    fake.failNext('POST /merge', json({ message: 'no' }, refusal));
    fake.failNext('GET /pulls/1', json({ message: 'oops' }, status));
    const conflict = await conflictOf(merge());
    expect([conflict.alreadyMerged, conflict.message.endsWith('it could not be read again')]).toEqual([false, true]);
    expect(conflict.isUnsure).toBe(true);
  });

  it('a merge that was only put off is a conflict', async () => {
    const { fake, merge } = await start();
    fake.failNext('POST /merge', empty(201));
    const conflict = await conflictOf(merge());
    expect(conflict.message).toContain('status 201: accepted, but not merged');
    expect(conflict.isUnsure).toBe(true);
  });

  it('403 that names a scope is an auth error that names write:repository', async () => {
    const { fake, merge } = await start({ scopes: READ_SCOPES });
    const error = await failureOf(merge());
    expect(error).toMatchObject({ kind: 'tracker_auth_error', status: 403, retryable: false });
    expect(error.message).toContain(
      'tracker: tracker_auth_error: POST /repos/acme/app/pulls/1/merge: status 403: the token needs the scope write:repository',
    );
    fake.failNext('POST /merge', json({ message: 'token scope is limited to public repositories' }, 403));
    expect((await failureOf(merge())).message).toContain('write:repository');
  });

  it.each<[number, string]>([
    [403, 'tracker_auth_error'],
    [401, 'tracker_auth_error'],
    [404, 'tracker_not_found'],
    [422, 'tracker_payload_error'],
    [423, 'tracker_api_error'],
    [500, 'tracker_transport_error'],
  ])('%i is left to the error table', async (status, kind) => {
    const { fake, merge } = await start();
    fake.failNext('POST /merge', json({ message: 'refused' }, status));
    const error = await failureOf(merge());
    expect([error.kind, error.detail]).toEqual([kind, `status ${status}: refused`]);
    expect(asked(fake)).toEqual([MERGE]);
  });

  it('an error of the second try is told as it is', async () => {
    const { fake, merge } = await start();
    fake.failNext('POST /merge', json({ message: 'head out of date' }, 409));
    fake.failNext('POST /merge', json({ message: 'oops' }, 502));
    expect((await failureOf(merge())).kind).toBe('tracker_transport_error');
  });

  it('an abort during the read afterwards ends it with its reason', async () => {
    const { fake, scm } = await start();
    fake.failNext('POST /merge', json({ message: 'head out of date' }, 409));
    fake.failNext('GET /pulls/1', hang());
    const controller = new AbortController();
    const pending = scm.merge(requestFor(1), { strategy: 'merge', expectedSha: SHA }, controller.signal);
    const ended = expect(pending).rejects.toThrow('stopping');
    await fake.arrived(2);
    controller.abort(new Error('stopping'));
    await ended;
  });
});

describe('gitea branch deletion', () => {
  const repo = { owner: 'acme', repo: 'app' };

  it('names the branch percent-encoded; one that is gone is fine', async () => {
    const { fake, scm } = await start();
    await scm.deleteBranch(repo, 'feat/x', never);
    expect(fake.branches()).toEqual(['main']);
    await scm.deleteBranch(repo, 'feat/x', never);
    expect(asked(fake)).toEqual(Array(2).fill('DELETE /repos/acme/app/branches/feat%2Fx'));
    expect((await scm.readMergeStatus(requestFor(1), never)).headBranch).toBe('feat/x');
  });

  it('one that is gone is fine also where it is answered 500, as by Forgejo; one that is there is not', async () => {
    const { fake, scm } = await start();
    const failed = json({ message: '', url: `${fake.url}/api/swagger` }, 500);
    fake.failNext('DELETE /branches/feat%2Fx', failed);
    expect((await failureOf(scm.deleteBranch(repo, 'feat/x', never))).status).toBe(500);
    await scm.deleteBranch(repo, 'feat/x', never);
    fake.failNext('DELETE /branches/feat%2Fx', failed);
    await scm.deleteBranch(repo, 'feat/x', never);
  });

  it.each<[string, string, string]>([
    ['a protected branch', 'main', 'tracker_auth_error'],
    ['no branch', '', 'tracker_payload_error'],
    ['a name that would be another path', '..', 'tracker_payload_error'],
  ])('%s', async (_, branch, kind) => {
    const { scm } = await start();
    expect((await failureOf(scm.deleteBranch(repo, branch, never))).kind).toBe(kind);
  });

  it('a missing scope is named, and a refusal is no merge conflict', async () => {
    const { fake, scm } = await start({ scopes: READ_SCOPES });
    expect((await failureOf(scm.deleteBranch(repo, 'feat/x', never))).message).toContain('write:repository');
    fake.failNext('DELETE /branches/feat%2Fx', json({ message: 'no' }, 409));
    expect((await failureOf(scm.deleteBranch(repo, 'feat/x', never))).kind).toBe('tracker_api_error');
  });
});

describe('gitea label removal', () => {
  const LABELS = 'GET /repos/acme/app/issues/1/labels';

  it('resolves the name among the labels of the request, whatever its case, and deletes by id', async () => {
    const { fake, scm } = await start();
    fake.editIssue(1, { labels: ['Foray:Fix', 'foray:fix', 'bug'] });
    const [first, second] = fake.labels().map(({ id }) => id);
    await scm.removeLabel(requestFor(1), 'foray:fix', never);
    expect(fake.issue(1).labels).toEqual(['bug']);
    const removed = (id?: number) => `DELETE /repos/acme/app/issues/1/labels/${id}`;
    expect(asked(fake)).toEqual([LABELS, removed(first), removed(second)]);
  });

  it('a label that the request does not carry asks for nothing more', async () => {
    const { fake, scm } = await start();
    fake.editIssue(1, { labels: ['bug'] });
    await scm.removeLabel(requestFor(1), 'foray:fix', never);
    expect(asked(fake)).toEqual([LABELS]);
  });

  it.each([404, 422])('%i on delete is success: somebody was faster', async (status) => {
    const { fake, scm } = await start();
    fake.editIssue(1, { labels: ['bug'] });
    fake.failNext(({ method }) => method === 'DELETE', json({ message: 'gone' }, status));
    await scm.removeLabel(requestFor(1), 'BUG', never);
  });

  it('any other failure is one', async () => {
    const { fake, scm } = await start();
    fake.editIssue(1, { labels: ['bug'] });
    fake.failNext(({ method }) => method === 'DELETE', json({ message: 'no' }, 500));
    expect((await failureOf(scm.removeLabel(requestFor(1), 'bug', never))).kind).toBe('tracker_transport_error');
    expect((await failureOf(scm.removeLabel(requestFor(9), 'bug', never))).kind).toBe('tracker_not_found');
  });
});

describe('gitea merge scope', () => {
  const repo = { owner: 'acme', repo: 'app' };

  it('is ruled out only where the user may not push', async () => {
    const { scm, fake } = await start({ mayPush: false });
    const { mayMerge, detail } = await scm.checkMergeScope(repo, never);
    expect([mayMerge, detail]).toEqual(['no', 'the user of the token may not push to acme/app: give that user write access']);
    expect(asked(fake)).toEqual(['GET /repos/acme/app']);
  });

  it.each<[string, object, number]>([
    ['push is true, which says nothing of the token', { permissions: { push: true } }, 200],
    ['push is not told', { permissions: {} }, 200],
    ['permissions are null', { permissions: null }, 200],
    ['permissions are absent', {}, 200],
    ['push is no flag', { permissions: { push: 'no' } }, 200],
    ['the repository is not found', { message: 'x' }, 404],
    ['the token may not read it', { message: 'scope' }, 403],
    ['the forge is down', { message: 'x' }, 502],
  ])('is unknown where %s', async (_, body, status) => {
    const { scm, fake } = await start();
    fake.failNext('GET /repos/acme/app', json(body, status));
    expect((await scm.checkMergeScope(repo, never)).mayMerge).toBe('unknown');
  });

  it('an abort is no answer', async () => {
    const { scm } = await start();
    await expect(scm.checkMergeScope(repo, AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
  });
});
