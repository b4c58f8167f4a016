import { afterEach, describe, expect, it } from 'vitest';
import type { FakeJira, FakeJiraOptions } from '../../../test/fakes/jira.ts';
import { startFakeJira } from '../../../test/fakes/jira.ts';
import { failureOf, never, openTracker } from '../../../test/fakes/jira/connect.ts';
import type { RecordedRequest, Reply } from '../../../test/support/http-server.ts';
import { empty, json } from '../../../test/support/http-server.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const running: FakeJira[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeJiraOptions = {}, changes: Partial<TrackerSettings> = {}, now?: () => number) {
  const fake = await startFakeJira(options);
  running.push(fake);
  return { fake, ...openTracker(fake, changes, now) };
}

function many(fake: FakeJira, count: number): string[] {
  return Array.from({ length: count }, () => fake.addIssue());
}

function queries(fake: FakeJira): Record<string, string>[] {
  return fake.requests.map(({ query }) => Object.fromEntries(query));
}

function lines(fake: FakeJira): string[] {
  return fake.requests.map(({ method, path }) => `${method} ${path.replace('/rest/api/3', '')}`);
}

const FIELDS = 'summary,status,priority,labels,assignee,issuetype,parent,issuelinks,created,updated,description';

describe('searches', () => {
  it('candidates: the documented parameters, page by page to the last', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'labels = agent OR labels = bot' });
    for (let n = 0; n < 101; n += 1) fake.addIssue({ labels: ['agent'] });
    fake.addIssue();
    const found = await tracker.fetchCandidateIssues(never);
    expect(found).toHaveLength(101);
    const jql =
      'project = "ABC" AND status IN ("Backlog", "In Progress") AND (labels = agent OR labels = bot) ORDER BY priority ASC, created ASC';
    expect(queries(fake)).toEqual([
      { jql, maxResults: '50', fields: FIELDS },
      { jql, maxResults: '50', fields: FIELDS, nextPageToken: expect.any(String) as string },
      { jql, maxResults: '50', fields: FIELDS, nextPageToken: expect.any(String) as string },
    ]);
    expect(lines(fake)[0]).toBe('GET /search/jql');
  });

  it('go in the body where the expression is too long for an address', async () => {
    const many = Array.from({ length: 400 }, (_, index) => `labels = "agent number ${String(index)}"`).join(' OR ');
    const { fake, tracker } = await connect({ maxPageSize: 1 }, { queryFilter: many });
    const wanted = ['agent number 7', 'agent number 399'].map((label) => fake.addIssue({ labels: [label] }));
    fake.addIssue({ labels: ['other'] });
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(wanted);
    expect(new Set(fake.requests.map(({ method, path, query }) => `${method} ${path} ${String(query.size)}`))).toEqual(
      new Set(['POST /rest/api/3/search/jql 0']),
    );
  });

  it('candidates: the order of the remote is kept', async () => {
    const { fake, tracker } = await connect();
    for (const priority of [1, 3, 2]) fake.addIssue({ priority });
    expect((await tracker.fetchCandidateIssues(never)).map(({ identifier }) => identifier)).toEqual(['ABC-2', 'ABC-3', 'ABC-1']);
  });

  it('candidates: without active states there is no request', async () => {
    const { fake, tracker } = await connect({}, { activeStates: [] });
    fake.addIssue();
    expect(await tracker.fetchCandidateIssues(never)).toEqual([]);
    expect(fake.requests).toEqual([]);
  });

  it('candidates: smaller pages than asked for are followed', async () => {
    const { fake, tracker } = await connect({ maxPageSize: 2 });
    many(fake, 5);
    expect(await tracker.fetchCandidateIssues(never)).toHaveLength(5);
    expect(fake.requests).toHaveLength(3);
  });

  it('candidates: an issue that is listed twice is given once', async () => {
    const { fake, tracker } = await connect();
    const issue = { id: '1', key: 'ABC-1', fields: { summary: 'old' } };
    fake.failNext('GET /search/jql', json({ issues: [issue], nextPageToken: 't' }));
    fake.failNext('GET /search/jql', json({ issues: [{ ...issue, fields: { summary: 'new' } }] }));
    expect(await tracker.fetchCandidateIssues(never)).toMatchObject([{ id: '1', title: 'new' }]);
  });

  it.each([[undefined], [null], ['']])('nextPageToken %j ends the list', async (nextPageToken) => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /search/jql', json({ issues: [], nextPageToken, isLast: false }));
    await tracker.fetchCandidateIssues(never);
    expect(fake.requests).toHaveLength(1);
  });

  it('a token that comes again is an error, not half a list', async () => {
    const { fake, tracker } = await connect();
    for (const nextPageToken of ['a', 'b', 'a']) fake.failNext('GET /search/jql', json({ issues: [], nextPageToken }));
    const error = await failureOf(tracker.fetchCandidateIssues(never));
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.message).toContain('same nextPageToken twice');
  });

  it('a list without end is cut with a warning', async () => {
    const { fake, tracker, records } = await connect();
    for (let n = 0; n < 20; n += 1) fake.failNext('GET /search/jql', json({ issues: [], nextPageToken: `t${n}` }));
    expect(await tracker.fetchCandidateIssues(never)).toEqual([]);
    expect(records).toMatchObject([{ level: 'warn', attributes: { pages: 20 } }]);
  });

  it('one bad record does not lose the page', async () => {
    const { fake, tracker, records } = await connect();
    const good = { id: '1', key: 'ABC-1', fields: {} };
    fake.failNext(
      'GET /search/jql',
      json({ issues: [{ id: '2' }, good, null, { id: '3', key: 'ABC-3', fields: { summary: 7 } }] }),
    );
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['1']);
    expect(records).toMatchObject([{ level: 'warn', attributes: { skipped: 3 } }]);
  });

  it('by states: filtered, oldest first, and no request for no states', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'labels = agent' });
    expect(await tracker.fetchIssuesByStates([], never)).toEqual([]);
    expect(fake.requests).toEqual([]);
    const id = fake.addIssue({ status: 'Done', labels: ['agent'] });
    fake.addIssue({ status: 'Done' });
    expect((await tracker.fetchIssuesByStates(['done', 'Canceled'], never)).map((issue) => issue.id)).toEqual([id]);
    expect(queries(fake)).toEqual([
      {
        jql: 'project = "ABC" AND status IN ("done", "Canceled") AND (labels = agent) ORDER BY created ASC',
        maxResults: '50',
        fields: FIELDS,
      },
    ]);
  });
});

describe('state lookups', () => {
  it('by ids: batches of 40, status only, no filter, non-numeric ids skipped', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'labels = agent' });
    const ids = many(fake, 81);
    const states = await tracker.fetchIssueStatesByIds(['ABC-1', '', ' 10001', '1 OR 1', ...ids, ids[0] ?? ''], never);
    expect([...states.keys()]).toEqual(ids);
    expect([...new Set(states.values())]).toEqual(['Backlog']);
    expect(queries(fake)).toEqual(
      [ids.slice(0, 40), ids.slice(40, 80), ids.slice(80)].map((batch) => ({
        jql: `id IN (${batch.join(', ')}) ORDER BY key ASC`,
        maxResults: '50',
        fields: 'status',
      })),
    );
  });

  it.each([[[]], [['ABC-1', 'x', '']]])('by ids: %j makes no request', async (ids) => {
    const { fake, tracker } = await connect();
    expect((await tracker.fetchIssueStatesByIds(ids, never)).size).toBe(0);
    expect(fake.requests).toEqual([]);
  });

  it('by keys: batches of 40, status only, no filter', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'labels = agent' });
    many(fake, 41);
    const keys = Array.from({ length: 41 }, (_, index) => `ABC-${index + 1}`);
    expect([...(await tracker.fetchIssueStatesByIdentifiers(keys, never)).keys()]).toEqual(keys);
    expect(queries(fake).map(({ jql }) => jql)).toEqual([
      `key IN (${keys
        .slice(0, 40)
        .map((key) => `"${key}"`)
        .join(', ')}) ORDER BY key ASC`,
      'key IN ("ABC-41") ORDER BY key ASC',
    ]);
    expect(queries(fake)[0]?.fields).toBe('status');
  });

  it('by keys: the answer goes under the spelling that was asked for, and blank ones are not asked', async () => {
    const { fake, tracker } = await connect();
    many(fake, 1);
    expect(await tracker.fetchIssueStatesByIdentifiers(['abc-1', ' '], never)).toEqual(new Map([['abc-1', 'Backlog']]));
    expect(queries(fake)[0]?.jql).toBe('key IN ("abc-1") ORDER BY key ASC');
  });

  it('deleted issues do not hide the states of the others', async () => {
    const { fake, tracker } = await connect();
    const ids = many(fake, 5);
    fake.deleteIssue(ids[1] ?? '');
    fake.deleteIssue(ids[3] ?? '');
    expect([...(await tracker.fetchIssueStatesByIds(ids, never)).keys()]).toEqual([ids[0], ids[2], ids[4]]);
    const keys = ['ABC-1', 'ABC-2', 'no key', 'ABC-3'];
    expect([...(await tracker.fetchIssueStatesByIdentifiers(keys, never)).keys()]).toEqual(['ABC-1', 'ABC-3']);
    expect((await tracker.fetchIssueStatesByIds([ids[1] ?? ''], never)).size).toBe(0);
  });

  it('any other refusal stays one', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue();
    fake.failNext('GET /search/jql', json({ errorMessages: ['the query is wrong'] }, 400));
    expect((await failureOf(tracker.fetchIssueStatesByIds([id], never))).kind).toBe('tracker_payload_error');
    fake.failNext('GET /search/jql', json({ errorMessages: [`'${id}' is asleep`] }, 500));
    expect((await failureOf(tracker.fetchIssueStatesByIds([id], never))).kind).toBe('tracker_transport_error');
  });

  it('an issue without a status has an empty state; entries without a name are left out', async () => {
    const { fake, tracker } = await connect();
    fake.failNext(
      'GET /search/jql',
      json({
        issues: [
          { id: '1', fields: null },
          { key: 'ABC-2', fields: { status: { name: 'x' } } },
        ],
      }),
    );
    expect(await tracker.fetchIssueStatesByIds(['1', '2'], never)).toEqual(new Map([['1', '']]));
  });

  it('a login that stopped counting is an error, not a board without issues', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue();
    fake.rejectLogins('anonymous');
    expect((await failureOf(tracker.fetchIssueStatesByIds([id], never))).kind).toBe('tracker_auth_error');
  });
});

describe('one issue', () => {
  it('is read with its fields and then its comments', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue({ summary: 'Whole', description: 'One\nTwo' });
    fake.comment(id, 'Ann', 'Hello');
    const issue = await tracker.fetchIssueById(id, never);
    expect(issue).toMatchObject({ id, identifier: 'ABC-1', description: 'One\nTwo', url: `${fake.url}/browse/ABC-1` });
    expect(issue.comments).toMatchObject([{ author: 'Ann', body: 'Hello' }]);
    expect(lines(fake)).toEqual([`GET /issue/${id}`, `GET /issue/${id}/comment`]);
    expect(queries(fake)[0]).toEqual({ fields: FIELDS });
  });

  it('is found by its key, too, below the path of the site', async () => {
    const { fake, tracker } = await connect({ contextPath: '/jira' });
    fake.addIssue();
    expect((await tracker.fetchIssueById('ABC-1', never)).url).toBe(`${fake.url}/browse/ABC-1`);
  });

  it('that vanished between the two reads is tracker_not_found', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue();
    fake.beforeNext('GET /comment', () => fake.deleteIssue(id));
    expect((await failureOf(tracker.fetchIssueById(id, never))).kind).toBe('tracker_not_found');
  });

  it.each(['', ' '])('of the name %j is not asked for', async (id) => {
    const { fake, tracker } = await connect();
    expect((await failureOf(tracker.fetchIssueById(id, never))).kind).toBe('tracker_not_found');
    expect((await failureOf(tracker.fetchIssueComments(id, never))).kind).toBe('tracker_not_found');
    expect((await failureOf(tracker.transitionIssue(id, 'Done', never))).kind).toBe('tracker_not_found');
    expect(fake.requests).toEqual([]);
  });
});

describe('comments', () => {
  it('are paged by offset, 50 at a time, up to the total', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue();
    for (let n = 1; n <= 100; n += 1) fake.comment(id, 'Ann', `note ${n}`);
    const bodies = (await tracker.fetchIssueComments(id, never)).map(({ body }) => body);
    expect(bodies).toEqual(Array.from({ length: 100 }, (_, index) => `note ${index + 1}`));
    expect(queries(fake)).toEqual([
      { startAt: '0', maxResults: '50', orderBy: 'created' },
      { startAt: '50', maxResults: '50', orderBy: 'created' },
    ]);
  });

  it('of smaller pages than asked for are followed by what was received', async () => {
    const { fake, tracker } = await connect({ maxCommentPage: 2 });
    const id = fake.addIssue();
    for (let n = 1; n <= 5; n += 1) fake.comment(id, 'Ann', `note ${n}`);
    expect(await tracker.fetchIssueComments(id, never)).toHaveLength(5);
    expect(queries(fake).map(({ startAt }) => startAt)).toEqual(['0', '2', '4']);
  });

  it.each([
    ['no comments', { comments: [], total: 9 }],
    ['a null list', { comments: null, total: 9 }],
    ['no total', { comments: [{ id: '1' }] }],
    ['a bad entry that counts', { comments: [{ id: '1' }, {}], total: 2 }],
  ])('end at %s', async (_, page) => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /comment', json(page));
    await tracker.fetchIssueComments('1', never);
    expect(fake.requests).toHaveLength(1);
  });

  it('without end are cut with a warning', async () => {
    const { fake, tracker, records } = await connect();
    for (let n = 0; n < 20; n += 1) fake.failNext('GET /comment', json({ comments: [{ id: '1' }], total: 1e9 }));
    expect(await tracker.fetchIssueComments('1', never)).toHaveLength(20);
    expect(records).toMatchObject([{ level: 'warn', attributes: { pages: 20 } }]);
  });

  it('are posted as documents', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue();
    await tracker.commentIssue(id, 'Stopped.\n\n````\n```\nx\n````', never);
    expect(lines(fake)).toEqual([`POST /issue/${id}/comment`]);
    expect(fake.requests[0]?.json()).toEqual({
      body: {
        type: 'doc',
        version: 1,
        content: [
          { type: 'paragraph', content: [{ type: 'text', text: 'Stopped.' }] },
          { type: 'paragraph', content: [] },
          { type: 'codeBlock', content: [{ type: 'text', text: '```\nx' }] },
        ],
      },
    });
  });

  it('that the remote refuses are tracker_payload_error', async () => {
    const { fake, tracker } = await connect();
    const error = await failureOf(tracker.commentIssue(fake.addIssue(), '', never));
    expect(error).toMatchObject({ kind: 'tracker_payload_error', detail: 'status 400: comment: Comment body can not be empty!' });
  });
});

describe('transitions', () => {
  it('are looked up, then made by id', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['In Progress', 'Done'] } });
    const id = fake.addIssue();
    await tracker.transitionIssue(id, 'done', never);
    expect(fake.issue(id).status).toBe('Done');
    expect(lines(fake)).toEqual([`GET /issue/${id}/transitions`, `POST /issue/${id}/transitions`]);
    expect(fake.requests[1]?.json()).toEqual({ transition: { id: '21' } });
  });

  it('take the first that leads to the target, whatever its own name is', async () => {
    const { fake, tracker } = await connect();
    const offer = (id: string, name: string, to: unknown) => ({ id, name, to });
    const transitions = [
      offer('1', 'Done', { name: 'Closed' }),
      offer('2', 'x', null),
      offer('3', 'a', { name: 'DONE' }),
      offer('4', 'b', { name: 'Done' }),
    ];
    fake.failNext('GET /transitions', json({ transitions }));
    fake.failNext('POST /transitions', empty(204));
    await tracker.transitionIssue('1', 'Done', never);
    expect(fake.requests[1]?.json()).toEqual({ transition: { id: '3' } });
  });

  it('that nobody offers are tracker_payload_error, naming what is offered', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['In Progress'], Done: [] } });
    const id = fake.addIssue();
    const error = await failureOf(tracker.transitionIssue(id, 'Human Review', never));
    expect(error).toMatchObject({ kind: 'tracker_payload_error', retryable: false });
    expect(error.detail).toBe(
      `the workflow offers no transition of issue ${id} to "Human Review"; available targets: "In Progress"`,
    );
    const stuck = fake.addIssue({ status: 'Done' });
    expect((await failureOf(tracker.transitionIssue(stuck, 'Backlog', never))).detail).toContain('available targets: none');
    expect(fake.requests.filter(({ method }) => method === 'POST')).toEqual([]);
  });

  it('to where the issue is already are done', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['In Progress'] } });
    const id = fake.addIssue();
    await tracker.transitionIssue(id, 'BACKLOG', never);
    expect(fake.issue(id).status).toBe('Backlog');
  });

  it('that nobody offers stay so when the issue cannot be read', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: [] } });
    const id = fake.addIssue();
    fake.failNext(`GET /issue/${id}`, empty(500));
    expect((await failureOf(tracker.transitionIssue(id, 'Done', never))).kind).toBe('tracker_payload_error');
  });

  it.each<[string, (fake: FakeJira) => void, string, string]>([
    [
      'a field that the screen asks for',
      (fake) => fake.demand('Done', { resolution: 'Resolution is required.' }),
      'tracker_payload_error',
      'resolution: Resolution is required.',
    ],
    [
      'a move by someone else meanwhile',
      (fake) => fake.beforeNext('POST /transitions', () => fake.editIssue('ABC-1', { status: 'Done' })),
      'tracker_payload_error',
      'is not valid for this issue',
    ],
    ['a conflicting update', (fake) => fake.failNext('POST /transitions', empty(409)), 'tracker_api_error', 'status 409'],
    [
      'too many writes',
      (fake) => fake.failNext('POST /transitions', empty(429, { 'retry-after': '2' })),
      'tracker_api_error',
      'retry after 2 s',
    ],
  ])('refused: %s', async (_, prepare, kind, words) => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['Done'], Done: [] } });
    const id = fake.addIssue();
    prepare(fake);
    const error = await failureOf(tracker.transitionIssue(id, 'Done', never));
    expect(error.kind).toBe(kind);
    expect(error.detail).toContain(words);
  });

  it('with a read-only token are tracker_auth_error', async () => {
    const { fake, tracker } = await connect({ readOnly: true });
    const error = await failureOf(tracker.transitionIssue(fake.addIssue(), 'Done', never));
    expect(error).toMatchObject({ kind: 'tracker_auth_error', status: 403, retryable: false });
  });
});

describe('a search index that is behind', () => {
  it('does not show what we changed as it was', async () => {
    const clock = { now: 1_000_000 };
    const { fake, tracker } = await connect({ maxPageSize: 1 }, {}, () => clock.now);
    const ids = many(fake, 3);
    fake.freezeIndex();
    await tracker.transitionIssue(ids[0] ?? '', 'Human Review', never);
    await tracker.labels?.add(ids[1] ?? '', 'parked', never);
    const found = await tracker.fetchCandidateIssues(never);
    expect(found.map(({ id, labels }) => [id, labels])).toEqual([
      [ids[1], ['parked']],
      [ids[2], []],
    ]);
    expect((await tracker.fetchIssueStatesByIds(ids, never)).get(ids[0] ?? '')).toBe('Human Review');
    const asked = fake.requests.filter(({ path }) => path.endsWith('/search/jql')).map((request) => reconciled(request));
    expect(new Set(asked)).toEqual(new Set([`${ids[0]},${ids[1]}`]));
  });

  it('is not asked about changes of long ago, nor about more than 50', async () => {
    const clock = { now: 0 };
    const { fake, tracker } = await connect({}, {}, () => clock.now);
    const ids = many(fake, 60);
    for (const id of ids) await tracker.transitionIssue(id, 'Done', never);
    await tracker.fetchCandidateIssues(never);
    expect(fake.requests.at(-1)?.query.getAll('reconcileIssues')).toEqual(ids.slice(10));
    clock.now += 60_001;
    await tracker.fetchCandidateIssues(never);
    expect(fake.requests.at(-1)?.query.has('reconcileIssues')).toBe(false);
  });
});

function reconciled({ query }: RecordedRequest): string {
  return query.getAll('reconcileIssues').join(',');
}

describe('labels', () => {
  it('are added and removed by update verbs, every spelling at once', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue({ labels: ['Old', 'old', 'keep'] });
    await tracker.labels?.add(id, 'needs-human', never);
    await tracker.labels?.remove(id, 'OLD', never);
    expect(fake.issue(id).labels).toEqual(['keep', 'needs-human']);
    const writes = fake.requests.filter(({ method }) => method === 'PUT');
    expect(writes.map((request) => [request.path, request.json()])).toEqual([
      [`/rest/api/3/issue/${id}`, { update: { labels: [{ add: 'needs-human' }] } }],
      [`/rest/api/3/issue/${id}`, { update: { labels: [{ remove: 'Old' }, { remove: 'old' }] } }],
    ]);
  });

  it('that are there, or are not, are not written', async () => {
    const { fake, tracker } = await connect();
    const id = fake.addIssue({ labels: ['Keep'] });
    await tracker.labels?.add(id, 'keep', never);
    await tracker.labels?.remove(id, 'gone', never);
    expect(fake.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  it.each<[string, string, string]>([
    ['without a name', ' ', 'a label needs a name'],
    ['with a blank in them', 'needs human', "The label 'needs human' contains spaces"],
  ])('%s are tracker_payload_error', async (_, label, words) => {
    const { fake, tracker } = await connect();
    const error = await failureOf(tracker.labels?.add(fake.addIssue(), label, never) ?? Promise.resolve());
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.detail).toContain(words);
  });
});

describe('bad answers', () => {
  const BODIES: readonly [string, Reply][] = [
    ['null', json(null)],
    ['a list', json([])],
    ['a number', json(7)],
    ['an object of other things', json({ x: 1 })],
    ['lists of other things', json({ id: [], key: {}, issues: 'x', comments: 7, transitions: {} })],
  ];
  it.each(BODIES)('%s is tracker_payload_error for every read', async (_, reply) => {
    const { fake, tracker } = await connect();
    const calls = [
      () => tracker.fetchCandidateIssues(never),
      () => tracker.fetchIssueById('1', never),
      () => tracker.fetchIssuesByStates(['Done'], never),
      () => tracker.fetchIssueStatesByIds(['1'], never),
      () => tracker.fetchIssueStatesByIdentifiers(['ABC-1'], never),
      () => tracker.fetchIssueComments('1', never),
      () => tracker.transitionIssue('1', 'Done', never),
      () => tracker.labels?.add('1', 'x', never),
    ];
    for (const call of calls) {
      fake.failNext(() => true, reply);
      expect((await failureOf(call)).kind).toBe('tracker_payload_error');
    }
  });
});
