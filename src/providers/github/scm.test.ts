import { describe, expect, it } from 'vitest';
import { asked, failureOf } from '../../../test/fakes/github/connect.ts';
import { REQUEST, rolesWith, scmConnections } from '../../../test/fakes/github/connect-scm.ts';
import { empty, json } from '../../../test/support/http-server.ts';
import { provider } from './index.ts';

const signal = new AbortController().signal;
const connect = scmConnections();
const PULL = 'GET /repos/acme/widgets/pulls/1';
describe('the adapter', () => {
  it('makes no request when it is built, and is there for the kind', async () => {
    const { fake, scm, ci } = await connect();
    expect([scm.kind, ci.kind, fake.requests.length]).toEqual(['repoissues', 'repoissues', 0]);
    expect([provider.createScm, provider.createCi].every(Boolean)).toBe(true);
  });

  it.each([
    [{ endpoint: 'ftp://x' }, 'github.endpoint "ftp://x" is not an absolute http or https URL'],
    [{ endpoint: '', apiKey: ' ' }, 'github.api_key is empty'],
  ])('refuses %j before any request', (parts, said) => {
    expect(() => rolesWith(parts)).toThrow(said);
  });

  it('sends the headers of the tracker role and the user agent of its own', async () => {
    const { fake } = await connect();
    const { scm } = rolesWith({ endpoint: fake.url, userAgent: 'me/2' });
    fake.pulls.add();
    await scm.readMergeStatus(REQUEST, signal);
    await scm.readReviewDecision(REQUEST, 'anyone', signal);
    for (const { headers } of fake.requests) {
      expect(headers).toMatchObject({
        authorization: 'Bearer fake-token-0123456789',
        accept: 'application/vnd.github+json',
        'x-forge-api-version': '2026-03-10',
        'x-github-api-version': '2026-03-10',
        'user-agent': 'me/2',
      });
    }
  });

  it.each([
    [{ owner: '', repo: 'widgets', number: 1 }],
    [{ owner: 'acme', repo: ' ', number: 1 }],
    [{ owner: 'acme', repo: 'widgets', number: 0 }],
    [{ owner: 'acme', repo: 'widgets', number: 1.5 }],
    [{ owner: '..', repo: 'widgets', number: 1 }],
  ])('refuses %j before any request', async (request) => {
    const { fake, scm } = await connect();
    const order = { strategy: 'merge', expectedSha: 'a' } as const;
    const reads = [scm.readMergeStatus, scm.readCiStatus, scm.readLabelEvents];
    expect((await failureOf(scm.readPendingReviews(request, 'anyone', signal))).kind).toBe('tracker_payload_error');
    for (const read of reads) expect((await failureOf(read(request, signal))).kind).toBe('tracker_payload_error');
    expect((await failureOf(scm.merge(request, order, signal))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toHaveLength(0);
  });
});
describe('the merge status', () => {
  it('is filled from the pull request', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add({ issue: { labels: ['Needs-Review'] }, headRef: 'fix/it', draft: true, mergeableState: 'draft' });
    expect(await scm.readMergeStatus(REQUEST, signal)).toEqual({
      mergeability: 'blocked',
      draft: true,
      merged: false,
      closed: false,
      headSha: '1'.padStart(40, 'a'),
      headBranch: 'fix/it',
      baseBranch: 'main',
      fork: false,
      projectId: '',
      mergeCommitSha: '',
      labels: ['needs-review'],
      url: 'https://forge.example/acme/widgets/pull/1',
    });
    expect(asked(fake)).toEqual(['GET /pulls/1']);
  });

  it('is unknown after a push until the remote has worked it out', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.pulls.push(1, 'c'.repeat(40));
    expect(await scm.readMergeStatus(REQUEST, signal)).toMatchObject({ mergeability: 'unknown', headSha: 'c'.repeat(40) });
    expect(await scm.readMergeStatus(REQUEST, signal)).toMatchObject({ mergeability: 'clean' });
  });

  it('is never answered from memory', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    await scm.readMergeStatus(REQUEST, signal);
    await scm.readCiStatus(REQUEST, signal);
    await scm.readMergeStatus(REQUEST, signal);
    const reads = fake.requests.filter(({ path }) => path.endsWith('/pulls/1'));
    expect(reads.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined, undefined]);
  });

  it('takes the merge commit from GraphQL, since the pinned version no longer has it', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.pulls.merge(1, 'bob');
    const status = await scm.readMergeStatus(REQUEST, signal);
    expect(status).toMatchObject({ merged: true, closed: false, mergeCommitSha: '1'.padStart(40, 'e') });
    expect(asked(fake)).toEqual(['GET /pulls/1', 'POST /graphql']);
  });

  it('takes it from the request where an older edition still tells', async () => {
    const { fake, scm } = await connect();
    const head = { ref: 'f', sha: 's' };
    fake.failNext(PULL, json({ number: 1, state: 'closed', merged: true, merge_commit_sha: 'e1', head, base: { ref: 'main' } }));
    expect(await scm.readMergeStatus(REQUEST, signal)).toMatchObject({
      merged: true,
      mergeCommitSha: 'e1',
      mergeability: 'unknown',
    });
    expect(asked(fake)).toEqual(['GET /pulls/1']);
  });

  it('says merged also when the merge commit cannot be had', async () => {
    const { fake, scm, warnings } = await connect();
    fake.pulls.add();
    fake.pulls.merge(1, 'bob');
    for (let count = 0; count < 2; count += 1) {
      fake.failNext('POST /graphql', json({ message: 'Down' }, 502));
      expect(await scm.readMergeStatus(REQUEST, signal)).toMatchObject({ merged: true, mergeCommitSha: '' });
    }
    expect(warnings.map(({ message }) => message)).toEqual(['merge commit could not be read']);
  });

  it('reports a state nobody knows, once', async () => {
    const { fake, scm, warnings } = await connect();
    fake.pulls.add({ mergeableState: 'queued_up' });
    expect((await scm.readMergeStatus(REQUEST, signal)).mergeability).toBe('blocked');
    await scm.readMergeStatus(REQUEST, signal);
    expect(warnings).toEqual([
      {
        message: 'mergeable state is not known, the pull request counts as blocked',
        attributes: { tracker_kind: 'repoissues', pull_request: 'acme/widgets#1', value: 'queued_up' },
      },
    ]);
  });

  it('of a pull request that is gone is tracker_not_found', async () => {
    const { scm } = await connect();
    const error = await failureOf(scm.readMergeStatus(REQUEST, signal));
    expect([error.kind, error.status]).toEqual(['tracker_not_found', 404]);
    expect(error.message).toContain('there is no such pull request');
  });

  it.each<[string, object]>([
    ['no head', { number: 1 }],
    ['labels that are none', { number: 1, head: { sha: 's' }, base: {}, labels: 7 }],
  ])('with %s is tracker_payload_error', async (_, body) => {
    const { fake, scm } = await connect();
    fake.failNext(PULL, json(body));
    expect((await failureOf(scm.readMergeStatus(REQUEST, signal))).kind).toBe('tracker_payload_error');
  });
});
describe('an abort', () => {
  it('ends a read with the reason of the caller', async () => {
    const { scm } = await connect();
    const reason = new Error('shutting down');
    await expect(scm.readMergeStatus(REQUEST, AbortSignal.abort(reason))).rejects.toBe(reason);
    await expect(scm.readReviewDecision(REQUEST, 'anyone', AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
describe('refusals', () => {
  it.each([
    ['GET /repos/acme/widgets/pulls/1', 401, 'check github.api_key or tracker.api_key'],
    ['GET /repos/acme/widgets/pulls/1', 403, 'pull_requests:read'],
    ['GET /repos/acme/widgets/commits/1/status', 403, 'statuses:read'],
  ])('of %s with %d say what the token needs', async (line, status, remedy) => {
    const { fake, scm } = await connect();
    fake.pulls.add({ headSha: '1' });
    fake.failNext(line, json({ message: 'No' }, status));
    const error = await failureOf(scm.readCiStatus(REQUEST, signal));
    expect([error.kind, error.status]).toEqual(['tracker_auth_error', status]);
    expect(error.message).toContain(remedy);
  });

  it('of a pull request that is to be opened say what that needs', async () => {
    const { fake, opener } = await connect();
    fake.failNext('POST /repos/acme/widgets/pulls', json({ message: 'No' }, 403));
    const order = { owner: 'acme', repo: 'widgets', branch: 'foray/1', base: 'main', title: 'One', body: '' };
    expect((await failureOf(opener.open(order, signal))).message).toContain('opening one pull_requests:write');
  });

  it('with a rate limit are no question of permissions', async () => {
    const { fake, scm } = await connect();
    fake.failNext(PULL, empty(403, { 'x-ratelimit-remaining': '0' }));
    expect((await failureOf(scm.readMergeStatus(REQUEST, signal))).kind).toBe('tracker_api_error');
  });
});
