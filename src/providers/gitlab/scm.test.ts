import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import { commitName } from '../../../test/fakes/gitlab/merge-store.ts';
import { openScmSubject, REQUEST, scmConnection } from '../../../test/fakes/gitlab/connect-scm.ts';
import { depsWith } from '../../../test/fakes/gitlab/connect.ts';
import type { Handler, Reply, TestServer } from '../../../test/support/http-server.ts';
import { empty, hang, json, reset, startServer, text, truncatedJson } from '../../../test/support/http-server.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import type { ScmConnection } from '../../domain/model/settings.ts';
import type { ScmAdapter } from '../../ports/scm.ts';
import { provider } from './index.ts';
import { judgeScopes } from './merge.ts';

const never = new AbortController().signal;
const TOKEN = 'glpat-0123456789abcdef';

const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
});

async function connect(options: FakeGitlabOptions = {}) {
  const fake: FakeGitlab = await startFakeGitlab(options);
  running.push(fake);
  fake.merges.add();
  return { fake, ...openScmSubject(fake) };
}

async function against(handler: Handler, over: Partial<ScmConnection> = {}) {
  const server: TestServer = await startServer(handler);
  running.push(server);
  return { server, ...openScmSubject({ url: server.url, token: TOKEN }, over) };
}

describe('building', () => {
  it('makes no request', async () => {
    const { server } = await against(() => undefined);
    expect(server.requests).toEqual([]);
  });

  it.each<[string, Partial<ScmConnection>, TrackerErrorKind, string]>([
    ['no key', { apiKey: ' ' }, 'tracker_auth_error', 'gitlab.api_key'],
    ['an endpoint without a host', { endpoint: 'http://:80' }, 'tracker_payload_error', 'gitlab.endpoint'],
    ['an endpoint that is none', { endpoint: 'gitlab.example.com' }, 'tracker_payload_error', 'gitlab.endpoint'],
  ])('is refused with %s', (_, over, kind, key) => {
    for (const create of [provider.createScm, provider.createCi]) {
      expect(() => create?.(scmConnection(over), depsWith().deps)).toThrow(
        expect.objectContaining({ kind, detail: expect.stringContaining(key) as string }),
      );
    }
  });

  it('a project that is percent-encoded is refused by the CI role, and not looked at by the other', () => {
    const connection = scmConnection({ project: 'acme%2Frocket' });
    expect(() => provider.createCi?.(connection, depsWith().deps)).toThrow(/gitlab\.project .*percent-encoded/);
    expect(provider.createScm?.(connection, depsWith().deps).kind).toBe('nsproject');
  });

  it('an endpoint may be left out, and may name the API path', async () => {
    expect(provider.createScm?.(scmConnection({ endpoint: '' }), depsWith().deps).kind).toBe('nsproject');
    const server = await startServer(() => json({ iid: 1 }));
    running.push(server);
    await openScmSubject({ url: `${server.url}/api/v4/`, token: TOKEN }).scm.readMergeStatus(REQUEST, never);
    expect(server.requests[0]?.path).toBe('/api/v4/projects/acme%2Ftools%2Frocket/merge_requests/1');
  });
});

describe('what is sent', () => {
  it.each([
    ['svc/dev', 'svc/dev'],
    ['', 'svc/dev'],
    ['us/1.2', 'us/1.2'],
  ])('the configured User-Agent (%j) with the headers of the tracker', async (userAgent, expected) => {
    const { server, scm, ci } = await against(() => json({ id: 'abc', iid: 1 }), { userAgent });
    await scm.readMergeStatus(REQUEST, never);
    await ci.readCi({ ...REQUEST, ref: 'main', maxLogLines: 0 }, never);
    for (const { headers } of server.requests) {
      expect(headers).toMatchObject({ 'private-token': TOKEN, accept: 'application/json', 'user-agent': expected });
      expect(headers).not.toHaveProperty('authorization');
    }
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['acme', 'rocket', 'acme%2Frocket'],
    ['acme/tools', 'rocket', 'acme%2Ftools%2Frocket'],
    ['acme', 'tools/rocket', 'acme%2Ftools%2Frocket'],
    ['acme%2Ftools', 'rocket', 'acme%252Ftools%2Frocket'],
  ])('owner %s and repo %s are joined and encoded once', async (owner, repo, encoded) => {
    const { server, scm } = await against(() => json({ iid: 1 }));
    await scm.readMergeStatus({ owner, repo, number: 1 }, never);
    expect(server.requests[0]?.path).toBe(`/api/v4/projects/${encoded}/merge_requests/1`);
  });

  it('an already encoded half is not found', async () => {
    const { scm } = await connect();
    await expect(scm.readMergeStatus({ ...REQUEST, owner: 'acme%2Ftools' }, never)).rejects.toMatchObject({
      kind: 'tracker_not_found',
    });
  });

  it.each([
    ['no owner', { ...REQUEST, owner: '' }],
    ['no repo', { ...REQUEST, repo: ' ' }],
    ['a broken character', { ...REQUEST, repo: 'x\ud800' }],
    ['number 0', { ...REQUEST, number: 0 }],
    ['number -1', { ...REQUEST, number: -1 }],
    ['number 1.5', { ...REQUEST, number: 1.5 }],
    ['no number', { ...REQUEST, number: Number.NaN }],
  ])('%s is refused before any request', async (_, request) => {
    const { server, scm } = await against(() => undefined);
    for (const [, call] of ON_REQUEST) {
      await expect(call(scm, request, never)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    }
    expect(server.requests).toEqual([]);
  });
});

type Call = (scm: ScmAdapter, request: typeof REQUEST, signal: AbortSignal) => Promise<unknown>;

const ON_REQUEST: readonly [string, Call][] = [
  ['readReviewDecision', (scm, request, signal) => scm.readReviewDecision(request, 'anyone', signal)],
  ['readMergeStatus', (scm, request, signal) => scm.readMergeStatus(request, signal)],
  ['readCiStatus', (scm, request, signal) => scm.readCiStatus(request, signal)],
  ['readPendingReviews', (scm, request, signal) => scm.readPendingReviews(request, 'anyone', signal)],
  ['readBotReviewComments', (scm, request, signal) => scm.readBotReviewComments(request, ['bot'], signal)],
  ['readLabelEvents', (scm, request, signal) => scm.readLabelEvents(request, signal)],
  ['merge', (scm, request, signal) => scm.merge(request, { strategy: 'merge', expectedSha: 'abc' }, signal)],
  ['removeLabel', (scm, request, signal) => scm.removeLabel(request, 'x', signal)],
];
const CALLS: readonly [string, Call][] = [
  ...ON_REQUEST,
  ['deleteBranch', (scm, request, signal) => scm.deleteBranch(request, 'x', signal)],
];

describe('bad remotes', () => {
  const replies: readonly [string, Reply, TrackerErrorKind][] = [
    ['truncated JSON', truncatedJson(), 'tracker_payload_error'],
    ['HTML from a proxy', text('<!DOCTYPE html><title>Sign in</title>', 200), 'tracker_payload_error'],
    ['null', json(null), 'tracker_payload_error'],
    ['a reset', reset(), 'tracker_transport_error'],
    ['401', json({ message: '401 Unauthorized' }, 401), 'tracker_auth_error'],
    ['429', text('Retry later', 429, { 'retry-after': '7' }), 'tracker_api_error'],
    ['500', json({ message: '500 Internal Server Error' }, 500), 'tracker_transport_error'],
    ['a redirect to another host', empty(302, { location: 'https://elsewhere.example/' }), 'tracker_api_error'],
  ];
  it.each(ON_REQUEST.flatMap(([name, call]) => replies.map(([what, reply, kind]) => [name, what, kind, call, reply] as const)))(
    '%s: %s is %s',
    async (_name, _what, kind, call, reply) => {
      const { scm } = await against(() => reply);
      await expect(call(scm, REQUEST, never)).rejects.toMatchObject({ name: 'TrackerError', kind });
    },
  );

  it.each(CALLS)('%s: the token never shows', async (_, call) => {
    const { scm } = await against(() => json({ message: `bad token ${TOKEN}` }, 401));
    const error = await call(scm, REQUEST, never).catch((reason: unknown) => reason);
    expect(String(error)).toContain('bad token [redacted]');
    expect(String(error)).not.toContain(TOKEN);
  });

  it.each(CALLS)('%s: an abort ends it with its reason', async (name, call) => {
    const { scm, server } = await against(() => hang());
    const controller = new AbortController();
    const outcome = call(scm, REQUEST, controller.signal).catch((error: unknown) => error);
    await server.arrived(1);
    const reason = new Error(name);
    controller.abort(reason);
    expect(await outcome).toBe(reason);
  });
});

describe('merge status', () => {
  it('is filled from the request', async () => {
    const { fake, scm, warnings } = await connect();
    fake.merges.label(1, { add: ['Bug'] });
    expect(await scm.readMergeStatus(REQUEST, never)).toEqual({
      mergeability: 'clean',
      draft: false,
      merged: false,
      closed: false,
      headSha: commitName('head 1'),
      headBranch: 'feature/1',
      baseBranch: 'main',
      fork: false,
      projectId: expect.any(String),
      mergeCommitSha: '',
      labels: ['bug'],
      url: `${fake.url}/acme/tools/rocket/-/merge_requests/1`,
    });
    expect(fake.requests).toHaveLength(1);
    expect(warnings()).toEqual([]);
  });

  it('after a push is unknown until the remote has looked', async () => {
    const { fake, scm } = await connect();
    fake.merges.push(1, commitName('newer'));
    expect(await scm.readMergeStatus(REQUEST, never)).toMatchObject({ mergeability: 'unknown', headSha: commitName('newer') });
    expect(await scm.readMergeStatus(REQUEST, never)).toMatchObject({ mergeability: 'clean' });
  });

  it('of a merged one tells what landed', async () => {
    const { scm } = await connect();
    await scm.merge(REQUEST, { strategy: 'squash', expectedSha: commitName('head 1') }, never);
    const status = await scm.readMergeStatus(REQUEST, never);
    expect(status).toMatchObject({ merged: true, closed: false, mergeability: 'blocked', mergeCommitSha: commitName('merge 1') });
  });

  it('that is unrecognized is blocked, with one warning; a documented one is no warning', async () => {
    const { fake, scm, warnings } = await connect();
    fake.merges.get(1).detailedMergeStatus = 'need_rebase';
    expect(await scm.readMergeStatus(REQUEST, never)).toMatchObject({ mergeability: 'blocked' });
    expect(warnings()).toEqual([]);
    fake.merges.get(1).detailedMergeStatus = 'moon_phase';
    for (let look = 0; look < 2; look += 1) {
      expect(await scm.readMergeStatus(REQUEST, never)).toMatchObject({ mergeability: 'blocked' });
    }
    expect(warnings()).toMatchObject([{ attributes: { detailed_merge_status: 'moon_phase', merge_request: 1 } }]);
  });

  it('of one that is gone is not found', async () => {
    const { fake, scm } = await connect();
    fake.merges.remove(1);
    await expect(scm.readMergeStatus(REQUEST, never)).rejects.toMatchObject({ kind: 'tracker_not_found', status: 404 });
  });
});

describe('label events', () => {
  it('additions and removals of all pages, those of deleted labels left out', async () => {
    const { fake, scm } = await connect({ maxPerPage: 2 });
    fake.merges.label(1, { add: ['Foray:Fix', 'old'], actor: 'bob' });
    fake.merges.label(1, { remove: ['Foray:Fix'], actor: 'eve' });
    fake.merges.get(1).labelEvents[1]!.label = null;
    expect(await scm.readLabelEvents(REQUEST, never)).toMatchObject([
      { label: 'foray:fix', added: true, actor: 'bob' },
      { label: 'foray:fix', added: false, actor: 'eve' },
    ]);
    expect(fake.requests).toHaveLength(2);
    expect(fake.requests[0]?.query.toString()).toBe('per_page=100');
  });

  it('with an unreadable time fail the read', async () => {
    const { fake, scm } = await connect();
    fake.merges.label(1, { add: ['x'] });
    fake.merges.labelEvent(1, { id: 77, action: 'add', label: 'y', actor: 'bob', createdAt: 'soon' });
    await expect(scm.readLabelEvents(REQUEST, never)).rejects.toMatchObject({
      kind: 'tracker_payload_error',
      detail: expect.stringContaining('label event 77') as string,
    });
  });

  it('of an empty journal are none', async () => {
    const { scm } = await connect();
    expect(await scm.readLabelEvents(REQUEST, never)).toEqual([]);
  });
});

describe('whether the token may merge', () => {
  it.each<[string, string[], 'yes' | 'no' | 'unknown']>([
    ['classic with api', ['read_user', 'api'], 'yes'],
    ['classic without api', ['read_api'], 'no'],
    ['classic without api, several', ['read_api', 'write_repository'], 'no'],
    ['granular', ['granular'], 'unknown'],
    ['granular beside a classic one', ['granular', 'read_api'], 'no'],
    ['none', [], 'unknown'],
  ])('%s', async (_, scopes, mayMerge) => {
    expect(judgeScopes(scopes, 'gitlab').mayMerge).toBe(mayMerge);
    const { fake, scm } = await connect({ scopes });
    expect(await scm.checkMergeScope(REQUEST, never)).toMatchObject({ mayMerge });
    expect(fake.requests.map(({ path }) => path)).toEqual(['/api/v4/personal_access_tokens/self']);
  });

  it.each<[string, Reply]>([
    ['the route is missing', json({ error: '404 Not Found' }, 404)],
    ['it is forbidden', json({ message: '403 Forbidden' }, 403)],
    ['it is unreadable', text('<html>', 200)],
    ['the scopes are no list', json({ scopes: 'api' })],
    ['there are no scopes', json({})],
    ['the server is down', json({}, 503)],
  ])('fails open when %s', async (_, reply) => {
    const { scm } = await against(() => reply);
    expect(await scm.checkMergeScope(REQUEST, never)).toMatchObject({ mayMerge: 'unknown' });
  });

  it('an abort is no answer', async () => {
    const { scm } = await against(() => hang());
    const reason = new Error('stop');
    await expect(scm.checkMergeScope(REQUEST, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
