import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Handler, ReplyHeaders, TestServer } from '../../../test/support/http-server.ts';
import { empty, hang, json, resetMidBody, router, startServer, text, truncatedJson } from '../../../test/support/http-server.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerErrorKind } from '../../domain/model/errors.ts';
import { createConditionalCache, createMask, HttpTransportError } from '../../lib/http/index.ts';
import type { LogAttributes, Logger } from '../../ports/runtime.ts';
import { networkErrorOf, whenMissing } from './failures.ts';
import type { StatusTable } from './failures.ts';
import type { TrackerHttpSettings } from './http.ts';
import { createTrackerHttp } from './http.ts';

const TOKEN = 'tok-0123456789abcdef';
const NOW = Date.parse('2026-10-21T07:28:00Z');
const never = new AbortController().signal;

const STATUSES: StatusTable = {
  400: 'tracker_payload_error',
  401: 'tracker_auth_error',
  403: 'tracker_auth_error',
  404: 'tracker_not_found',
  422: 'tracker_payload_error',
  429: 'tracker_api_error',
  '5xx': 'tracker_transport_error',
  other: 'tracker_api_error',
};

const ISSUE = z.object({ number: z.number() });

const running: TestServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

function recordingLogger() {
  const warnings: { message: string; attributes: LogAttributes }[] = [];
  const quiet = (): void => undefined;
  const logger: Logger = {
    debug: quiet,
    info: quiet,
    error: quiet,
    warn: (message, attributes = {}) => void warnings.push({ message, attributes }),
  };
  return { warnings, logger };
}

async function connect(handler: Handler, settings: Partial<TrackerHttpSettings> = {}) {
  const server = await startServer(handler);
  running.push(server);
  const { warnings, logger } = recordingLogger();
  const all = { kind: 'repoissues', baseUrl: `${server.url}/api`, secrets: [TOKEN], statuses: STATUSES, ...settings };
  return { server, warnings, http: createTrackerHttp(all, { version: '1', logger, clock: { now: () => NOW } }) };
}

async function failureOf(promise: Promise<unknown>): Promise<TrackerError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof TrackerError)) throw new Error(`expected a TrackerError, got ${String(error)}`);
  return error;
}

describe('status table', () => {
  it.each<[number, TrackerErrorKind, boolean]>([
    [302, 'tracker_api_error', true],
    [304, 'tracker_api_error', true],
    [400, 'tracker_payload_error', false],
    [401, 'tracker_auth_error', false],
    [403, 'tracker_auth_error', false],
    [404, 'tracker_not_found', false],
    [409, 'tracker_api_error', true],
    [422, 'tracker_payload_error', false],
    [429, 'tracker_api_error', true],
    [500, 'tracker_transport_error', true],
    [503, 'tracker_transport_error', true],
    [599, 'tracker_transport_error', true],
  ])('%d is %s, retryable %s', async (status, kind, retryable) => {
    const { http } = await connect(() => empty(status));
    const error = await failureOf(http.getJson(ISSUE, { path: '/x' }, never));
    expect(error).toMatchObject({ kind, retryable, status });
    expect(error.message).toBe(`tracker: ${kind}: GET /api/x: status ${status}`);
  });
});

describe('error text', () => {
  it('names method, path without query, status and body on one line', async () => {
    const { http } = await connect(() => text('<p>\r\n  no\u0007 such\tlabel</p>\n', 422));
    const error = await failureOf(http.send('POST', { path: '/repos/o/r/labels', query: { q: 1 }, body: {} }, never));
    expect(error.message).toBe('tracker: tracker_payload_error: POST /api/repos/o/r/labels: status 422: <p> no such label</p>');
  });

  it('takes the telling part of the body where the kind knows it, and the body where it does not', async () => {
    const detail = (body: string, contentType: string): string =>
      contentType.includes('json') ? ((JSON.parse(body) as { message?: string }).message ?? '') : '';
    const replies = [
      json({ message: 'gone away' }, 400),
      json({ other: 1 }, 400),
      text('plain', 400),
      text('{cut', 400, { 'content-type': 'application/json' }),
    ];
    const { http } = await connect(() => replies.shift(), { detail });
    const read = async (): Promise<string> => (await failureOf(http.send('GET', { path: '' }, never))).detail;
    expect([await read(), await read(), await read()]).toEqual([
      'status 400: gone away',
      'status 400: {"other":1}',
      'status 400: plain',
    ]);
  });

  it('shows 512 bytes of a body at most, and never a token, not even one cut in half', async () => {
    const bodies = ['é'.repeat(400), `${'x'.repeat(500)}${TOKEN}`, `bad token ${TOKEN} at https://u:pw@host/`];
    const { http } = await connect(() => text(bodies.shift() ?? '', 401));
    const read = async (): Promise<string> => (await failureOf(http.send('GET', { path: '' }, never))).detail;
    expect(await read()).toBe(`status 401: ${'é'.repeat(256)}`);
    expect(await read()).toBe(`status 401: ${'x'.repeat(500)}[redacted]`);
    expect(await read()).toBe('status 401: bad token [redacted] at https://[redacted]@host/');
  });

  it('hides a token cut in half also when more of the body is read, or a wait is asked for', async () => {
    const body = `${'x'.repeat(500)}${TOKEN}${'y'.repeat(600)}`;
    const { http } = await connect(() => text(body, 503, { 'retry-after': '3' }), { errorBodyBytes: 1000 });
    expect((await failureOf(http.send('GET', { path: '' }, never))).detail).toBe(
      `status 503: ${'x'.repeat(500)}[redacted]yy; retry after 3 s`,
    );
    const half = await connect(() => text(body, 503, { 'retry-after': '3' }), { errorBodyBytes: 510 });
    expect((await failureOf(half.http.send('GET', { path: '' }, never))).detail).toBe(
      `status 503: ${'x'.repeat(500)}[redacted]; retry after 3 s`,
    );
  });

  it('hides a token in the path and the user part of the base address', async () => {
    const remote = await startServer(() => text('no s3cret here', 401));
    running.push(remote);
    const baseUrl = remote.url.replace('//', '//bob:s3cret@');
    const { logger } = recordingLogger();
    const settings = { kind: 'x', baseUrl, secrets: [TOKEN], statuses: STATUSES };
    const http = createTrackerHttp(settings, { version: '1', logger, clock: { now: () => NOW } });
    const error = await failureOf(http.send('GET', { path: `/a/${TOKEN}` }, never));
    expect(error.message).toBe('tracker: tracker_auth_error: GET /a/[redacted]: status 401: no [redacted] here');
  });
});

describe('Retry-After', () => {
  it.each([
    ['17', 17_000, '; retry after 17 s'],
    ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000, '; retry after Wed, 21 Oct 2026 07:28:30 GMT (30 s)'],
    ['later', undefined, '; retry after later'],
  ])('%s shows in the message and the error, which is told by whoever asked', async (value, ms, shown) => {
    const { http, warnings } = await connect(() => text('slow down', 429, { 'retry-after': value }));
    const error = await failureOf(http.send('GET', { path: '/x' }, never));
    expect(error.retryAfterMs).toBe(ms);
    expect(error.detail).toBe(`status 429: slow down${shown}`);
    expect(warnings).toEqual([]);
  });
});

describe('rules beyond the status', () => {
  const classify: TrackerHttpSettings['classify'] = ({ status, headers, body }) => {
    if (status === 403 && headers.get('x-ratelimit-remaining') === '0') return { kind: 'tracker_api_error' };
    if (status === 423) return { kind: 'tracker_api_error', retryable: false, detail: 'the repository is archived' };
    if (status === 200 && body.includes('"errors"')) return { kind: 'tracker_payload_error', detail: 'errors in a good answer' };
    return undefined;
  };

  it.each([
    [
      'a spent limit',
      empty(403, { 'x-ratelimit-remaining': '0' }),
      { kind: 'tracker_api_error', retryable: true, detail: 'status 403' },
    ],
    ['a plain 403', empty(403), { kind: 'tracker_auth_error', retryable: false }],
    ['an archive', empty(423), { kind: 'tracker_api_error', retryable: false, detail: 'the repository is archived' }],
    ['errors in a 200', json({ errors: [1] }), { kind: 'tracker_payload_error', detail: 'errors in a good answer' }],
  ])('decide %s', async (_, reply, expected) => {
    const { http } = await connect(() => reply, { classify });
    expect(await failureOf(http.send('GET', { path: '' }, never))).toMatchObject(expected);
  });
});

describe('network and payload faults', () => {
  it('an unreachable remote is a transport error with its code', async () => {
    const { server: remote, http } = await connect(() => empty());
    running.pop();
    await remote.close();
    const error = await failureOf(http.send('GET', { path: '/x' }, never));
    expect(error).toMatchObject({ kind: 'tracker_transport_error', retryable: true });
    expect(error.message).toMatch(/^tracker: tracker_transport_error: GET \/api\/x: .*ECONNREFUSED/);
  });

  it('a timeout and a broken body are transport errors', async () => {
    const replies = [hang(), resetMidBody()];
    const { http } = await connect(() => replies.shift(), { timeoutMs: 40 });
    expect((await failureOf(http.send('GET', { path: '/x' }, never))).message).toBe(
      'tracker: tracker_transport_error: GET /api/x: timed out after 0.04 s',
    );
    expect((await failureOf(http.getJson(ISSUE, { path: '/x' }, never))).kind).toBe('tracker_transport_error');
  });

  it.each([
    ['half a JSON', truncatedJson(), 'status 200: the answer is not valid JSON'],
    ['no body', empty(200), 'status 200: the answer is not valid JSON'],
    [
      'the login page of a proxy',
      text('<!DOCTYPE html><html>Please log in</html>'),
      'status 200: a web page in place of an answer: check tracker.endpoint and what stands before it',
    ],
    [
      'another shape',
      json({ number: 'seven' }),
      'status 200: unexpected answer: number: Invalid input: expected number, received string',
    ],
  ])('%s is a payload error', async (_, reply, detail) => {
    const { http } = await connect(() => reply);
    expect(await failureOf(http.getJson(ISSUE, { path: '/x' }, never))).toMatchObject({
      kind: 'tracker_payload_error',
      detail,
      status: 200,
    });
  });

  it('a redirect to another origin is a failure of its status', async () => {
    const { http } = await connect(() => empty(301, { location: 'https://elsewhere.example/x' }));
    const error = await failureOf(http.send('GET', { path: '/x' }, never));
    expect(error).toMatchObject({ kind: 'tracker_api_error', status: 301 });
    expect(error.detail).toContain('another origin (https://elsewhere.example)');
  });

  it('a path that cannot be sent is a payload error without a request', async () => {
    const { http } = await connect(() => undefined);
    expect((await failureOf(http.send('DELETE', { path: '/labels/..' }, never))).kind).toBe('tracker_payload_error');
  });

  it.each([
    ['ERR_TLS_CERT_ALTNAME_INVALID', /: the certificate is for another host name; check the address$/],
    ['CERT_HAS_EXPIRED', /: the certificate has expired/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', /: the certificate is not trusted; NODE_EXTRA_CA_CERTS/],
  ])('a certificate refused with %s is told by what is wrong with it', (code, meaning) => {
    const place = { method: 'GET', path: '/x', mask: createMask([]) };
    const error = networkErrorOf(new HttpTransportError('refused', { code }), STATUSES, place);
    expect(error).toMatchObject({ kind: 'tracker_transport_error', detail: expect.stringMatching(meaning) as string });
  });

  it.each(['Authorization', 'PRIVATE-TOKEN'])(
    'a token in %s that cannot be sent is an auth error that names its key',
    async (name) => {
      const { http } = await connect(() => undefined, { headers: { [name]: 'hush\u2028hush' } });
      const error = await failureOf(http.send('GET', { path: '/x' }, never));
      expect(error).toMatchObject({ kind: 'tracker_auth_error', detail: expect.stringContaining('tracker.api_key') as string });
      expect(error.message).not.toContain('hush');
    },
  );

  it('an abort is rethrown as its reason', async () => {
    const { server: remote, http } = await connect(() => hang());
    const controller = new AbortController();
    const reason = new Error('stopping');
    const pending = http.getRecords(ISSUE, { path: '/x' }, controller.signal).catch((error: unknown) => error);
    await remote.arrived(1);
    controller.abort(reason);
    expect(await pending).toBe(reason);
  });
});

describe('a write answered with a web page', () => {
  it.each([
    ['by its type', 'hello', { 'content-type': 'text/html; charset=utf-8' }],
    ['by its beginning', '\n<!DOCTYPE html><title>Log in</title>', {}],
  ])('did not arrive, told %s', async (_name, page, headers) => {
    const { http } = await connect(() => text(page, 200, headers));
    const error = await failureOf(http.send('DELETE', { path: '/x' }, never));
    expect(error).toMatchObject({ kind: 'tracker_payload_error', status: 200, retryable: false });
    expect(error.detail).toContain('web page');
  });

  it.each([
    ['an empty answer', 'POST', empty(204)],
    ['an echo that is cut off', 'POST', truncatedJson()],
    ['a text that is read as such', 'GET', text('<html> is where the log begins', 200, { 'content-type': 'text/plain' })],
  ] as const)('is not %s', async (_name, method, reply) => {
    const { http } = await connect(() => reply);
    await expect(http.send(method, { path: '/x' }, never)).resolves.toBeDefined();
  });
});

describe('an answer that cannot be read', () => {
  it.each([
    ['no JSON', text('[{"id": 1', 200, { etag: '"1"' })],
    ['another shape', json({ message: 'hello' }, 200, { etag: '"1"' })],
  ])('is not remembered: %s', async (_name, bad) => {
    const seen: (string | undefined)[] = [];
    const { http } = await connect(
      ({ headers }) => {
        seen.push(headers['if-none-match']);
        return seen.length === 1 ? bad : json([7], 200, { etag: '"1"' });
      },
      { cache: createConditionalCache() },
    );
    const read = () => http.getJson(z.array(z.number()), { path: '/list' }, never);
    expect((await failureOf(read())).kind).toBe('tracker_payload_error');
    expect(await read()).toEqual([7]);
    expect(seen).toEqual([undefined, undefined]);
  });
});

describe('lists', () => {
  const list = (pages: readonly (readonly unknown[])[]): Handler =>
    router({
      'GET /api/issues': (request) => {
        const page = Number(request.query.get('page') ?? '1');
        const link: ReplyHeaders = page < pages.length ? { link: `</api/issues?page=${page + 1}>; rel="next"` } : {};
        return json(pages[page - 1], 200, link);
      },
    });

  it('are read page by page, the query sent once and the links followed as given', async () => {
    const { server: remote, http } = await connect(list([[{ number: 1 }], [{ number: 2 }], [{ number: 3, more: true }]]));
    const read = await http.getRecords(ISSUE, { path: '/issues', query: { state: 'open' } }, never);
    expect(read).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
    expect(remote.requests.map(({ query }) => query.toString())).toEqual(['state=open', 'page=2', 'page=3']);
  });

  it('are read where people wrote very long texts', async () => {
    const issues = Array.from({ length: 40 }, (_, number) => ({ number, body: 'x'.repeat(1024 * 1024) }));
    const { http } = await connect(() => json(issues));
    expect(await http.getRecords(ISSUE, { path: '/issues' }, never)).toHaveLength(40);
  });

  it('keep the good entries beside a bad one, and warn once however often they are read', async () => {
    const { warnings, http } = await connect(list([[{ number: 1 }, { number: TOKEN }, null], [{ number: 2 }]]));
    for (let poll = 0; poll < 3; poll += 1) {
      expect(await http.getRecords(ISSUE, { path: '/issues' }, never)).toEqual([{ number: 1 }, { number: 2 }]);
    }
    const fault = 'entry 1: number: Invalid input: expected number, received string';
    expect(warnings).toEqual([
      {
        message: 'tracker sent entries that cannot be read, they are left out',
        attributes: { tracker_kind: 'repoissues', endpoint: '/api/issues', skipped: 2, fault },
      },
    ]);
  });

  it('stop at the cap with a warning that names the endpoint', async () => {
    const {
      server: remote,
      warnings,
      http,
    } = await connect(list(Array.from({ length: 250 }, (_, index) => [{ number: index }])));
    expect(await http.getRecords(ISSUE, { path: '/issues' }, never)).toHaveLength(200);
    expect(remote.requests).toHaveLength(200);
    expect(warnings).toEqual([
      {
        message: 'tracker list reached the page cap, the rest is left out',
        attributes: { tracker_kind: 'repoissues', endpoint: '/api/issues', pages: 200 },
      },
    ]);
  });

  it('wrapped in an object are read as whole pages, their entries by the same rule', async () => {
    const schema = z.object({ items: z.array(z.unknown()), incomplete_results: z.boolean() });
    const { warnings, http } = await connect(() => json({ items: [{ number: 1 }, {}], incomplete_results: true }));
    const [page] = await http.getPages(schema, { path: '/search' }, never);
    expect(page?.incomplete_results).toBe(true);
    expect(http.records(ISSUE, page?.items ?? [], '/search')).toEqual([{ number: 1 }]);
    expect(warnings).toHaveLength(1);
  });

  it.each([['to another origin', '<https://elsewhere.example/2>; rel="next"', 'another origin (https://elsewhere.example)']])(
    'leading %s are a payload error',
    async (_, link, text_) => {
      const { http } = await connect(() => json([], 200, { link }));
      const error = await failureOf(http.getRecords(ISSUE, { path: '/issues' }, never));
      expect(error).toMatchObject({ kind: 'tracker_payload_error' });
      expect(error.message).toContain(`GET /api/issues: `);
      expect(error.message).toContain(text_);
    },
  );

  it('that are none are a payload error, and a failing page fails the list', async () => {
    const replies = [json({ message: 'no list' }), json([{ number: 1 }], 200, { link: '<?page=2>; rel=next' }), empty(500)];
    const { http } = await connect(() => replies.shift());
    expect((await failureOf(http.getRecords(ISSUE, { path: '/issues' }, never))).kind).toBe('tracker_payload_error');
    expect((await failureOf(http.getRecords(ISSUE, { path: '/issues' }, never))).kind).toBe('tracker_transport_error');
  });
});

describe('whenMissing', () => {
  it('gives the fallback for a 404 only', async () => {
    const replies = [empty(404), json({ number: 1 }), empty(401)];
    const { http } = await connect(() => replies.shift());
    const read = () => whenMissing(http.getJson(ISSUE, { path: '/parent' }, never), null);
    expect([await read(), await read()]).toEqual([null, { number: 1 }]);
    expect((await failureOf(read())).kind).toBe('tracker_auth_error');
  });
});
