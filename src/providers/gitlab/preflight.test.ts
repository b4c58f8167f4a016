import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from '../../../test/fakes/gitlab.ts';
import { startFakeGitlab } from '../../../test/fakes/gitlab.ts';
import { openSubject } from '../../../test/fakes/gitlab/connect.ts';
import { empty, hang, json, reset, text } from '../../../test/support/http-server.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const never = new AbortController().signal;

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeGitlabOptions = {}, over: Partial<TrackerSettings> = {}) {
  const fake = await startFakeGitlab(options);
  running.push(fake);
  const subject = openSubject(fake, over);
  const paths = () => fake.requests.map(({ path }) => decodeURIComponent(path.slice('/api/v4'.length)));
  const preflight = async (signal: AbortSignal = never) => subject.tracker.preflight?.(signal);
  return { ...subject, fake, paths, preflight };
}

const SELF = '/personal_access_tokens/self';
const PROJECT = '/projects/acme/tools/rocket';
const LABELS = `${PROJECT}/labels`;

it('asks for the token, the project and the labels, in this order', async () => {
  const { preflight, paths, records } = await connect();
  await preflight();
  expect(paths()).toEqual([SELF, PROJECT, LABELS]);
  expect(records).toEqual([]);
});

it('a limit of requests at the project: what the remote asks for is handed on, and nothing is asked before', async () => {
  const { fake, preflight, paths } = await connect();
  fake.failNext({ path: /rocket$/ }, json({ message: 'Retry later' }, 429, { 'retry-after': '3600' }));
  const error = await preflight().catch((failure: unknown) => failure as Error);
  expect(error).toMatchObject({ kind: 'tracker_api_error', retryable: true, retryAfterMs: 3_600_000 });
  expect(error?.message).not.toContain('tracker.endpoint');
  expect(paths()).toEqual([SELF, PROJECT]);
});

it.each([
  ['no role of its own, as by an invited group', { project_access: null, group_access: null }, null],
  ['no word of roles', null, null],
  ['a guest', { project_access: { access_level: 10 }, group_access: null }, false],
  ['a reporter by the group', { project_access: { access_level: 10 }, group_access: { access_level: 20 } }, true],
])('tells whether an account may write: %s', async (_, permissions, mayWrite) => {
  const { fake, preflight, tracker } = await connect();
  fake.failNext({ path: /rocket$/ }, json({ id: 1, path_with_namespace: 'acme/tools/rocket', permissions }));
  await preflight();
  expect(await tracker.describeProject?.(never)).toMatchObject({ mayWrite });
});

describe('the token is advice only', () => {
  it.each<[row: string, facts: Record<string, unknown>, warning: string[]]>([
    ['inactive', { active: false }, ['tracker token is inactive']],
    ['read_api only', { scopes: ['read_api'] }, ['tracker token has no api scope, every write will be refused']],
    ['granular scopes', { scopes: ['granular'] }, []],
    ['no scopes told', { scopes: [] }, []],
    ['expires soon', { expires_at: '2026-10-25' }, ['tracker token expires within a week']],
    ['never expires', { expires_at: null }, []],
  ])('%s', async (_, tokenFacts, messages) => {
    const { preflight, warnings } = await connect({ tokenFacts });
    await preflight();
    expect(warnings().map(({ message }) => message)).toEqual(messages);
  });

  it('a revoked one that still tells so is a warning', async () => {
    const { fake, preflight, warnings } = await connect();
    fake.failNext({ path: /self$/ }, text('{"revoked":true,"active":false,"scopes":["api"]}', 200));
    await preflight();
    expect(warnings()).toMatchObject([{ message: 'tracker token is revoked', attributes: { scopes: 'api' } }]);
  });

  it.each([
    ['a server without the route', 404],
    ['an error', 500],
    ['a refusal', 401],
    ['throttling', 429],
    ['throttling that asks to wait', 429, { 'retry-after': '900' }],
  ])('%s is a debug line, asked once', async (_, status, headers: Record<string, string> = {}) => {
    const { fake, preflight, paths, records } = await connect();
    fake.failNext({ path: /self$/ }, empty(status, headers));
    await preflight();
    expect(paths(), 'the project is asked all the same').toContain(PROJECT);
    expect(paths().filter((path) => path === SELF)).toHaveLength(1);
    expect(records.filter(({ message }) => message.includes('could not be inspected'))).toMatchObject([{ level: 'debug' }]);
  });
});

describe('the project is the gate', () => {
  it('404 names both a missing and an invisible project', async () => {
    const { preflight, paths } = await connect({}, { project: 'acme/other' });
    await expect(preflight()).rejects.toMatchObject({
      kind: 'tracker_not_found',
      message: expect.stringMatching(
        /^tracker: tracker_not_found: GET \/api\/v4\/projects\/acme%2Fother: .*"acme\/other" does not exist, or it is not visible/,
      ) as string,
    });
    expect(paths()).toEqual([SELF, '/projects/acme/other']);
  });

  it('a wrong token is an auth error with the remedy, not tried again', async () => {
    const { preflight, paths } = await connect({}, { apiKey: 'glpat-wrong-00000' });
    await expect(preflight()).rejects.toMatchObject({
      kind: 'tracker_auth_error',
      message: expect.stringContaining('check tracker.api_key') as string,
    });
    expect(paths()).toEqual([SELF, PROJECT]);
  });

  it('a page of HTML is a payload error that points at the endpoint', async () => {
    const { fake, preflight } = await connect();
    fake.failNext({ path: /rocket$/ }, text('<html>Sign in</html>'));
    await expect(preflight()).rejects.toMatchObject({
      kind: 'tracker_payload_error',
      message: expect.stringContaining('check tracker.endpoint') as string,
    });
  });

  it('what may heal is tried again after 1, 2 and 4 seconds (here: at once)', async () => {
    const { fake, preflight, paths } = await connect();
    fake.failNext({ path: /rocket$/ }, empty(502), 1);
    fake.failNext({ path: /rocket$/ }, reset(), 1);
    fake.failNext({ path: /rocket$/ }, empty(429), 1);
    await preflight();
    expect(paths().filter((path) => path === PROJECT)).toHaveLength(4);
  });

  it('a failure that stays blocks start-up after the fourth try', async () => {
    const { fake, preflight, paths } = await connect();
    fake.failNext({ path: /rocket$/ }, empty(502), 9);
    await expect(preflight()).rejects.toMatchObject({
      kind: 'tracker_transport_error',
      message: expect.stringContaining('check that tracker.endpoint') as string,
    });
    expect(paths()).toEqual([SELF, PROJECT, PROJECT, PROJECT, PROJECT]);
  });

  it('an archived project is a warning', async () => {
    const { fake, preflight, warnings } = await connect();
    fake.archive();
    await preflight();
    expect(warnings()).toMatchObject([{ message: 'project is archived, every write will be refused' }]);
  });

  it('a renamed project is a warning with its new path', async () => {
    const { fake, preflight, warnings } = await connect();
    fake.failNext({ path: /rocket$/ }, json({ id: 4711, path_with_namespace: 'acme/tools/Rocket' }), 1);
    await preflight();
    expect(warnings()).toEqual([]);
    fake.failNext({ path: /rocket$/ }, json({ id: 4711, path_with_namespace: 'acme/shuttle' }), 1);
    await preflight();
    const message = 'project has another path by now, every write to the old one will be refused';
    expect(warnings()).toMatchObject([{ message, attributes: { path: 'acme/shuttle' } }]);
  });
});

describe('the label catalogue', () => {
  it('is tried again, then blocks start-up', async () => {
    const { fake, preflight, paths } = await connect();
    fake.failNext({ path: /labels$/ }, empty(500), 2);
    await preflight();
    expect(paths().filter((path) => path === LABELS)).toHaveLength(3);
    fake.failNext({ path: /labels$/ }, empty(403));
    await expect(preflight()).rejects.toMatchObject({ kind: 'tracker_auth_error' });
  });

  it('may lack every configured label', async () => {
    const { preflight, warnings } = await connect({ labels: [] });
    await preflight();
    expect(warnings()).toEqual([]);
  });
});

describe('labels of query_filter', () => {
  const queryFilter = 'labels=Bug,ui,Any&not[labels][]=None&not[labels][]=ghost&not[labels][]=ghost';

  it('take one further read, and one warning per name that is absent', async () => {
    const { preflight, paths, warnings } = await connect({ labels: ['bug'], groupLabels: ['ui'] }, { queryFilter });
    await preflight();
    expect(paths()).toEqual([SELF, PROJECT, LABELS, LABELS]);
    expect(warnings().map(({ attributes }) => attributes['label'])).toEqual(['Bug', 'None', 'ghost']);
  });

  it('do not block where they cannot be read', async () => {
    const { fake, preflight, records } = await connect({}, { queryFilter });
    fake.afterNext({ path: /labels$/ }, () => fake.failNext({ path: /labels$/ }, empty(500)));
    await preflight();
    expect(records).toMatchObject([{ level: 'debug', message: 'labels of query_filter could not be checked' }]);
  });
});

it('ends with the reason of an abort', async () => {
  const { fake, preflight } = await connect();
  fake.failNext({ path: /rocket$/ }, hang());
  const controller = new AbortController();
  const outcome = preflight(controller.signal).catch((error: unknown) => error);
  await fake.arrived(2);
  controller.abort('stop');
  expect(await outcome).toBe('stop');
});
