import { afterEach, describe, expect, it } from 'vitest';
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
import { failureOf, never, openTracker } from '../../../test/fakes/jira/connect.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';

const API_KEY = 'bot@acme.test:tok-0123456789';

const running: TestServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function connect(handler: Handler, path = '') {
  const server = await startServer(handler);
  running.push(server);
  return { server, ...openTracker({ url: `${server.url}${path}`, apiKey: API_KEY, project: 'ABC' }) };
}

async function failWith(reply: Reply) {
  const { tracker } = await connect(() => reply);
  return failureOf(tracker.fetchCandidateIssues(never));
}

describe('headers', () => {
  it('every request carries the documented ones, reads included', async () => {
    const { server, tracker } = await connect(() => json({ issues: [] }));
    await tracker.fetchCandidateIssues(never);
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from(API_KEY).toString('base64')}`,
      accept: 'application/json',
      'content-type': 'application/json',
      'user-agent': 'svc/dev',
    });
  });

  it('a user and password in the endpoint do not replace the key, and are not in links', async () => {
    const server = await startServer(() => json({ issues: [{ id: '1', key: 'ABC-1', fields: {} }] }));
    running.push(server);
    const url = server.url.replace('http://', 'http://me:hush@');
    const { tracker } = openTracker({ url: `${url}/`, apiKey: API_KEY, project: 'ABC' }, { userAgent: 'acme/1' });
    const [issue] = await tracker.fetchCandidateIssues(never);
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from(API_KEY).toString('base64')}`);
    expect(server.requests[0]?.headers['user-agent']).toBe('acme/1');
    expect(issue?.url).toBe(`${server.url}/browse/ABC-1`);
  });
});

describe('error table', () => {
  it.each<[number, TrackerErrorKind, boolean]>([
    [400, 'tracker_payload_error', false],
    [401, 'tracker_auth_error', false],
    [403, 'tracker_auth_error', false],
    [404, 'tracker_not_found', false],
    [405, 'tracker_api_error', false],
    [409, 'tracker_api_error', true],
    [410, 'tracker_api_error', false],
    [412, 'tracker_api_error', true],
    [413, 'tracker_api_error', false],
    [414, 'tracker_api_error', false],
    [415, 'tracker_api_error', false],
    [418, 'tracker_api_error', true],
    [422, 'tracker_api_error', false],
    [423, 'tracker_api_error', true],
    [429, 'tracker_api_error', true],
    [500, 'tracker_transport_error', true],
    [502, 'tracker_transport_error', true],
    [503, 'tracker_transport_error', true],
    [504, 'tracker_transport_error', true],
    [304, 'tracker_api_error', true],
  ])('%d is %s, retryable %s', async (status, kind, retryable) => {
    const error = await failWith(empty(status));
    expect(error).toMatchObject({ kind, retryable, status });
    expect(error.message).toBe(`tracker: ${kind}: GET /rest/api/3/search/jql: status ${status}`);
  });

  it.each<[string, TrackerErrorKind, Reply]>([
    ['no JSON', 'tracker_payload_error', text('hello')],
    ['truncated JSON', 'tracker_payload_error', truncatedJson()],
    ['HTML from a proxy', 'tracker_payload_error', text('<html>Sign in</html>', 200, { 'content-type': 'text/html' })],
    ['an empty body', 'tracker_payload_error', empty(200)],
    ['another shape', 'tracker_payload_error', json([])],
    ['no list of issues', 'tracker_payload_error', json({ isLast: true })],
    ['10 MB of something', 'tracker_payload_error', hugeBody(10 * 1024 * 1024)],
    ['a reset connection', 'tracker_transport_error', reset()],
    ['a body that breaks off', 'tracker_transport_error', resetMidBody()],
    ['a redirect to another host', 'tracker_api_error', empty(302, { location: 'https://id.acme.test/login' })],
  ])('%s is %s', async (_, kind, reply) => {
    expect(await failWith(reply)).toMatchObject({ kind });
  });

  it('nobody there is a transport error', async () => {
    const server = await startServer();
    await server.close();
    const { tracker } = openTracker({ url: server.url, apiKey: API_KEY, project: 'ABC' });
    expect(await failureOf(tracker.fetchCandidateIssues(never))).toMatchObject({
      kind: 'tracker_transport_error',
      retryable: true,
    });
  });

  it('an abort ends a request in flight with its own reason', async () => {
    const { server, tracker } = await connect(() => hang());
    const controller = new AbortController();
    const call = tracker.fetchIssueById('10001', controller.signal);
    await server.arrived(1);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });
});

describe('error text', () => {
  it.each([
    ['messages', json({ errorMessages: ['One.', 'Two.'], errors: {} }, 400), 'status 400: One.; Two.'],
    ['fields', json({ errorMessages: [], errors: { resolution: 'is required' } }, 400), 'status 400: resolution: is required'],
    ['both', json({ errorMessages: ['One.'], errors: { a: 'b' } }, 400), 'status 400: One.; a: b'],
    ['a gateway', json({ code: 404, message: 'no such site' }, 404), 'status 404: no such site'],
    ['plain text', text('gone fishing', 500), 'status 500: gone fishing'],
    ['another shape', json({ x: [1] }, 400), 'status 400: {"x":[1]}'],
    ['HTML', text('<p>\n no </p>', 403), 'status 403: <p> no </p>'],
    [
      'a refused login',
      json({ errorMessages: ['Who are you?'] }, 401),
      'status 401: Who are you?; check tracker.api_key: it is <email>:<token>, and tokens expire',
    ],
    [
      'a missing right',
      json({ errorMessages: ['No.'] }, 403),
      'status 403: No.; the account or its token may not do this: check its project permissions and the scopes of the token',
    ],
  ])('%s', async (_, reply, detail) => {
    expect((await failWith(reply)).detail).toBe(detail);
  });

  it('reads at most 512 bytes of a body', async () => {
    expect((await failWith(hugeBody(10 * 1024 * 1024, 500))).detail.length).toBeLessThanOrEqual(512 + 'status 500: '.length);
  });

  it('names the path below the address of the site', async () => {
    const { tracker } = await connect(() => empty(404), '/jira');
    const error = await failureOf(tracker.fetchIssueById('ABC 1', never));
    expect(error.message).toBe('tracker: tracker_not_found: GET /jira/rest/api/3/issue/ABC%201: status 404');
  });

  it.each(['tok-0123456789', Buffer.from(API_KEY).toString('base64'), encodeURIComponent(API_KEY)])(
    'never holds %s',
    async (secret) => {
      for (const status of [400, 401, 403, 500]) {
        expect((await failWith(text(`you sent ${secret}`, status))).message).not.toContain(secret);
        expect((await failWith(json({ errorMessages: [`you sent ${secret}`] }, status))).message).not.toContain(secret);
      }
    },
  );

  it.each([
    ['17', '; retry after 17 s'],
    [undefined, ''],
    ['soon', '; retry after soon'],
  ])('429 with Retry-After %s', async (after, words) => {
    const { tracker, records } = await connect(() => empty(429, after === undefined ? {} : { 'retry-after': after }));
    const error = await failureOf(tracker.fetchCandidateIssues(never));
    expect(error.detail).toBe(`status 429${words}`);
    expect(error.retryable).toBe(true);
    expect(error.retryAfterMs, 'the next poll comes at its interval').toBeUndefined();
    expect(records).toEqual([expect.objectContaining({ level: 'debug', message: 'tracker throttled a request' })]);
  });
});

describe('login reasons', () => {
  it.each(['X-Seraph-LoginReason', 'x-acme-loginreason', 'X-A-B-LOGINREASON'])('%s on 401 asks for a browser', async (name) => {
    const error = await failWith(text('', 401, { [name]: 'AUTHENTICATION_DENIED' }));
    expect(error).toMatchObject({ kind: 'tracker_auth_error', retryable: false });
    expect(error.message).toContain('logging in through a browser');
  });

  it.each([
    ['X-Seraph-LoginReason', 'AUTHENTICATED_FAILED'],
    ['LoginReason', 'AUTHENTICATION_DENIED'],
    ['X-Other', 'AUTHENTICATION_DENIED'],
  ])('%s: %s on 401 does not', async (name, value) => {
    const error = await failWith(text('', 401, { [name]: value }));
    expect(error.kind).toBe('tracker_auth_error');
    expect(error.message).not.toContain('browser');
  });

  it('a success that was answered to nobody is an auth error', async () => {
    const error = await failWith(json({ issues: [] }, 200, { 'x-seraph-loginreason': 'AUTHENTICATED_FAILED' }));
    expect(error).toMatchObject({ kind: 'tracker_auth_error', retryable: false, status: 200 });
    expect(error.message).toContain('anonymous');
  });

  it('a success with a good login is one', async () => {
    const { tracker } = await connect(() => json({ issues: [] }, 200, { 'x-seraph-loginreason': 'OK' }));
    expect(await tracker.fetchCandidateIssues(never)).toEqual([]);
  });
});
