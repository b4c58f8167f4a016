import { describe, expect, it } from 'vitest';
import { connections } from '../../../test/fakes/gitlab/connect.ts';
import { empty, json } from '../../../test/support/http-server.ts';

const never = new AbortController().signal;
const connect = connections();

const LIST = 'GET /projects/acme/tools/rocket/issues';
const OWN = 'issue_type=issue&scope=all&order_by=created_at&sort=asc&per_page=100';

describe('fetchCandidateIssues', () => {
  it('open issues in active states, oldest first, without comments', async () => {
    const { fake, tracker, sent } = await connect();
    fake.addIssue({ title: 'unlabelled', description: 'text', assignees: ['ada'] });
    fake.addIssue({ labels: ['In-Progress', 'Bug'] });
    fake.addIssue({ labels: ['done'] });
    fake.addIssue({ labels: ['human-review'] });
    fake.addIssue({ labels: ['backlog'], state: 'closed' });
    fake.addIssue({ labels: ['backlog'], issueType: 'task' });
    const issues = await tracker.fetchCandidateIssues(never);
    expect(issues).toMatchObject([
      { id: '1', identifier: '1', state: 'backlog', displayIdentifier: 'acme/tools/rocket#1', assignee: 'ada', comments: null },
      { id: '2', state: 'in-progress', labels: ['bug', 'in-progress'], blockedBy: [], parent: null, priority: null },
    ]);
    expect(sent()).toEqual([`${LIST}?state=opened&${OWN}`]);
  });

  it('merges the filter, whose keys replace the own ones', async () => {
    const { fake, tracker, sent } = await connect({ queryFilter: 'labels=ui&scope=assigned_to_me&not[labels]=skip' });
    fake.addIssue({ labels: ['ui'] });
    fake.addIssue({ labels: ['ui', 'skip'] });
    fake.addIssue();
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['1']);
    const own = OWN.replace('scope=all&', '');
    expect(sent()).toEqual([`${LIST}?state=opened&${own}&labels=ui&scope=assigned_to_me&not[labels]=skip`]);
  });

  it('follows the next links as given and never asks for a page itself', async () => {
    const { fake, tracker } = await connect({}, { maxPerPage: 2 });
    for (let count = 0; count < 5; count += 1) fake.addIssue();
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5']);
    expect(fake.requests.map(({ query }) => query.get('page'))).toEqual([null, '2', '3']);
  });

  it('stops at 200 pages with a warning that names the endpoint', async () => {
    const { fake, tracker, warnings } = await connect({}, { maxPerPage: 1 });
    for (let count = 0; count < 201; count += 1) fake.addIssue();
    expect(await tracker.fetchCandidateIssues(never)).toHaveLength(200);
    expect(warnings()).toMatchObject([{ attributes: { endpoint: '/api/v4/projects/acme%2Ftools%2Frocket/issues', pages: 200 } }]);
  });

  it('derives by the default states when none are configured', async () => {
    const { fake, tracker } = await connect({ activeStates: [], terminalStates: [] });
    fake.addIssue({ labels: ['review'] });
    fake.addIssue({ labels: ['wontfix'] });
    expect(await tracker.fetchCandidateIssues(never)).toMatchObject([{ id: '1', state: 'review' }]);
  });

  it('warns once about several state labels and keeps the first', async () => {
    const { fake, tracker, warnings } = await connect();
    fake.addIssue({ labels: ['human-review', 'in-progress'] });
    for (let poll = 0; poll < 2; poll += 1) {
      expect(await tracker.fetchCandidateIssues(never)).toMatchObject([{ state: 'in-progress' }]);
    }
    expect(warnings()).toMatchObject([
      { attributes: { issue_identifier: '1', labels: 'in-progress, human-review', kept: 'in-progress' } },
    ]);
  });

  it('works with a numeric project id', async () => {
    const { fake, tracker, sent } = await connect({ project: '4711' });
    fake.addIssue();
    expect(await tracker.fetchCandidateIssues(never)).toHaveLength(1);
    expect(sent()[0]).toContain('GET /projects/4711/issues?');
  });
});

describe('fetchIssueById', () => {
  it('one issue with its comments, oldest first, system notes left out', async () => {
    const { fake, tracker, sent } = await connect();
    fake.addIssue({ state: 'closed' });
    fake.addNote(1, { body: 'first', author: 'bob' });
    fake.addNote(1, { body: 'closed', system: true });
    fake.addNote(1, { body: 'secret', internal: true });
    const issue = await tracker.fetchIssueById('1', never);
    expect(issue).toMatchObject({ id: '1', state: 'done', issueType: 'issue' });
    expect(issue.comments?.map(({ author, body }) => [author, body])).toEqual([
      ['bob', 'first'],
      ['ada', 'secret'],
    ]);
    expect(sent()).toEqual([
      'GET /projects/acme/tools/rocket/issues/1',
      'GET /projects/acme/tools/rocket/issues/1/notes?activity_filter=only_comments&sort=asc&per_page=100',
    ]);
  });

  it.each(['task', 'incident', 'test_case'])('a %s is not found', async (issueType) => {
    const { fake, tracker } = await connect();
    fake.addIssue({ issueType });
    await expect(tracker.fetchIssueById('1', never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
    await expect(tracker.transitionIssue('1', 'done', never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
    await expect(tracker.labels?.remove('1', 'bug', never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
  });

  it('a missing one is not found', async () => {
    const { tracker } = await connect();
    await expect(tracker.fetchIssueById('9', never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
  });
});

describe('identifier guard', () => {
  it.each(['', ' ', '007', '0', '-1', '+1', '1.0', 'abc', '1a', ' 1', '1\n', '1/notes', '٣', '../1', '\ud800'])(
    '%j is not found, without a request',
    async (id) => {
      const { fake, tracker } = await connect();
      const calls = [
        tracker.fetchIssueById(id, never),
        tracker.fetchIssueComments(id, never),
        tracker.transitionIssue(id, 'done', never),
        tracker.commentIssue(id, 'hi', never),
        tracker.labels?.add(id, 'bug', never),
        tracker.labels?.remove(id, 'bug', never),
      ];
      for (const call of calls) await expect(call).rejects.toMatchObject({ kind: 'tracker_not_found' });
      expect(await tracker.fetchIssueStatesByIds([id], never)).toEqual(new Map());
      expect(fake.requests).toEqual([]);
    },
  );
});

describe('fetchIssuesByStates', () => {
  it('reads both halves, the filter on the open one only', async () => {
    const { fake, tracker, sent } = await connect({ queryFilter: 'labels=ui' });
    fake.addIssue({ labels: ['ui', 'done'] });
    fake.addIssue({ labels: ['done'] });
    fake.addIssue({ state: 'closed' });
    fake.addIssue({ state: 'closed', labels: ['wontfix'] });
    fake.addIssue({ state: 'closed', labels: ['in-progress'] });
    fake.addIssue({ state: 'closed', issueType: 'incident' });
    const issues = await tracker.fetchIssuesByStates(['Done', 'wontfix'], never);
    expect(issues.map(({ id, state }) => [id, state])).toEqual([
      ['1', 'done'],
      ['3', 'done'],
      ['4', 'wontfix'],
    ]);
    expect(sent()).toEqual([`${LIST}?state=opened&${OWN}&labels=ui`, `${LIST}?state=closed&${OWN}`]);
  });

  it('no states, no request', async () => {
    const { fake, tracker } = await connect();
    expect(await tracker.fetchIssuesByStates([], never)).toEqual([]);
    expect(fake.requests).toEqual([]);
  });

  it('an issue closed between the two reads is told once, as it is now', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['done'] });
    fake.afterNext({ path: /issues$/ }, () =>
      fake.editIssue(1, { state: 'closed', removeLabels: ['done'], addLabels: ['wontfix'] }),
    );
    expect(await tracker.fetchIssuesByStates(['done', 'wontfix'], never)).toMatchObject([{ id: '1', state: 'wontfix' }]);
  });
});

describe('fetchIssueStatesByIds and ByIdentifiers', () => {
  it('states by number; what is missing or no issue is left out', async () => {
    const { fake, tracker, sent } = await connect({ queryFilter: 'labels=ui' });
    fake.addIssue({ labels: ['in-progress'] });
    fake.addIssue({ state: 'closed' });
    fake.addIssue({ issueType: 'task' });
    const expected = new Map([
      ['1', 'in-progress'],
      ['2', 'done'],
    ]);
    expect(await tracker.fetchIssueStatesByIds(['1', '2', '3', '99', '1', 'abc'], never)).toEqual(expected);
    expect(await tracker.fetchIssueStatesByIdentifiers(['2', '1'], never)).toEqual(expected);
    expect(sent()).toEqual([
      `${LIST}?iids[]=1&iids[]=2&iids[]=3&iids[]=99&state=all&scope=all&per_page=100`,
      `${LIST}?iids[]=2&iids[]=1&state=all&scope=all&per_page=100`,
    ]);
  });

  it('tell which are closed although their label says otherwise, as the whole read does', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['in-progress'], state: 'closed' });
    fake.addIssue({ labels: ['done'], state: 'closed' });
    fake.addIssue({ labels: ['in-progress'] });
    const ids = ['1', '2', '3'];
    const closed = new Set<string>();
    const states = await tracker.fetchIssueStatesByIds(ids, never, closed);
    expect(ids.map((id) => states.get(id))).toEqual(['in-progress', 'done', 'in-progress']);
    expect([...closed]).toEqual(['1']);
    const whole = await Promise.all(ids.map((id) => tracker.fetchIssueById(id, never)));
    expect(whole.map(({ isClosed }) => isClosed)).toEqual([true, undefined, undefined]);
  });

  it('asks in chunks of 50 distinct numbers', async () => {
    const { fake, tracker } = await connect();
    const ids = Array.from({ length: 120 }, () => String(fake.addIssue().iid));
    expect((await tracker.fetchIssueStatesByIds([...ids, ...ids], never)).size).toBe(120);
    expect(fake.requests.map(({ query }) => query.getAll('iids[]').length)).toEqual([50, 50, 20]);
  });

  it('pages within a chunk are followed', async () => {
    const { fake, tracker } = await connect({}, { maxPerPage: 7 });
    const ids = Array.from({ length: 20 }, () => String(fake.addIssue().iid));
    expect((await tracker.fetchIssueStatesByIds(ids, never)).size).toBe(20);
  });

  it('nothing to ask, no request', async () => {
    const { fake, tracker } = await connect();
    expect(await tracker.fetchIssueStatesByIds([], never)).toEqual(new Map());
    expect(fake.requests).toEqual([]);
  });

  it('a failing chunk fails the call', async () => {
    const { fake, tracker } = await connect();
    fake.failNext({ path: /issues$/ }, empty(503));
    await expect(tracker.fetchIssueStatesByIds(['1'], never)).rejects.toMatchObject({ kind: 'tracker_transport_error' });
  });
});

describe('fetchIssueComments', () => {
  it('reads every page', async () => {
    const { fake, tracker } = await connect({}, { maxPerPage: 2 });
    fake.addIssue();
    for (const body of ['a', 'b', 'c', 'd', 'e']) fake.addNote(1, { body });
    expect((await tracker.fetchIssueComments('1', never)).map(({ body }) => body)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('an empty list when there are none, not found when there is no issue', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    expect(await tracker.fetchIssueComments('1', never)).toEqual([]);
    await expect(tracker.fetchIssueComments('2', never)).rejects.toMatchObject({ kind: 'tracker_not_found' });
  });

  it('drops system notes also when the remote ignores the filter', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    fake.failNext({ path: /notes$/ }, json([{ id: 1, system: true, body: 'x' }, { id: 2, system: false, body: 'y' }])); // prettier-ignore
    expect(await tracker.fetchIssueComments('1', never)).toMatchObject([{ id: '2', author: '', body: 'y', createdAt: '' }]);
  });
});
