import { Gitlab } from '@gitbeaker/rest';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from './gitlab.ts';
import { startFakeGitlab } from './gitlab.ts';

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeGitlabOptions = {}) {
  const fake = await startFakeGitlab(options);
  running.push(fake);
  return { fake, path: fake.project.path, api: new Gitlab({ host: fake.url, token: fake.token }) };
}

describe("the vendor's own client library works against the fake", () => {
  it('shows the project by path and by id, and the token', async () => {
    const { fake, path, api } = await connect();
    expect(await api.Projects.show(path)).toMatchObject({ id: fake.project.id, path_with_namespace: path });
    expect(await api.Projects.show(fake.project.id)).toMatchObject({ id: fake.project.id });
    expect(await api.PersonalAccessTokens.show()).toMatchObject({ scopes: ['api'], active: true, revoked: false });
  });

  it('lists every page by the next link, newest first unless asked otherwise', async () => {
    const { fake, path, api } = await connect({ maxPerPage: 2 });
    for (let count = 0; count < 5; count += 1) fake.addIssue();
    const newest = await api.Issues.all({ projectId: path });
    expect(newest.map(({ iid }) => iid)).toEqual([5, 4, 3, 2, 1]);
    const oldest = await api.Issues.all({ projectId: path, state: 'opened', orderBy: 'created_at', sort: 'asc' });
    expect(oldest.map(({ iid }) => iid)).toEqual([1, 2, 3, 4, 5]);
    expect(fake.requests).toHaveLength(6);
  });

  it('filters by state, type, numbers and labels', async () => {
    const { fake, path, api } = await connect();
    fake.addIssue({ labels: ['bug', 'ui'] });
    fake.addIssue({ labels: ['bug'], state: 'closed' });
    fake.addIssue({ issueType: 'task' });
    const numbers = async (options: Record<string, unknown>) =>
      (await api.Issues.all({ projectId: path, sort: 'asc', ...options })).map(({ iid }) => iid);
    expect(await numbers({ state: 'opened' })).toEqual([1, 3]);
    expect(await numbers({ issueType: 'issue' })).toEqual([1, 2]);
    expect(await numbers({ iids: [2, 3, 99] })).toEqual([2, 3]);
    expect(await numbers({ labels: 'bug,ui' })).toEqual([1]);
    expect(await numbers({ labels: 'Bug' })).toEqual([]);
    expect(await numbers({ not: { labels: 'ui' } })).toEqual([2, 3]);
    expect(await numbers({ plausible: 'nonsense' })).toEqual([1, 2, 3]);
  });

  it('shows, creates and edits an issue', async () => {
    const { fake, path, api } = await connect();
    const created = await api.Issues.create(path, 'Fly', { description: 'To the moon', labels: 'bug' });
    expect(created).toMatchObject({ iid: 1, state: 'opened', labels: ['bug'], references: { full: `${path}#1` } });
    const edited = await api.Issues.edit(path, 1, { stateEvent: 'close', addLabels: 'done', removeLabels: 'bug' });
    expect(edited).toMatchObject({ state: 'closed', labels: ['done'] });
    expect(await api.Issues.show(1, { projectId: path })).toMatchObject({ state: 'closed', labels: ['done'] });
    expect(fake.labelNames()).toEqual(['bug', 'done']);
  });

  it('keeps comments and turns quick actions into changes', async () => {
    const { fake, path, api } = await connect();
    fake.addIssue();
    expect(await api.IssueNotes.create(path, 1, 'hello')).toMatchObject({ body: 'hello', commands_changes: {} });
    expect(await api.IssueNotes.create(path, 1, 'bye\n/close')).toMatchObject({
      body: 'bye',
      commands_changes: { state_event: 'close' },
    });
    expect(fake.issue(1).state).toBe('closed');
    expect(await api.IssueNotes.create(path, 1, '/reopen')).not.toHaveProperty('id');
    await api.IssueNotes.create(path, 1, '```\n/close\n```');
    expect(fake.issue(1).state).toBe('opened');
    const notes = await api.IssueNotes.all(path, 1, { sort: 'asc' });
    expect(notes.map(({ body, system }) => [body, system])).toEqual([
      ['hello', false],
      ['closed', true],
      ['bye', false],
      ['reopened', true],
      ['```\n/close\n```', false],
    ]);
  });

  it('lists the labels of the project and of its group', async () => {
    const { path, api } = await connect({ labels: ['done'], groupLabels: ['Backlog'] });
    await api.ProjectLabels.create(path, 'new', '#cccccc');
    const labels = await api.ProjectLabels.all(path);
    expect(labels.map(({ name, is_project_label }) => [name, is_project_label])).toEqual([
      ['Backlog', false],
      ['done', true],
      ['new', true],
    ]);
  });
});

describe('traps', () => {
  it.each<[what: string, change: Record<string, string>, labels: string[], catalogue: string[]]>([
    ['a missing label is created on add', { add_labels: 'new' }, ['bug', 'new'], ['bug', 'new']],
    ['a label in another case is another label', { add_labels: 'Bug' }, ['Bug', 'bug'], ['bug', 'Bug']],
    ['removing a missing label changes nothing', { remove_labels: 'ghost' }, ['bug'], ['bug']],
    ['of a label added and removed nothing is left', { add_labels: 'x', remove_labels: 'x' }, ['bug'], ['bug', 'x']],
    ['closing what is closed is fine', { state_event: 'close' }, ['bug'], ['bug']],
  ])('%s', async (_, change, labels, catalogue) => {
    const { fake } = await connect();
    fake.addIssue({ labels: ['bug'], state: 'closed' });
    expect((await put(fake, change)).status).toBe(200);
    expect(fake.issue(1).labels).toEqual(labels);
    expect(fake.labelNames()).toEqual(catalogue);
  });

  it.each<[what: string, path: string, status: number, body: unknown]>([
    [
      'a wrong state is refused',
      '/projects/acme%2Ftools%2Frocket/issues?state=open',
      400,
      { error: 'state does not have a valid value' },
    ],
    ['an unencoded project misses the route', '/projects/acme/tools/rocket', 404, { error: '404 Not Found' }],
    ['a double-encoded one misses the project', '/projects/acme%252Ftools%252Frocket', 404, { message: '404 Project Not Found' }],
    ['a missing issue', '/projects/4711/issues/99', 404, { message: '404 Not found' }],
    ['a word for a number', '/projects/4711/issues/abc', 400, { error: 'issue_iid is invalid' }],
  ])('%s', async (_, path, status, body) => {
    const { fake } = await connect();
    const answer = await fetch(`${fake.url}/api/v4${path}`, { headers: { 'PRIVATE-TOKEN': fake.token } });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual(body);
  });

  it('wrong events, empty updates, missing scopes and missing tokens are refused', async () => {
    const { fake } = await connect({ scopes: ['read_api'] });
    fake.addIssue();
    expect((await put(fake, { state_event: 'close' })).status).toBe(403);
    const open = await connect();
    open.fake.addIssue();
    expect((await put(open.fake, { state_event: 'closed' })).status).toBe(400);
    expect((await put(open.fake, {})).status).toBe(400);
    expect((await fetch(`${open.fake.url}/api/v4/projects/4711`)).status).toBe(401);
    const bearer = { headers: { authorization: `Bearer ${open.fake.token}` } };
    expect((await fetch(`${open.fake.url}/api/v4/projects/4711`, bearer)).status).toBe(401);
  });

  it('a planned answer takes the place of the real one, as often as planned', async () => {
    const { fake, path, api } = await connect();
    fake.failNext({ method: 'GET', path: /labels/ }, (response) => response.writeHead(418).end());
    await expect(api.ProjectLabels.all(path)).rejects.toThrow();
    expect(await api.ProjectLabels.all(path)).toEqual([]);
  });
});

function put(fake: FakeGitlab, body: Record<string, string>): Promise<Response> {
  return fetch(`${fake.url}/api/v4/projects/4711/issues/1`, {
    method: 'PUT',
    headers: { 'PRIVATE-TOKEN': fake.token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}
