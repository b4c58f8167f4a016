import { describe, expect, it } from 'vitest';
import { connections, failureOf, trackerSettings, trackerWith } from '../../../test/fakes/github/connect.ts';
import {
  empty,
  hugeBody,
  json,
  type Reply,
  reset,
  resetMidBody,
  startServer,
  text,
  truncatedJson,
} from '../../../test/support/http-server.ts';
import type { TrackerError, TrackerErrorKind } from '../../domain/model/errors.ts';

const signal = new AbortController().signal;
const connect = connections();

/** How reading one issue ends when the remote answers like this. */
async function readingFails(reply: Reply): Promise<TrackerError> {
  const { fake, tracker } = await connect();
  fake.addIssue();
  fake.failNext('GET /repos/acme/widgets/issues/1', reply);
  return failureOf(tracker.fetchIssueById('1', signal));
}

describe('headers', () => {
  it('are exactly the documented ones on every request', async () => {
    const { fake, tracker } = await connect({}, { userAgent: 'me/1' });
    fake.addIssue({ labels: ['backlog'] });
    await tracker.fetchIssueById('1', signal);
    await tracker.transitionIssue('1', 'done', signal);
    await tracker.commentIssue('1', 'x', signal);
    expect(fake.requests.length).toBeGreaterThan(8);
    for (const { headers, method } of fake.requests) {
      expect(headers).toMatchObject({
        authorization: 'Bearer fake-token-0123456789',
        accept: 'application/vnd.github+json',
        'x-forge-api-version': '2026-03-10',
        'x-github-api-version': '2026-03-10',
        'user-agent': 'me/1',
      });
      expect(headers['content-type']).toBe(method === 'GET' || method === 'DELETE' ? undefined : 'application/json');
    }
  });

  it('say svc/dev where no user agent is configured', async () => {
    const { fake, tracker } = await connect();
    await tracker.fetchCandidateIssues(signal);
    expect(fake.requests[0]?.headers['user-agent']).toBe('svc/dev');
  });

  it('go below the path of an enterprise endpoint', async () => {
    const { fake, tracker } = await connect({ basePath: '/api/v3' });
    fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(1);
    expect(fake.requests[0]?.path).toBe('/api/v3/repos/acme/widgets/issues');
  });
});

describe('the status table', () => {
  it.each<[number, TrackerErrorKind, boolean]>([
    [400, 'tracker_payload_error', false],
    [401, 'tracker_auth_error', false],
    [403, 'tracker_auth_error', false],
    [404, 'tracker_not_found', false],
    [405, 'tracker_api_error', true],
    [409, 'tracker_api_error', true],
    [410, 'tracker_api_error', true],
    [412, 'tracker_api_error', true],
    [414, 'tracker_api_error', true],
    [418, 'tracker_api_error', true],
    [422, 'tracker_payload_error', false],
    [423, 'tracker_api_error', true],
    [429, 'tracker_api_error', true],
    [500, 'tracker_transport_error', true],
    [502, 'tracker_transport_error', true],
    [503, 'tracker_transport_error', true],
    [504, 'tracker_transport_error', true],
  ])('%d is %s', async (status, kind, retryable) => {
    const error = await readingFails(json({ message: 'Said so' }, status));
    expect([error.kind, error.retryable, error.status]).toEqual([kind, retryable, status]);
    expect(error.message).toMatch(new RegExp(`^tracker: ${kind}: GET /repos/acme/widgets/issues/1: status ${status}: Said so`));
  });

  it.each<[string, TrackerErrorKind, () => Reply]>([
    ['a connection that is reset', 'tracker_transport_error', reset],
    ['a body that breaks off', 'tracker_transport_error', () => resetMidBody('{"number":')],
    ['JSON that stops in the middle', 'tracker_payload_error', truncatedJson],
    ['an empty body', 'tracker_payload_error', () => empty(200)],
    ['a page of HTML', 'tracker_payload_error', () => text('<html>Sign in</html>', 200, { 'content-type': 'text/html' })],
    ['another shape', 'tracker_payload_error', () => json([1, 2])],
    ['null', 'tracker_payload_error', () => json(null)],
    ['an issue without a number', 'tracker_payload_error', () => json({ title: 'x' })],
    ['ten megabytes of noise', 'tracker_payload_error', () => hugeBody(10 * 1024 * 1024)],
    ['a redirect to another host', 'tracker_api_error', () => empty(302, { location: 'http://elsewhere.example/x' })],
    ['a 304 that nobody asked for', 'tracker_api_error', () => empty(304)],
  ])('%s is %s', async (_, kind, reply) => {
    expect((await readingFails(reply())).kind).toBe(kind);
  });

  it('a remote that is not there is tracker_transport_error', async () => {
    const server = await startServer();
    await server.close();
    const { tracker } = trackerWith(trackerSettings({ endpoint: server.url }));
    expect((await failureOf(tracker.fetchCandidateIssues(signal))).kind).toBe('tracker_transport_error');
  });
});

describe('the 403 rule, in order', () => {
  const wait = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1790000000' };

  it.each<[string, Reply, TrackerErrorKind]>([
    ['1: x-ratelimit-remaining 0 is the primary limit', json({ message: 'Forbidden' }, 403, wait), 'tracker_api_error'],
    ['1: whatever the body says', text('', 403, wait), 'tracker_api_error'],
    [
      '2: the words are the secondary limit',
      json({ message: 'You have exceeded a secondary RATE LIMIT' }, 403),
      'tracker_api_error',
    ],
    ['2: also in a body that is no JSON', text('slow down: Rate Limit', 403), 'tracker_api_error'],
    ['2: but not beyond 512 bytes', text(`${'x'.repeat(512)} rate limit`, 403), 'tracker_auth_error'],
    ['3: otherwise the token may not', json({ message: 'Resource not accessible' }, 403), 'tracker_auth_error'],
    ['3: also with some requests left', json({ message: 'No' }, 403, { 'x-ratelimit-remaining': '10' }), 'tracker_auth_error'],
  ])('%s', async (_, reply, kind) => {
    const error = await readingFails(reply);
    expect([error.kind, error.status]).toEqual([kind, 403]);
  });

  it('names the limit and when it lifts', async () => {
    const error = await readingFails(json({ message: 'API rate limit exceeded' }, 403, wait));
    expect(error.detail).toBe('status 403: primary rate limit used up until 2026-09-21T14:13:20.000Z: API rate limit exceeded');
    const odd = await readingFails(json({ message: 'x' }, 403, { ...wait, 'x-ratelimit-reset': 'soon' }));
    expect(odd.detail).toBe('status 403: primary rate limit used up: x');
  });
});

describe('what an error says', () => {
  it('includes the Retry-After of a 429', async () => {
    const error = await readingFails(json({ message: 'Slow down' }, 429, { 'retry-after': '37' }));
    expect(error.detail).toBe('status 429: Slow down; retry after 37 s');
    expect(error.retryAfterMs).toBe(37_000);
    expect((await readingFails(json({ message: 'Slow down' }, 429))).detail).toBe('status 429: Slow down');
  });

  it.each([
    [
      { message: 'Validation Failed', errors: [{ resource: 'Issue', field: 'state', code: 'invalid', value: 'x' }] },
      'Validation Failed (Issue state "x" invalid)',
    ],
    [
      { message: 'Validation Failed', errors: [{ message: 'too long', code: 'custom' }, 'and more'] },
      'Validation Failed (too long; and more)',
    ],
    [{ message: 'Invalid', errors: 'one text' }, 'Invalid (one text)'],
    [{ message: 7 }, '{"message":7}'],
  ])('reads %j', async (body, said) => {
    expect((await readingFails(json(body, 400))).detail).toBe(`status 400: ${said}`);
  });

  it('shows up to 512 bytes of a body that is no JSON', async () => {
    const { detail } = await readingFails(text('y'.repeat(2000), 502));
    expect(detail).toBe(`status 502: ${'y'.repeat(512)}`);
  });

  it('never shows the token', async () => {
    const error = await readingFails(json({ message: 'bad fake-token-0123456789 token' }, 401));
    expect(error.message).not.toContain('0123456789');
    expect(error.message).toContain('[redacted]');
  });

  it.each([
    [401, 'check tracker.api_key'],
    [403, 'Issues (read and write)'],
    [404, 'check tracker.project'],
  ])('says what to do about a %d of the list', async (status, remedy) => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /repos/acme/widgets/issues', json({ message: 'Sorry' }, status));
    expect((await failureOf(tracker.fetchCandidateIssues(signal))).message).toContain(remedy);
  });
});

describe('conditional reads', () => {
  it('make an unchanged poll cost nothing', async () => {
    const { fake, tracker } = await connect();
    for (let count = 0; count < 70; count += 1) fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(70);
    await tracker.fetchIssueStatesByIds(['1'], signal);
    const left = fake.remaining('core');
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(70);
    expect((await tracker.fetchIssueStatesByIds(['1'], signal)).get('1')).toBe('backlog');
    expect(fake.remaining('core')).toBe(left);
    expect(fake.exchanges.slice(-3).map(({ status }) => status)).toEqual([304, 304, 304]);
  });

  it('see every change', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    await tracker.fetchCandidateIssues(signal);
    fake.editIssue(1, { labels: ['in-progress'] });
    expect((await tracker.fetchCandidateIssues(signal))[0]?.state).toBe('in-progress');
  });

  it('see the first issue behind a page that was just full', async () => {
    const { fake, tracker } = await connect();
    for (let count = 0; count < 50; count += 1) fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(50);
    fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(51);
    const filtered = await connect({}, { queryFilter: 'label:backlog' });
    for (let count = 0; count < 50; count += 1) filtered.fake.addIssue({ labels: ['backlog'] });
    expect(await filtered.tracker.fetchCandidateIssues(signal)).toHaveLength(50);
    filtered.fake.addIssue({ labels: ['backlog'] });
    expect(await filtered.tracker.fetchCandidateIssues(signal)).toHaveLength(51);
  });
});

describe('an enterprise server that does not know the API version', () => {
  // The words of the vendor.
  const message =
    'Bad Request: The version you specified in the "X-GitHub-API-Version" request header, "2026-03-10", is not a supported version. The following versions are currently supported: "2022-11-28" (most recent).';

  it('is asked without one from then on, which is told once', async () => {
    const { fake, tracker, warnings } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.failNext(/GET/, json({ message }, 400));
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(1);
    await tracker.fetchIssueById('1', signal);
    expect(fake.requests.map(({ headers }) => headers['x-github-api-version'] !== undefined)).toEqual([
      true,
      ...fake.requests.slice(1).map(() => false),
    ]);
    expect(fake.requests.every(({ headers }) => headers['x-forge-api-version'] === '2026-03-10')).toBe(true);
    expect(warnings.map(({ message }) => message)).toEqual(['remote does not know the API version, requests go without one']);
  });

  it('passes the check before a start or an edit, whose answer the first poll has for nothing', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.failNext(/GET/, json({ message }, 400));
    await tracker.preflight?.(signal, { mustAnswer: true });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(1);
    expect(fake.requests).toHaveLength(2);
  });

  it('any other bad request is no reason', async () => {
    const { fake, tracker } = await connect();
    fake.failNext(/GET/, json({ message: 'Bad request' }, 400));
    await expect(tracker.fetchCandidateIssues(signal)).rejects.toMatchObject({ kind: 'tracker_payload_error' });
    expect(fake.requests).toHaveLength(1);
  });
});
