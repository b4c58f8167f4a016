import { afterEach, describe, expect, it } from 'vitest';
import { openSubject } from '../../../test/fakes/gitlab/connect.ts';
import type { Handler, Reply, TestServer } from '../../../test/support/http-server.ts';
import {
  empty,
  hang,
  hugeBody,
  json,
  reset,
  resetMidBody,
  startServer,
  text,
  truncatedJson,
} from '../../../test/support/http-server.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { Tracker } from '../../ports/tracker.ts';
import { errorDetail } from './client.ts';

const TOKEN = 'glpat-0123456789abcdef';
const never = new AbortController().signal;

const running: TestServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function connect(handler: Handler) {
  const server = await startServer(handler);
  running.push(server);
  return { server, ...openSubject({ url: server.url, token: TOKEN, project: { path: 'acme/rocket' } }) };
}

async function failureOf(promise: Promise<unknown>): Promise<TrackerError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TrackerError)) throw new Error(`expected a TrackerError, got ${String(error)}`);
  return error;
}

describe('what is sent', () => {
  it('the token only in its header, verbatim, with the fixed headers beside it', async () => {
    const { server, tracker } = await connect(() => json([]));
    await tracker.fetchCandidateIssues(never);
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({ 'private-token': TOKEN, accept: 'application/json', 'user-agent': 'svc/9.9.9' });
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(request?.headers).not.toHaveProperty('content-type');
    expect(request?.query.toString()).not.toContain(TOKEN);
  });

  it('a body as JSON', async () => {
    const { server, tracker } = await connect(() => json({ id: 1 }, 201));
    await tracker.commentIssue('7', 'héllo', never);
    expect(server.requests[0]?.headers['content-type']).toBe('application/json');
    expect(server.requests[0]?.json()).toEqual({ body: 'héllo' });
  });

  it('the project path percent-encoded exactly once', async () => {
    const { server, tracker } = await connect(() => json([]));
    await tracker.fetchCandidateIssues(never);
    expect(server.requests[0]?.path).toBe('/api/v4/projects/acme%2Frocket/issues');
  });
});

describe('status table', () => {
  it.each<[number, TrackerErrorKind, boolean]>([
    [304, 'tracker_api_error', true],
    [400, 'tracker_payload_error', false],
    [401, 'tracker_auth_error', false],
    [403, 'tracker_auth_error', false],
    [404, 'tracker_not_found', false],
    [405, 'tracker_api_error', true],
    [409, 'tracker_api_error', true],
    [410, 'tracker_api_error', true],
    [412, 'tracker_api_error', true],
    [414, 'tracker_payload_error', false],
    [418, 'tracker_api_error', true],
    [422, 'tracker_payload_error', false],
    [423, 'tracker_api_error', true],
    [429, 'tracker_api_error', true],
    [500, 'tracker_transport_error', true],
    [502, 'tracker_transport_error', true],
    [503, 'tracker_transport_error', true],
    [599, 'tracker_transport_error', true],
  ])('%d is %s, retryable %s', async (status, kind, retryable) => {
    const { tracker } = await connect(() => empty(status));
    const error = await failureOf(tracker.fetchCandidateIssues(never));
    expect(error).toMatchObject({ kind, retryable, status });
    expect(error.message).toBe(`tracker: ${kind}: GET /api/v4/projects/acme%2Frocket/issues: status ${status}`);
  });

  it('429 logs what Retry-After says, and its body may be any text', async () => {
    const { tracker, records } = await connect(() => text('Retry later\n', 429, { 'retry-after': '42' }));
    const error = await failureOf(tracker.fetchCandidateIssues(never));
    expect(error).toMatchObject({ kind: 'tracker_api_error', isLimit: true });
    expect(error.retryAfterMs, 'the next poll comes at its interval').toBeUndefined();
    expect(error.message).toContain('Retry later; retry after 42 s');
    expect(records).toMatchObject([{ level: 'debug', attributes: { retry_after: '42' } }]);
  });
});

describe('error envelopes', () => {
  it.each<[shape: string, body: unknown, detail: string]>([
    ['{message}', { message: '404 Project Not Found' }, '404 Project Not Found'],
    ['{error}', { error: 'state does not have a valid value' }, 'state does not have a valid value'],
    [
      '{error, error_description}',
      { error: 'invalid_token', error_description: 'Token is expired.' },
      'invalid_token: Token is expired.',
    ],
    ['{message} with model errors', { message: { title: ["can't be blank"] } }, `{"title":["can't be blank"]}`],
    ['message wins over error', { message: 'a', error: 'b' }, 'a'],
    ['an empty message does not', { message: '', error: 'b' }, 'b'],
    ['null is nothing', { message: null, error: null }, ''],
    ['a list', [1], ''],
    [
      'insufficient_scope names the remedy',
      { error: 'insufficient_scope' },
      'insufficient_scope (writing needs a token with the scope api)',
    ],
  ])('%s', (_, body, detail) => {
    expect(errorDetail(JSON.stringify(body))).toBe(detail);
  });

  it('anything else is shown as it is, bounded, on one line', async () => {
    const { tracker } = await connect(() => text(`<html>\n<body>${'x'.repeat(5000)}</body>`, 502));
    const error = await failureOf(tracker.fetchCandidateIssues(never));
    expect(error.detail).toMatch(/^status 502: <html> <body>x+$/);
    expect(error.detail.length).toBeLessThan(600);
  });

  it('the token never shows, also when the remote repeats it', async () => {
    const { tracker } = await connect(() => json({ message: `bad token ${TOKEN}` }, 401));
    const error = await failureOf(tracker.fetchCandidateIssues(never));
    expect(error.message).not.toContain(TOKEN);
    expect(error.message).toContain('bad token [redacted]');
  });
});

describe('bad remotes', () => {
  const html = text('<!DOCTYPE html><title>Sign in</title>', 200, { 'content-type': 'text/html' });
  const calls: readonly [string, (tracker: Tracker) => Promise<unknown>][] = [
    ['fetchCandidateIssues', (tracker) => tracker.fetchCandidateIssues(never)],
    ['fetchIssueById', (tracker) => tracker.fetchIssueById('7', never)],
    ['fetchIssuesByStates', (tracker) => tracker.fetchIssuesByStates(['done'], never)],
    ['fetchIssueStatesByIds', (tracker) => tracker.fetchIssueStatesByIds(['7'], never)],
    ['fetchIssueComments', (tracker) => tracker.fetchIssueComments('7', never)],
    ['transitionIssue', (tracker) => tracker.transitionIssue('7', 'done', never)],
    ['commentIssue', (tracker) => tracker.commentIssue('7', 'hi', never)],
    ['labels.remove', async (tracker) => tracker.labels?.remove('7', 'bug', never)],
    ['preflight', async (tracker) => tracker.preflight?.(never)],
  ];
  const replies: readonly [string, Reply, TrackerErrorKind][] = [
    ['truncated JSON', truncatedJson(), 'tracker_payload_error'],
    ['HTML from a proxy', html, 'tracker_payload_error'],
    ['an empty body', text('', 200), 'tracker_payload_error'],
    ['a number', json(7), 'tracker_payload_error'],
    ['null', json(null), 'tracker_payload_error'],
    ['a reset', reset(), 'tracker_transport_error'],
    ['a reset in the middle', resetMidBody(), 'tracker_transport_error'],
    ['a redirect to another host', empty(302, { location: 'https://elsewhere.example/' }), 'tracker_api_error'],
  ];
  it.each(calls.flatMap(([name, call]) => replies.map(([what, reply, kind]) => [name, what, kind, call, reply] as const)))(
    '%s: %s is %s',
    async (_name, _what, kind, call, reply) => {
      const { tracker } = await connect(() => reply);
      expect((await failureOf(call(tracker))).kind).toBe(kind);
    },
  );

  it.each([
    ['PUT of a transition', (tracker: Tracker) => tracker.transitionIssue('7', 'done', never)],
    ['PUT of a label', async (tracker: Tracker) => tracker.labels?.add('7', 'bug', never)],
  ])('a page of HTML instead of the answer to a %s is no success', async (_, call) => {
    const { tracker } = await connect(({ method, path }) => {
      if (method === 'PUT') return html;
      return json(path.endsWith('/labels') ? [] : { iid: 7, state: 'opened', labels: [], issue_type: 'issue' });
    });
    expect((await failureOf(call(tracker))).kind).toBe('tracker_payload_error');
  });

  it('one bad record is left out with a warning, the others are kept', async () => {
    const good = { iid: 2, title: 'good', state: 'opened', labels: ['backlog'], issue_type: 'issue' };
    const { tracker, warnings } = await connect(() => json([{ iid: null }, 'x', good, { ...good, iid: 3, labels: 'nope' }]));
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['2']);
    expect(warnings()).toMatchObject([{ attributes: { skipped: 3 } }]);
  });

  it('a body of 10 MB that is no JSON is a payload error', async () => {
    const { tracker } = await connect(() => hugeBody(10 * 1024 * 1024));
    expect((await failureOf(tracker.fetchCandidateIssues(never))).kind).toBe('tracker_payload_error');
  });

  it('a next page under another name of the server is asked for at the configured address', async () => {
    const link = '<http://gitlab.internal/api/v4/projects/1/issues?page=2&per_page=100>; rel="next"';
    const { tracker, server } = await connect(({ query }) => json([], 200, query.get('page') === '2' ? {} : { link }));
    await tracker.fetchCandidateIssues(never);
    expect(server.requests.map(({ path, query }) => [path, query.get('page')])).toEqual([
      ['/api/v4/projects/acme%2Frocket/issues', null],
      ['/api/v4/projects/1/issues', '2'],
    ]);
  });

  it('an abort ends every call with its reason', async () => {
    for (const [name, call] of callsWithSignal()) {
      const { tracker, server } = await connect(() => hang());
      const controller = new AbortController();
      const reason = new Error(name);
      const outcome = call(tracker, controller.signal).catch((error: unknown) => error);
      await server.arrived(1);
      controller.abort(reason);
      expect(await outcome).toBe(reason);
    }
  });
});

function callsWithSignal(): readonly [string, (tracker: Tracker, signal: AbortSignal) => Promise<unknown>][] {
  return [
    ['candidates', (tracker, signal) => tracker.fetchCandidateIssues(signal)],
    ['issue', (tracker, signal) => tracker.fetchIssueById('7', signal)],
    ['states', (tracker, signal) => tracker.fetchIssueStatesByIds(['7'], signal)],
    ['transition', (tracker, signal) => tracker.transitionIssue('7', 'done', signal)],
    ['comment', (tracker, signal) => tracker.commentIssue('7', 'hi', signal)],
    ['add', async (tracker, signal) => tracker.labels?.add('7', 'bug', signal)],
    ['remove', async (tracker, signal) => tracker.labels?.remove('7', 'bug', signal)],
    ['preflight', async (tracker, signal) => tracker.preflight?.(signal)],
  ];
}
