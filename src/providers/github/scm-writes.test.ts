import { describe, expect, it } from 'vitest';
import { asked, failureOf } from '../../../test/fakes/github/connect.ts';
import { REQUEST, scmConnections } from '../../../test/fakes/github/connect-scm.ts';
import { empty, json, reset, text } from '../../../test/support/http-server.ts';
import { ScmConflictError, type TrackerErrorKind } from '../../domain/model/errors.ts';
import type { MergeStrategy } from '../../domain/model/merge-request.ts';
import type { MergeOrder, ScmAdapter } from '../../ports/scm.ts';

const signal = new AbortController().signal;
const connect = scmConnections();
const HEAD = '1'.padStart(40, 'a');
const ORDER: MergeOrder = { strategy: 'squash', expectedSha: HEAD };
const MERGE = 'PUT /repos/acme/widgets/pulls/1/merge';

async function conflictOf(scm: ScmAdapter, order = ORDER): Promise<ScmConflictError> {
  const error = await scm.merge(REQUEST, order, signal).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ScmConflictError)) throw new Error(`expected a ScmConflictError, got ${String(error)}`);
  return error;
}

describe('a merge', () => {
  it.each<MergeStrategy>(['merge', 'squash', 'rebase'])(
    'by %s sends the expected head and tells the commit',
    async (strategy) => {
      const { fake, scm } = await connect();
      fake.pulls.add();
      expect(await scm.merge(REQUEST, { ...ORDER, strategy }, signal)).toEqual({ mergeCommitSha: '1'.padStart(40, 'e') });
      expect(asked(fake)).toEqual(['PUT /pulls/1/merge']);
      expect(fake.requests[0]?.json()).toEqual({ merge_method: strategy, sha: HEAD });
      expect(fake.pulls.get(1).merged).toBe(true);
    },
  );

  it.each<[string, MergeOrder]>([
    ['without an expected head', { strategy: 'merge', expectedSha: '' }],
    ['with a blank one', { strategy: 'merge', expectedSha: ' ' }],
    ['by an unknown strategy', { strategy: 'octopus' as MergeStrategy, expectedSha: HEAD }],
    ['by the name of a property', { strategy: 'constructor' as MergeStrategy, expectedSha: HEAD }],
  ])('%s is refused before any request', async (_, order) => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    expect((await failureOf(scm.merge(REQUEST, order, signal))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toHaveLength(0);
  });

  it.each<[string, object, RegExp, headMoved?: boolean]>([
    ['of a stale head (409)', { headSha: 'f'.repeat(40) }, /status 409: Head branch was modified/, true],
    ['of a draft (405)', { draft: true }, /status 405: Pull Request is still a draft/],
    ['with a conflict (405)', { mergeable: false, mergeableState: 'dirty' }, /status 405: Pull Request is not mergeable/],
    ['that a rule forbids (405)', { mergeableState: 'blocked' }, /status 405: At least 1 approving review/],
  ])('%s is a conflict, looked at again', async (_, parts, said, headMoved = false) => {
    const { fake, scm } = await connect();
    fake.pulls.add(parts);
    const error = await conflictOf(scm);
    expect(error).toMatchObject({ alreadyMerged: false, isUnsure: false, headMoved });
    expect(error.message).toMatch(said);
    expect(error.message).toContain('acme/widgets#1 was not merged');
    expect(asked(fake)).toEqual(['PUT /pulls/1/merge', 'GET /pulls/1']);
  });

  it('that somebody else made first is marked, by a look and not by the words', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    fake.before(MERGE, () => fake.pulls.merge(1, 'bob'));
    expect((await conflictOf(scm)).alreadyMerged).toBe(true);
  });

  it('that was made before by the same token is a success again', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add();
    const first = await scm.merge(REQUEST, ORDER, signal);
    expect(await scm.merge(REQUEST, { ...ORDER, expectedSha: 'old' }, signal)).toEqual(first);
  });

  it.each<[string, number]>([
    ['cannot be looked at', 502],
    ['is gone', 404],
  ])('that is refused stays a conflict when the request %s', async (_, status) => {
    const { fake, scm, warnings } = await connect();
    fake.pulls.add({ draft: true });
    fake.failNext('GET /repos/acme/widgets/pulls/1', json({ message: 'Sorry' }, status));
    expect(await conflictOf(scm)).toMatchObject({ alreadyMerged: false, isUnsure: true });
    expect(warnings.map(({ message }) => message)).toEqual(['refused merge could not be looked at again']);
  });

  it.each([[{ merged: false, message: 'Not today' }], [{}], [{ merged: null }]])(
    'answered with %j is a conflict without a mark',
    async (body) => {
      const { fake, scm } = await connect();
      fake.pulls.add();
      fake.failNext(MERGE, json(body));
      expect(await conflictOf(scm)).toMatchObject({ alreadyMerged: false, isUnsure: true });
      expect(asked(fake)).toEqual(['PUT /pulls/1/merge']);
    },
  );

  it.each<[string, Parameters<typeof json>[1], TrackerErrorKind]>([
    ['401', 401, 'tracker_auth_error'],
    ['403', 403, 'tracker_auth_error'],
    ['404', 404, 'tracker_not_found'],
    ['422', 422, 'tracker_payload_error'],
    ['429', 429, 'tracker_api_error'],
    ['502', 502, 'tracker_transport_error'],
  ])('answered with %s is %s and no conflict', async (_, status, kind) => {
    const { fake, scm } = await connect();
    fake.failNext(MERGE, json({ message: 'No' }, status));
    expect((await failureOf(scm.merge(REQUEST, ORDER, signal))).kind).toBe(kind);
    expect(fake.requests).toHaveLength(1);
  });

  it('that breaks off is no conflict', async () => {
    const { fake, scm } = await connect();
    fake.failNext(MERGE, reset());
    expect((await failureOf(scm.merge(REQUEST, ORDER, signal))).kind).toBe('tracker_transport_error');
  });

  it.each([[json({ message: 'Resource not accessible' }, 403)], [text('<html>', 403)], [empty(403)]])(
    'that the token may not make names the permissions (%#)',
    async (reply) => {
      const { fake, scm } = await connect();
      fake.failNext(MERGE, reply);
      const error = await failureOf(scm.merge(REQUEST, ORDER, signal));
      expect(error.kind).toBe('tracker_auth_error');
      expect(error.message).toContain('contents:write and pull_requests:write');
    },
  );
});

describe('the deletion of a branch', () => {
  it('encodes its name', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add({ headRef: 'fix/it 100%' });
    await scm.deleteBranch(REQUEST, 'fix/it 100%', signal);
    expect(asked(fake)).toEqual(['DELETE /git/refs/heads/fix%2Fit%20100%25']);
    expect(fake.pulls.branches.has('fix/it 100%')).toBe(false);
  });

  it.each<[404 | 422]>([[422], [404]])('that is gone already is fine (%d)', async (missingRefStatus) => {
    const { scm } = await connect({ missingRefStatus });
    await scm.deleteBranch(REQUEST, 'gone', signal);
  });

  it('that is protected is refused', async () => {
    const { scm } = await connect();
    const error = await failureOf(scm.deleteBranch(REQUEST, 'main', signal));
    expect([error.kind, error.status]).toEqual(['tracker_payload_error', 422]);
  });

  it('that the token may not make names the permission', async () => {
    const { scm } = await connect({ canWrite: false });
    expect((await failureOf(scm.deleteBranch(REQUEST, 'x', signal))).message).toContain('contents:write');
  });

  it.each([405, 409])('answered with %d is no merge conflict', async (status) => {
    const { fake, scm } = await connect();
    fake.failNext(/^DELETE/, json({ message: 'No' }, status));
    expect((await failureOf(scm.deleteBranch(REQUEST, 'x', signal))).kind).toBe('tracker_api_error');
  });

  it.each(['', ' '])('of the name %j is refused before any request', async (branch) => {
    const { fake, scm } = await connect();
    expect((await failureOf(scm.deleteBranch(REQUEST, branch, signal))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toHaveLength(0);
  });
});

describe('the removal of a label', () => {
  it('ignores case, and a label that is not there is fine', async () => {
    const { fake, scm } = await connect();
    fake.pulls.add({ issue: { labels: ['Foray:Fix'] } });
    await scm.removeLabel(REQUEST, 'foray:fix', signal);
    await scm.removeLabel(REQUEST, 'foray:fix', signal);
    expect(fake.pulls.get(1).issue.labels).toEqual([]);
    expect(asked(fake)).toEqual(
      ['DELETE /issues/1/labels/foray:fix', 'DELETE /issues/1/labels/foray:fix'].map((line) => line.replace(':', '%3A')),
    );
  });

  it('that the token may not make is tracker_auth_error', async () => {
    const { fake, scm } = await connect({ canWrite: false });
    fake.pulls.add({ issue: { labels: ['x'] } });
    const error = await failureOf(scm.removeLabel(REQUEST, 'x', signal));
    expect([error.kind, error.message]).toEqual(['tracker_auth_error', expect.stringContaining('pull_requests:write')]);
  });

  it('of no name is refused before any request', async () => {
    const { fake, scm } = await connect();
    expect((await failureOf(scm.removeLabel(REQUEST, ' ', signal))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toHaveLength(0);
  });
});

describe('whether the token may merge', () => {
  it.each<[string | undefined, 'yes' | 'no' | 'unknown']>([
    ['repo', 'yes'],
    ['gist, repo, workflow', 'yes'],
    ['public_repo', 'yes'],
    ['gist, read:org', 'no'],
    ['repo:status, repo_deployment', 'no'],
    ['', 'unknown'],
    [undefined, 'unknown'],
  ])('with the scopes %j: %s', async (scopes, expected) => {
    const { fake, scm } = await connect(scopes === undefined ? {} : { scopes });
    expect((await scm.checkMergeScope(REQUEST, signal)).mayMerge).toBe(expected);
    expect(asked(fake)).toEqual(['GET /rate_limit']);
    expect(fake.remaining('core')).toBe(5000);
  });

  it('is unknown where the route is missing', async () => {
    const { fake, scm } = await connect();
    fake.failNext('GET /rate_limit', json({ message: 'Rate limiting is not enabled.' }, 404));
    expect((await scm.checkMergeScope(REQUEST, signal)).mayMerge).toBe('unknown');
  });

  it.each<[number, TrackerErrorKind]>([
    [401, 'tracker_auth_error'],
    [502, 'tracker_transport_error'],
  ])('cannot be told when the answer is %d: it is asked again', async (status, kind) => {
    const { fake, scm } = await connect({ scopes: 'repo' });
    fake.failNext('GET /rate_limit', json({ message: 'No' }, status));
    expect((await failureOf(scm.checkMergeScope(REQUEST, signal))).kind).toBe(kind);
    expect((await scm.checkMergeScope(REQUEST, signal)).mayMerge).toBe('yes');
  });
});
