import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { connectionFor, openScm, requestFor } from '../../../test/fakes/gitea/connect-scm.ts';
import { asked, depsWith, failureOf, never } from '../../../test/fakes/gitea/connect.ts';
import { hang, json } from '../../../test/support/http-server.ts';
import { provider } from './index.ts';

const PULL = 'GET /repos/acme/app/pulls/1';
const REVIEWS = `${PULL}/reviews?page=1&limit=50`;

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

/** A fake with one pull request, number 1. */
async function start(options: FakeGiteaOptions = {}) {
  const fake = await startFakeGitea(options);
  running.push(fake);
  fake.addPull({ branch: 'feat/x', sha: 'd'.repeat(40) });
  return { fake, request: requestFor(1), sha: 'd'.repeat(40), ...openScm(fake) };
}

describe('gitea SCM construction', () => {
  it('makes no request, needs no project, and throws the documented faults for both roles', async () => {
    const { fake } = await start();
    const { deps } = depsWith();
    const connection = connectionFor(fake);
    for (const build of [provider.createScm, provider.createCi]) {
      expect(build?.(connection, deps).kind).toBe('selfhosted');
      const noKey = await failureOf(() => build?.({ ...connection, apiKey: ' ' }, deps));
      expect([noKey.kind, noKey.detail]).toEqual(['tracker_auth_error', 'gitea.api_key is empty: set it to an access token']);
      const badAddress = await failureOf(() => build?.({ ...connection, endpoint: 'http://u:pw@' }, deps));
      expect(badAddress.kind).toBe('tracker_payload_error');
      expect(badAddress.message).not.toContain('pw');
    }
    expect(asked(fake)).toEqual([]);
  });

  it('sends the configured user agent and the token header', async () => {
    const { fake, request } = await start();
    await openScm(fake, { userAgent: 'mine/2' }).scm.readMergeStatus(request, never);
    expect(fake.requests[0]?.headers).toMatchObject({ 'user-agent': 'mine/2', authorization: `token ${fake.token}` });
  });
});

describe('gitea review decision', () => {
  it('comes from the reviews alone once somebody decided', async () => {
    const { fake, scm, request } = await start();
    fake.review(1, { author: 'ann', state: 'REQUEST_CHANGES', body: 'no' });
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('CHANGES_REQUESTED');
    fake.review(1, { author: 'ann', state: 'APPROVED' });
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('APPROVED');
    expect(asked(fake)).toEqual([REVIEWS, REVIEWS]);
  });

  it('a non-empty list of requested reviewers asks for a review, an empty or null one does not', async () => {
    const { fake, scm, request } = await start();
    fake.review(1, { state: 'COMMENT', body: 'hm', submittedAt: 'nonsense', dismissed: true });
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('NOT_REQUIRED');
    fake.editPull(1, { requestedReviewers: ['ann'] });
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('REVIEW_REQUIRED');
    expect(asked(fake, 2)).toEqual([REVIEWS, PULL]);
    fake.failNext('GET /pulls/1', json({ requested_reviewers: null }));
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('NOT_REQUIRED');
  });

  it('whoever left a word is listed as asked; a stranger who decided is not waited for', async () => {
    const { fake, scm, request } = await start();
    fake.review(1, { author: 'stranger', state: 'REQUEST_CHANGES', body: 'no', official: false });
    expect(await scm.readReviewDecision(request, 'collaborators', never)).toBe('NOT_REQUIRED');
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('CHANGES_REQUESTED');
    fake.review(1, { author: 'ann', state: 'COMMENT', body: 'hm' });
    expect(await scm.readReviewDecision(request, 'collaborators', never)).toBe('REVIEW_REQUIRED');
  });

  it('an approval decides while another is asked: the remote lists everybody who left a word as asked', async () => {
    const { fake, scm, request } = await start();
    fake.editPull(1, { requestedReviewers: ['ann', 'bob'] });
    fake.review(1, { author: 'ann', state: 'APPROVED' });
    expect(await scm.readReviewDecision(request, 'collaborators', never)).toBe('APPROVED');
  });

  it('a decision on the second page counts', async () => {
    const { fake, scm, request } = await start();
    fake.review(1, { author: 'bob', state: 'APPROVED' });
    for (let n = 0; n < 49; n += 1) fake.review(1, { body: 'hm' });
    fake.review(1, { author: 'ann', state: 'REQUEST_CHANGES', body: 'no' });
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('CHANGES_REQUESTED');
  });

  it('a page that is short because of somebody’s draft is not taken for the last', async () => {
    const { fake, scm, request } = await start();
    fake.review(1, { author: 'bob', state: 'APPROVED' });
    fake.review(1, { author: 'eve', state: 'PENDING' });
    for (let n = 0; n < 48; n += 1) fake.review(1, { body: 'hm' });
    fake.review(1, { author: 'ann', state: 'REQUEST_CHANGES', body: 'no' });
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('CHANGES_REQUESTED');
  });

  it('a decision with a time that is not RFC 3339 fails the read', async () => {
    const { fake, scm, request } = await start();
    fake.review(1, { state: 'APPROVED', submittedAt: '2026-01-01 00:00:00' });
    expect((await failureOf(scm.readReviewDecision(request, 'anyone', never))).kind).toBe('tracker_payload_error');
  });

  it.each([
    ['a review that is no record', [null]],
    ['a review without an id', [{ state: 'APPROVED' }]],
    ['an object', { message: 'hi' }],
  ])('%s fails the read rather than be left out', async (_, body) => {
    const { fake, scm, request } = await start();
    fake.failNext('GET /reviews', json(body));
    expect((await failureOf(scm.readReviewDecision(request, 'anyone', never))).kind).toBe('tracker_payload_error');
  });

  it('reviews may be null', async () => {
    const { fake, scm, request } = await start();
    fake.failNext('GET /reviews', json(null));
    expect(await scm.readReviewDecision(request, 'anyone', never)).toBe('NOT_REQUIRED');
  });
});

describe('gitea merge status', () => {
  it('comes from one read of the pull request', async () => {
    const { fake, scm, request, sha } = await start({ labels: ['Foray:Fix'] });
    fake.editIssue(1, { labels: ['Foray:Fix'] });
    expect(await scm.readMergeStatus(request, never)).toEqual({
      mergeability: 'clean',
      draft: false,
      merged: false,
      closed: false,
      headSha: sha,
      headBranch: 'feat/x',
      baseBranch: 'main',
      fork: false,
      projectId: '',
      mergeCommitSha: '',
      labels: ['foray:fix'],
      url: `${fake.url}/acme/app/pulls/1`,
    });
    expect(asked(fake)).toEqual([PULL]);
  });

  it('tells a merged one with its commit, a closed one, and a draft', async () => {
    const { fake, scm, request } = await start();
    fake.editPull(1, { draft: true });
    expect(await scm.readMergeStatus(request, never)).toMatchObject({ mergeability: 'blocked', draft: true });
    fake.editPull(1, { draft: false, mergeable: false });
    expect(await scm.readMergeStatus(request, never)).toMatchObject({ mergeability: 'unknown' });
    fake.mergePull(1);
    expect(await scm.readMergeStatus(request, never)).toMatchObject({
      merged: true,
      closed: false,
      mergeCommitSha: fake.pull(1).merged?.sha,
    });
    fake.addPull({ state: 'closed' });
    expect(await scm.readMergeStatus(requestFor(2), never)).toMatchObject({ merged: false, closed: true });
  });

  it.each([9, 2, 0, -1, 1.5, Number.NaN])('%d is not found: no such request, an issue, or no index at all', async (number) => {
    const { fake, scm } = await start();
    fake.addIssue();
    expect((await failureOf(scm.readMergeStatus(requestFor(number), never))).kind).toBe('tracker_not_found');
  });

  it('a flag of another type is not guessed at', async () => {
    const { fake, scm, request } = await start();
    fake.failNext('GET /pulls/1', json({ merged: 'yes' }));
    expect((await failureOf(scm.readMergeStatus(request, never))).kind).toBe('tracker_payload_error');
  });

  it('an owner that would name another resource is refused', async () => {
    const { fake, scm } = await start();
    const request = { owner: '..', repo: 'app', number: 1 };
    expect((await failureOf(scm.readMergeStatus(request, never))).kind).toBe('tracker_payload_error');
    expect(asked(fake)).toEqual([]);
  });
});

describe('gitea CI status for the merge gate', () => {
  it.each<[string, string[], string]>([
    ['no statuses: empty', [], ''],
    ['success and warning', ['success', 'warning'], 'success'],
    ['a pending one', ['success', 'pending'], 'pending'],
    ['an unknown one', ['success', 'skipped'], 'pending'],
    ['a failure', ['success', 'pending', 'failure'], 'failing'],
    ['an error, in other case', ['ERROR'], 'failing'],
  ])('%s', async (_, values, expected) => {
    const { fake, scm, request, sha } = await start();
    for (const [index, status] of values.entries()) fake.status(sha, { context: `job ${index}`, status });
    expect(await scm.readCiStatus(request, never)).toBe(expected);
    expect(asked(fake)).toEqual([PULL, `GET /repos/acme/app/commits/${sha}/status?page=1&limit=50`]);
  });

  it('reads every page of statuses', async () => {
    const { fake, scm, request, sha } = await start();
    fake.status(sha, { context: 'oldest', status: 'failure' });
    for (let n = 0; n < 50; n += 1) fake.status(sha, { context: `job ${n}` });
    expect(await scm.readCiStatus(request, never)).toBe('failing');
  });

  it('judges the head of now', async () => {
    const { fake, scm, request, sha } = await start();
    fake.status(sha, { status: 'success' });
    fake.push(1, 'e'.repeat(40));
    expect(await scm.readCiStatus(request, never)).toBe('');
  });

  it.each([{}, { head: null }, { head: { sha: '' } }])('a pull request without a head is a payload error: %j', async (pull) => {
    const { fake, scm, request } = await start();
    fake.failNext('GET /pulls/1', json(pull));
    expect((await failureOf(scm.readCiStatus(request, never))).kind).toBe('tracker_payload_error');
  });
});

describe('gitea reads that break off', () => {
  const reads = {
    decision: ['GET /reviews', 'GET /pulls/1'],
    ci: ['GET /pulls/1', 'GET /status'],
    pending: ['GET /reviews', 'GET /comments'],
    bots: ['GET /reviews', 'GET /comments'],
    labels: ['GET /timeline'],
  } as const;
  const rows = Object.entries(reads).flatMap(([name, steps]) =>
    steps.flatMap((step) => [
      [name, step, 404, 'tracker_not_found'] as const,
      [name, step, 502, 'tracker_transport_error'] as const,
      [name, step, 405, 'tracker_api_error'] as const,
    ]),
  );

  it.each(rows)('%s: %s answers %i', async (name, step, status, kind) => {
    const { fake, scm, request } = await start();
    if (name === 'pending' || name === 'bots') fake.review(1, { state: 'REQUEST_CHANGES', body: 'no' });
    const read = {
      decision: () => scm.readReviewDecision(request, 'anyone', never),
      ci: () => scm.readCiStatus(request, never),
      pending: () => scm.readPendingReviews(request, 'anyone', never),
      bots: () => scm.readBotReviewComments(request, ['rita'], never),
      labels: () => scm.readLabelEvents(request, never),
    }[name];
    fake.failNext(step, json({ message: 'oops' }, status));
    expect((await failureOf(read?.() ?? Promise.resolve())).kind).toBe(kind);
  });

  it('an abort ends a read with its reason', async () => {
    const { fake, scm, request } = await start();
    fake.failNext('GET /pulls/1', hang());
    const controller = new AbortController();
    const ended = expect(scm.readMergeStatus(request, controller.signal)).rejects.toThrow('stopping');
    await fake.arrived(1);
    controller.abort(new Error('stopping'));
    await ended;
  });
});
