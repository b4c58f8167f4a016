import { Version3Client } from 'jira.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeJira, FakeJiraOptions } from './jira.ts';
import { startFakeJira } from './jira.ts';

const running: FakeJira[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeJiraOptions = {}, apiToken = 'fake-token:with=colon') {
  const fake = await startFakeJira(options);
  running.push(fake);
  const client = new Version3Client({ host: fake.url, authentication: { basic: { email: 'bot@example.test', apiToken } } });
  return { fake, client };
}

/** The vendor's client library at work on the fake: what works here would work there. */
describe('the fake site through jira.js', () => {
  it('searches page by page, with the fields that are asked for', async () => {
    const { fake, client } = await connect({ maxPageSize: 2 });
    for (let n = 0; n < 3; n += 1) fake.addIssue({ labels: ['a'] });
    fake.addIssue({ status: 'Done' });
    const query = { jql: 'project = ABC AND status = Backlog ORDER BY key ASC', fields: ['summary', 'status'], maxResults: 50 };
    const first = await client.issueSearch.searchForIssuesUsingJqlEnhancedSearch(query);
    expect(first.issues?.map(({ key }) => key)).toEqual(['ABC-1', 'ABC-2']);
    expect(first.issues?.[0]?.fields.status?.name).toBe('Backlog');
    const second = await client.issueSearch.searchForIssuesUsingJqlEnhancedSearch({
      ...query,
      nextPageToken: first.nextPageToken ?? '',
    });
    expect(second.issues?.map(({ key }) => key)).toEqual(['ABC-3']);
    expect(second.nextPageToken).toBeUndefined();
  });

  it('gives ids alone when no fields are asked for', async () => {
    const { fake, client } = await connect();
    const id = fake.addIssue();
    const { issues } = await client.issueSearch.searchForIssuesUsingJqlEnhancedSearch({ jql: 'project = ABC' });
    expect(issues).toEqual([{ id }]);
  });

  it('reads one issue with parent, links and people', async () => {
    const { fake, client } = await connect();
    const parent = fake.addIssue();
    const id = fake.addIssue({ parent, blockedBy: [parent], assignee: 'Ann', description: 'Hello' });
    const issue = await client.issues.getIssue({ issueIdOrKey: id });
    expect(issue.fields.parent?.key).toBe('ABC-1');
    expect(issue.fields.issuelinks?.[0]?.inwardIssue?.key).toBe('ABC-1');
    expect(issue.fields.assignee?.displayName).toBe('Ann');
    expect(issue.fields.description).toMatchObject({ type: 'doc' });
  });

  it('comments, and lists comments by offset', async () => {
    const { fake, client } = await connect({ maxCommentPage: 1 });
    const id = fake.addIssue();
    await client.issueComments.addComment({ issueIdOrKey: id, comment: 'first' });
    await client.issueComments.addComment({ issueIdOrKey: id, comment: 'second' });
    const page = await client.issueComments.getComments({ issueIdOrKey: id, startAt: 1, maxResults: 50, orderBy: 'created' });
    expect(page).toMatchObject({ startAt: 1, maxResults: 1, total: 2 });
    expect(JSON.stringify(page.comments?.[0]?.body)).toContain('second');
  });

  it('labels, case by case', async () => {
    const { fake, client } = await connect();
    const id = fake.addIssue({ labels: ['Old', 'keep'] });
    await client.issues.editIssue({ issueIdOrKey: id, update: { labels: [{ add: 'new' }, { remove: 'old' }] } });
    expect(fake.issue(id).labels).toEqual(['Old', 'keep', 'new']);
  });

  it('moves along the workflow', async () => {
    const { fake, client } = await connect({ workflow: { Backlog: ['In Progress'] } });
    const id = fake.addIssue();
    const { transitions } = await client.issues.getTransitions({ issueIdOrKey: id });
    expect(transitions?.map(({ to }) => to?.name)).toEqual(['In Progress']);
    await client.issues.doTransition({ issueIdOrKey: id, transition: { id: transitions?.[0]?.id ?? '' } });
    expect(fake.issue(id).status).toBe('In Progress');
  });

  it('refuses wrong credentials and unknown issues', async () => {
    const { client } = await connect({}, 'wrong');
    await expect(client.issues.getIssue({ issueIdOrKey: 'ABC-1' })).rejects.toMatchObject({ status: 401 });
    const { client: known } = await connect();
    await expect(known.issues.getIssue({ issueIdOrKey: 'ABC-1' })).rejects.toMatchObject({ status: 404 });
  });
});

describe('the query language of the fake', () => {
  it.each([
    ['project = ABC AND status IN ("Backlog", "Done")', ['ABC-1', 'ABC-2']],
    ['project = "ABC" AND (labels = Ui OR status = "In Progress")', ['ABC-1', 'ABC-3']],
    ['project = ABC AND NOT status = Done AND assignee IS EMPTY', ['ABC-1', 'ABC-3']],
    ['status != Done AND assignee IS NOT EMPTY', []],
    ['labels NOT IN (ui) ORDER BY key DESC', ['ABC-3', 'ABC-2']],
    ['id IN (10001, 10003)', ['ABC-1', 'ABC-3']],
    ['key IN ("abc-2")', ['ABC-2']],
    ['project = ABC ORDER BY priority ASC, created ASC', ['ABC-3', 'ABC-2', 'ABC-1']],
  ])('%s', async (jql, expected) => {
    const { fake, client } = await connect();
    fake.addIssue({ labels: ['ui'], priority: 1 });
    fake.addIssue({ status: 'Done', assignee: 'Ann', priority: 2 });
    fake.addIssue({ status: 'In Progress', priority: 3 });
    const { issues } = await client.issueSearch.searchForIssuesUsingJqlEnhancedSearch({ jql, fields: ['summary'] });
    expect(issues?.map(({ key }) => key)).toEqual(expected);
  });

  it.each([
    ['ORDER BY key', 'Unbounded'],
    ['project = NOPE', "The value 'NOPE' does not exist for the field 'project'."],
    ['status = Nope', "The value 'Nope' does not exist for the field 'status'."],
    ['id IN (10001, 99)', "A value with ID '99' does not exist for the field 'id'."],
    ['id IN ("10001")', "The issue key '10001' for field 'id' is invalid."],
    ['key = ABC-9', "An issue with key 'ABC-9' does not exist for field 'key'."],
    ['status IN ()', "Expecting ')'"],
    ['nope = 1', "Field 'nope' does not exist"],
    ['status = "Backlog', 'not expected here'],
    ['status = Backlog ORDER BY summary', 'Not able to sort'],
    ['status = Backlog )', 'expecting the end'],
  ])('refuses %s', async (jql, words) => {
    const { fake, client } = await connect();
    fake.addIssue();
    const search = client.issueSearch.searchForIssuesUsingJqlEnhancedSearch({ jql });
    await expect(search).rejects.toMatchObject({ status: 400 });
    expect(fake.exchanges.at(-1)?.responseBody).toContain(words);
  });

  it('searches an index that may be behind, unless an issue is named', async () => {
    const { fake, client } = await connect();
    const id = fake.addIssue();
    fake.freezeIndex();
    fake.editIssue(id, { status: 'Done' });
    const count = async (reconcileIssues: number[]) =>
      (await client.issueSearch.searchForIssuesUsingJqlEnhancedSearch({ jql: 'status = Backlog', reconcileIssues })).issues
        ?.length;
    expect(await count([])).toBe(1);
    expect(await count([Number(id)])).toBe(0);
    fake.reindex();
    expect(await count([])).toBe(0);
  });
});
