import { afterEach, describe, expect, it } from 'vitest';
import { trackerContract } from '../../../test/contracts/tracker.ts';
import type { SeedIssue } from '../../../test/contracts/tracker.ts';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { asked, depsWith, failureOf, never, openTracker, settingsFor } from '../../../test/fakes/gitea/connect.ts';
import { hang, json, reset, text, truncatedJson } from '../../../test/support/http-server.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';
import { provider } from './index.ts';

const LIST = '/repos/acme/app/issues?state=open&type=issues&limit=50';
const CATALOG = ['GET /repos/acme/app/labels?limit=50', 'GET /orgs/acme/labels?limit=50'];

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeGiteaOptions = {}, changes: Partial<TrackerSettings> = {}) {
  const fake = await startFakeGitea({ labels: ['todo', 'doing', 'review', 'done'], ...options });
  running.push(fake);
  return { fake, ...openTracker(fake, changes) };
}

trackerContract('selfhosted', async () => {
  const fake = await startFakeGitea({ labels: ['todo', 'doing'] });
  const { tracker } = openTracker(fake);
  const terminal = ['done', 'wontfix'];
  const native = (state: string) => (terminal.includes(state) ? 'closed' : 'open');
  const put = (seed: SeedIssue, base: number) => {
    const number = fake.addIssue({
      title: seed.title,
      body: seed.description,
      state: native(seed.state),
      labels: [seed.state, ...(seed.labels ?? [])],
      assignees: seed.assignee ? [seed.assignee] : [],
      ref: seed.branchName,
      createdAt: seed.createdAt,
      dependencies: (seed.blockedBy ?? []).map((place) => base + place),
    });
    for (const { author, body, createdAt } of seed.comments ?? []) fake.comment(number, author, body, createdAt);
    return { id: String(number), identifier: String(number) };
  };
  let count = 0;
  return {
    tracker,
    states: { active: ['todo', 'doing'], terminal, handoff: 'review' },
    abilities: ['assignee', 'branchName', 'blockedBy'],
    missing: { id: '999', identifier: '999' },
    seed: (issues) => {
      const base = count + 1;
      count += issues.length;
      return Promise.resolve(issues.map((issue) => put(issue, base)));
    },
    remote: {
      edit: (id, { state }) => {
        fake.editIssue(Number(id), { state: native(state) as 'open', labels: [state] });
        return Promise.resolve();
      },
      find: (id) => {
        const { labels, state, comments } = fake.issue(Number(id));
        const known = [...terminal, 'review', 'todo', 'doing'].find((name) => labels.includes(name));
        return Promise.resolve({ state: known ?? state, labels, commentBodies: comments });
      },
      requests: () => fake.requests.length,
    },
    cleanUp: () => fake.close(),
  };
});

describe('gitea construction', () => {
  it('makes no request and throws the documented faults', async () => {
    const { fake } = await start();
    const { deps } = depsWith();
    const build = (changes: Partial<TrackerSettings>) => () => provider.createTracker(settingsFor(fake, changes), deps);
    expect(build({})().kind).toBe('selfhosted');
    expect((await failureOf(build({ endpoint: 'nonsense' }))).kind).toBe('tracker_payload_error');
    expect((await failureOf(build({ project: 'acme' }))).kind).toBe('tracker_payload_error');
    expect((await failureOf(build({ queryFilter: 'page=2' }))).kind).toBe('tracker_payload_error');
    expect((await failureOf(build({ apiKey: '' }))).kind).toBe('tracker_auth_error');
    expect(fake.requests).toEqual([]);
  });

  it('a configured user_agent is ignored', async () => {
    const { fake, tracker } = await start({}, { userAgent: 'mine/1' });
    await tracker.fetchCandidateIssues(never);
    expect(fake.requests[0]?.headers['user-agent']).toBe('svc/1.2.3');
  });
});

describe('gitea candidates', () => {
  it('are the open issues with an active label, oldest first, pull requests left out', async () => {
    const { fake, tracker } = await start();
    fake.addIssue({ labels: ['doing'] });
    fake.addIssue({ labels: ['todo'], isPull: true });
    fake.addIssue({ labels: ['todo'], state: 'closed' });
    fake.addIssue({ labels: ['todo'], createdAt: '2025-12-31T00:00:00Z' });
    fake.addIssue({ labels: ['todo', 'review'] });
    fake.addIssue();
    const found = await tracker.fetchCandidateIssues(never);
    expect(found.map(({ id, state, comments, blockedBy }) => [id, state, comments, blockedBy])).toEqual([
      ['4', 'todo', null, null],
      ['1', 'doing', null, null],
    ]);
    expect(asked(fake)).toEqual([`GET ${LIST}`, ...CATALOG]);
    await tracker.fetchCandidateIssues(never);
    expect(asked(fake, 3)).toEqual([`GET ${LIST}`]);
  });

  it('skips an entry with the pull-request marker that the remote let through', async () => {
    const { fake, tracker } = await start();
    const entry = { number: 1, state: 'open', labels: [{ id: 1, name: 'todo' }] };
    fake.failNext(
      'GET /issues',
      json([
        { ...entry, pull_request: { merged: false } },
        { ...entry, number: 2 },
      ]),
    );
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['2']);
  });

  it('follow the next links of a server that clamps the page size', async () => {
    const { fake, tracker } = await start({ maxPageSize: 2 });
    for (let n = 0; n < 5; n += 1) fake.addIssue({ labels: ['todo'] });
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    expect(asked(fake).filter((line) => line.startsWith('GET /repos/acme/app/issues?'))).toEqual([
      `GET ${LIST}`,
      `GET ${LIST}&page=2`,
      `GET ${LIST}&page=3`,
    ]);
  });

  it('name an issue once that a page shift lists twice, as it was read last', async () => {
    const { fake, tracker } = await start();
    const listed = (number: number, title: string) => ({ number, title, state: 'open', labels: [{ id: 1, name: 'todo' }] });
    const link = `<${fake.url}/api/v1${LIST}&page=2>; rel="next"`;
    fake.failNext('GET /issues', json([listed(3, 'c'), listed(2, 'before')], 200, { link }));
    fake.failNext('GET /issues', json([listed(2, 'after'), listed(1, 'a')]));
    expect((await tracker.fetchCandidateIssues(never)).map(({ title }) => title)).toEqual(['a', 'after', 'c']);
  });

  it('stop at 200 pages with a warning, and keep what was read', async () => {
    const { fake, tracker, logged } = await start({ maxPageSize: 1 });
    for (let n = 0; n < 201; n += 1) fake.addIssue({ labels: ['todo'] });
    expect(await tracker.fetchCandidateIssues(never)).toHaveLength(200);
    expect(logged('warn')[0]?.attributes).toMatchObject({ pages: 200, endpoint: '/api/v1/repos/acme/app/issues' });
  });

  it('merge the query filter, encoded', async () => {
    const { fake, tracker } = await start({ labels: ['todo', 'a b'] }, { queryFilter: 'labels=todo,a%20b&q=x+y' });
    fake.addIssue({ labels: ['todo', 'a b'], title: 'x y' });
    fake.addIssue({ labels: ['todo'], title: 'x y' });
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['1']);
    expect(asked(fake)[0]).toBe(`GET ${LIST}&labels=todo%2Ca+b&q=x+y`);
  });

  it('one bad record loses neither the page nor the poll', async () => {
    const { fake, tracker, logged } = await start();
    const good = { number: 3, state: 'open', labels: [{ id: 1, name: 'todo' }], title: null, body: null, assignees: null };
    fake.failNext('GET /issues', json([{ number: 'x' }, null, { number: 0, title: 'HIDDEN' }, good]));
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['3']);
    expect(logged('warn')[0]).toMatchObject({ attributes: { skipped: 2 } });
  });

  it.each([
    ['truncated JSON', truncatedJson(), 'tracker_payload_error'],
    ['a login page', text('<html></html>'), 'tracker_payload_error'],
    ['an object', json({ message: 'hi' }), 'tracker_payload_error'],
    ['a reset', reset(), 'tracker_transport_error'],
  ])('%s fails the poll with the documented kind', async (_, reply, kind) => {
    const { fake, tracker } = await start();
    fake.failNext('GET /issues', reply);
    expect((await failureOf(tracker.fetchCandidateIssues(never))).kind).toBe(kind);
  });

  it('an abort ends the poll with its reason', async () => {
    const { fake, tracker } = await start();
    fake.failNext('GET /issues', hang());
    const controller = new AbortController();
    const ended = expect(tracker.fetchCandidateIssues(controller.signal)).rejects.toThrow('stopping');
    await fake.arrived(1);
    controller.abort(new Error('stopping'));
    await ended;
  });
});

describe('gitea issue by id', () => {
  it('reads the issue, its blockers and its comments', async () => {
    const { fake, tracker } = await start();
    fake.addIssue({ title: 'One', labels: ['todo'], ref: 'main', assignees: ['bob'] });
    fake.comment(1, 'eve', 'hello');
    const issue = await tracker.fetchIssueById('1', never);
    expect(issue).toMatchObject({ title: 'One', branchName: 'main', assignee: 'bob', blockedBy: [] });
    expect(issue.url).toBe(`${fake.url}/acme/app/issues/1`);
    expect(issue.comments?.map(({ author, body }) => [author, body])).toEqual([['eve', 'hello']]);
    expect(asked(fake)).toEqual([
      'GET /repos/acme/app/issues/1',
      'GET /repos/acme/app/issues/1/dependencies?limit=50',
      'GET /repos/acme/app/issues/1/comments',
    ]);
  });

  it('has no blockers where dependencies are switched off', async () => {
    const { fake, tracker } = await start({ dependenciesEnabled: false });
    fake.addIssue();
    expect((await tracker.fetchIssueById('1', never)).blockedBy).toEqual([]);
  });

  it.each(['2', '9', '0', 'x', ''])('%j is not found: a pull request, a missing issue, or no index at all', async (id) => {
    const { fake, tracker } = await start();
    fake.addIssue();
    fake.addIssue({ isPull: true });
    expect((await failureOf(tracker.fetchIssueById(id, never))).kind).toBe('tracker_not_found');
    expect((await failureOf(tracker.fetchIssueComments(id, never))).kind).toBe('tracker_not_found');
  });
});

describe('gitea issues by states', () => {
  const seeded = async (changes: Partial<TrackerSettings> = {}) => {
    const world = await start({}, changes);
    world.fake.addIssue({ labels: ['todo'] });
    world.fake.addIssue({ labels: ['done'] });
    world.fake.addIssue({ labels: ['wontfix'], state: 'closed' });
    world.fake.addIssue({ state: 'closed' });
    world.fake.addIssue({ labels: ['todo'], state: 'closed' });
    world.fake.addIssue({ labels: ['review'] });
    world.fake.addIssue({ labels: ['done'], state: 'closed', isPull: true });
    return world;
  };
  const CLOSED = LIST.replace('open', 'closed');

  it.each<[string, string[], string[], string[]]>([
    ['terminal: both halves', ['done', 'wontfix'], ['2', '3', '4'], [LIST, CLOSED]],
    ['one terminal state', ['WontFix'], ['3'], [LIST, CLOSED]],
    ['handoff', ['review'], ['6'], [LIST, CLOSED]],
    ['active: the open half', ['todo'], ['1'], [LIST]],
    ['not configured: nothing to ask', ['nonsense', ''], [], []],
    ['none: nothing to ask', [], [], []],
  ])('%s', async (_, states, ids, requests) => {
    const { fake, tracker } = await seeded();
    expect((await tracker.fetchIssuesByStates(states, never)).map(({ id }) => id)).toEqual(ids);
    expect(asked(fake)).toEqual(requests.map((line) => `GET ${line}`));
  });

  it('the filter narrows the open half and never the closed one', async () => {
    const { fake, tracker } = await seeded({ queryFilter: 'created_by=nobody' });
    expect((await tracker.fetchIssuesByStates(['done', 'wontfix'], never)).map(({ id }) => id)).toEqual(['3', '4']);
    expect(asked(fake)).toEqual([`GET ${LIST}&created_by=nobody`, `GET ${CLOSED}`]);
  });

  it('an issue that is closed between the two reads is given once', async () => {
    const { fake, tracker } = await seeded();
    fake.beforeNext(
      ({ query }) => query.get('state') === 'closed',
      () => fake.editIssue(2, { state: 'closed' }),
    );
    expect((await tracker.fetchIssuesByStates(['done'], never)).map(({ id }) => id)).toEqual(['2', '4']);
  });
});

describe('gitea states by id and identifier', () => {
  it('one request per issue, without the filter; missing ones and pull requests are left out', async () => {
    const { fake, tracker } = await start({}, { queryFilter: 'q=x' });
    fake.addIssue({ labels: ['doing'] });
    fake.addIssue({ labels: ['todo'], isPull: true });
    fake.addIssue({ labels: ['bug'] });
    fake.addIssue({ state: 'closed' });
    const ids = ['1', '2', '3', '4', '99', 'x', '1'];
    const expected = new Map([
      ['1', 'doing'],
      ['3', ''],
      ['4', 'done'],
    ]);
    expect(await tracker.fetchIssueStatesByIds(ids, never)).toEqual(expected);
    expect(asked(fake)).toEqual(['1', '2', '3', '4', '99'].map((id) => `GET /repos/acme/app/issues/${id}`));
    expect(await tracker.fetchIssueStatesByIdentifiers(ids, never)).toEqual(expected);
  });

  it('tell which are closed although their label says otherwise, as the whole read does', async () => {
    const { fake, tracker } = await start();
    fake.addIssue({ labels: ['doing'], state: 'closed' });
    fake.addIssue({ labels: ['done'], state: 'closed' });
    fake.addIssue({ labels: ['doing'] });
    const ids = ['1', '2', '3'];
    const closed = new Set<string>();
    const states = await tracker.fetchIssueStatesByIds(ids, never, closed);
    expect([...states.values()]).toEqual(['doing', 'done', 'doing']);
    expect([...closed]).toEqual(['1']);
    const whole = await Promise.all(ids.map((id) => tracker.fetchIssueById(id, never)));
    expect(whole.map(({ isClosed }) => isClosed)).toEqual([true, undefined, undefined]);
  });

  it('a failure other than "not found" is no answer', async () => {
    const { fake, tracker } = await start();
    fake.addIssue({ labels: ['doing'] });
    fake.failNext('GET /issues/1', json({ message: 'oops' }, 500));
    expect((await failureOf(tracker.fetchIssueStatesByIds(['1'], never))).kind).toBe('tracker_transport_error');
  });
});

describe('gitea comments', () => {
  it('arrive in one answer however many there are', async () => {
    const { fake, tracker } = await start({ maxPageSize: 2 });
    fake.addIssue();
    for (let n = 0; n < 7; n += 1) fake.comment(1, 'bob', `c${n}`);
    expect((await tracker.fetchIssueComments('1', never)).map(({ body }) => body)).toEqual([
      'c0',
      'c1',
      'c2',
      'c3',
      'c4',
      'c5',
      'c6',
    ]);
    expect(asked(fake).filter((line) => line.includes('/comments'))).toHaveLength(1);
  });

  it('are posted as given; an accepted one is not judged by its echo', async () => {
    const { fake, tracker } = await start();
    fake.addIssue();
    await tracker.commentIssue('1', 'stop\n\n```\nx\n```', never);
    expect(fake.requests[0]?.json()).toEqual({ body: 'stop\n\n```\nx\n```' });
    fake.failNext('POST /comments', text('', 201));
    await tracker.commentIssue('1', 'again', never);
  });
});

describe('gitea blockers', () => {
  it('come from the dependencies route, with display ids and states of their own', async () => {
    const { fake, tracker } = await start();
    fake.addIssue({
      labels: ['todo'],
      dependencies: [
        2,
        3,
        { repository: 'other/lib', number: 8, state: 'closed', labels: [] },
        { repository: null, number: 0, state: 'open', labels: [] },
      ],
    });
    fake.addIssue({ labels: ['Doing'] });
    fake.addIssue({ isPull: true });
    expect(await tracker.blockers?.read('1', never)).toEqual([
      { id: '2', identifier: '2', displayId: 'acme/app#2', state: 'doing' },
      { id: '3', identifier: '3', displayId: 'acme/app#3', state: '' },
      { id: '8', identifier: '8', displayId: 'other/lib#8', state: 'done' },
      { id: '0', identifier: '0', displayId: 'acme/app#0', state: '' },
    ]);
  });

  it.each([
    ['404', json({ message: 'not found' }, 404), 'tracker_not_found'],
    ['500', json({}, 500), 'tracker_transport_error'],
    ['an entry that cannot be read', json([{ number: 2 }, { title: 'no number' }]), 'tracker_payload_error'],
  ])('cannot be read: %s is a failure, never an empty list', async (_, reply, kind) => {
    const { fake, tracker } = await start();
    fake.addIssue();
    fake.failNext('GET /dependencies', reply);
    expect((await failureOf(tracker.blockers!.read('1', never))).kind).toBe(kind);
  });

  it.each([false, true])('are read past the cap of a page, on an older server (%s) too', async (bareDependencies) => {
    const { fake, tracker } = await start({ bareDependencies });
    const blockers = Array.from({ length: 56 }, (_, index) => index + 2);
    fake.addIssue({ labels: ['todo'], dependencies: blockers });
    for (const _ of blockers) fake.addIssue();
    expect(await tracker.blockers?.read('1', never)).toHaveLength(56);
  });

  it('are none where the repository has them switched off, which is told once', async () => {
    const { fake, tracker, logged } = await start({ dependenciesEnabled: false });
    fake.addIssue({ labels: ['todo'] });
    fake.addIssue({ labels: ['todo'] });
    expect(await tracker.blockers?.read('1', never)).toEqual([]);
    expect(await tracker.blockers?.read('2', never)).toEqual([]);
    expect(logged('warn').filter(({ message }) => message.includes('dependencies switched off'))).toHaveLength(1);
    expect(asked(fake)).toEqual(['GET /repos/acme/app/issues/1/dependencies?limit=50', 'GET /repos/acme/app']);
  });
});

describe('gitea behind another name', () => {
  it('follows path and query of a next link on the configured origin', async () => {
    const { fake, tracker } = await start({ rootUrl: 'http://forge.internal:3000' });
    for (let count = 0; count < 60; count += 1) fake.addIssue({ labels: ['todo'] });
    expect(await tracker.fetchCandidateIssues(never)).toHaveLength(60);
  });
});
