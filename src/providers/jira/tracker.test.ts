import { describe, expect, it } from 'vitest';
import { connect, failureOf, FIELDS, lines, never, queries } from '../../../test/fakes/jira/connect.ts';
import type { Reply } from '../../../test/support/http-server.ts';
import { json } from '../../../test/support/http-server.ts';

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
