import { describe, expect, it } from 'vitest';
import type { FakeJira } from '../../../test/fakes/jira.ts';
import { connect, failureOf, FIELDS, lines, never, queries } from '../../../test/fakes/jira/connect.ts';
import type { RecordedRequest } from '../../../test/support/http-server.ts';
import { json } from '../../../test/support/http-server.ts';

function many(fake: FakeJira, count: number): string[] {
  return Array.from({ length: count }, () => fake.addIssue());
}
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
        reconcileIssues: batch.at(-1),
      })),
    );
    expect(fake.requests.map(({ query }) => query.getAll('reconcileIssues'))).toEqual([
      ids.slice(0, 40),
      ids.slice(40, 80),
      ids.slice(80),
    ]);
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
    expect(new Set(asked)).toEqual(new Set([`${ids[0]},${ids[1]}`, ids.join(',')]));
  });

  it('does not show what somebody else changed as it was, where it is asked about that issue', async () => {
    const { fake, tracker } = await connect();
    const ids = many(fake, 2);
    fake.freezeIndex();
    fake.editIssue(ids[0] ?? '', { status: 'Done' });
    expect((await tracker.fetchIssueStatesByIds(ids, never)).get(ids[0] ?? '')).toBe('Done');
  });

  it('does not show an issue as it was that had been moved already', async () => {
    const { fake, tracker } = await connect({ workflow: { Backlog: ['Done'], Done: [] } });
    const id = fake.addIssue();
    fake.freezeIndex();
    fake.editIssue(id, { status: 'Done' });
    await tracker.transitionIssue(id, 'Done', never);
    expect(await tracker.fetchCandidateIssues(never)).toEqual([]);
  });

  it('is asked about no more than 50: all that are looked up, then what we changed last', async () => {
    const { fake, tracker } = await connect();
    const ids = many(fake, 60);
    for (const id of ids.slice(0, 55)) await tracker.transitionIssue(id, 'Done', never);
    const looked = ids.slice(20);
    await tracker.fetchIssueStatesByIds(looked, never);
    expect(fake.requests.at(-1)?.query.getAll('reconcileIssues')).toEqual([...looked, ...ids.slice(10, 20)]);
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
