import { AuthenticationLinearError, InvalidInputLinearError, LinearClient } from '@linear/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { json } from '../support/http-server.ts';
import type { FakeLinear, FakeLinearOptions } from './linear.ts';
import { startFakeLinear } from './linear.ts';
import { errorBody, remoteError } from './linear/failures.ts';

const running: FakeLinear[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

/** The fake, and the vendor's own client library at work on it. */
async function start(options: FakeLinearOptions = {}) {
  const fake = await startFakeLinear({ lenient: true, ...options });
  running.push(fake);
  return { fake, client: new LinearClient({ apiKey: fake.apiKey, apiUrl: fake.url }) };
}

async function post(fake: FakeLinear, query: string, variables: object = {}, authorization = fake.apiKey) {
  const headers = { authorization, 'content-type': 'application/json' };
  const response = await fetch(fake.url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  return { status: response.status, body: (await response.json()) as { data: unknown; errors?: { extensions: object }[] } };
}

describe('fake graphql, through @linear/sdk', () => {
  it('knows the viewer, and refuses a wrong key', async () => {
    const { fake, client } = await start();
    expect((await client.viewer).displayName).toBe('bot');
    const stranger = new LinearClient({ apiKey: 'lin_api_wrong', apiUrl: fake.url });
    await expect(stranger.viewer).rejects.toBeInstanceOf(AuthenticationLinearError);
  });

  it('finds a team by its key and lists its states', async () => {
    const { client } = await start();
    const { nodes } = await client.teams({ filter: { key: { eq: 'ENG' } } });
    expect(nodes.map(({ key }) => key)).toEqual(['ENG']);
    const states = await nodes[0]!.states();
    expect(states.nodes.map(({ name, type }) => `${name} ${type}`)).toContain('In Progress started');
    expect((await client.teams({ filter: { key: { eq: 'eng' } } })).nodes).toEqual([]);
  });

  it('lists newest first, page by page, without archived issues', async () => {
    const { fake, client } = await start();
    for (let n = 0; n < 5; n += 1) fake.addIssue();
    fake.editIssue('ENG-2', { archived: true });
    const page = await client.issues({ first: 2 });
    expect(page.nodes.map(({ identifier }) => identifier)).toEqual(['ENG-5', 'ENG-4']);
    expect(page.pageInfo.hasNextPage).toBe(true);
    await page.fetchNext();
    expect(page.nodes.map(({ identifier }) => identifier)).toEqual(['ENG-5', 'ENG-4', 'ENG-3', 'ENG-1']);
    expect(page.pageInfo.hasNextPage).toBe(false);
    expect((await client.issues({ includeArchived: true })).nodes).toHaveLength(5);
  });

  it('compares state names with their case, and ANDs what a filter names', async () => {
    const { fake, client } = await start();
    fake.addIssue({ state: 'Todo', labels: ['agent'], priority: 1 });
    fake.addIssue({ state: 'Todo', assignee: 'ann' });
    fake.addIssue({ state: 'Todo', team: 'OPS' });
    const found = async (filter: NonNullable<Parameters<typeof client.issues>[0]>['filter']) =>
      (await client.issues({ filter })).nodes.map(({ identifier }) => identifier);
    expect(await found({ state: { name: { in: ['todo'] } } })).toEqual([]);
    expect(await found({ state: { name: { in: ['Todo'] } }, team: { key: { eq: 'ENG' } } })).toEqual(['ENG-2', 'ENG-1']);
    expect(await found({ team: { key: { eq: 'ENG' } }, labels: { some: { name: { eq: 'agent' } } } })).toEqual(['ENG-1']);
    expect(await found({ assignee: { null: true }, or: [{ priority: { eq: 1 } }, { number: { in: [2] } }] })).toEqual(['ENG-1']);
    expect(await found({ assignee: { displayName: { eqIgnoreCase: 'ANN' } } })).toEqual(['ENG-2']);
  });

  it('reads an issue by id and by identifier, with state, assignee and parent', async () => {
    const { fake, client } = await start();
    const parent = fake.addIssue();
    const { id } = fake.addIssue({ assignee: 'ann', parent: parent.id, title: 'Child', state: 'In Progress' });
    for (const name of [id, 'ENG-2', 'eng-2']) expect((await client.issue(name)).title).toBe('Child');
    const issue = await client.issue(id);
    expect((await issue.state)?.name).toBe('In Progress');
    expect((await issue.assignee)?.displayName).toBe('ann');
    expect((await issue.parent)?.identifier).toBe('ENG-1');
    await expect(client.issue('ENG-99')).rejects.toMatchObject({
      constructor: InvalidInputLinearError,
      message: expect.stringContaining('Entity not found: Issue') as string,
    });
  });

  it('answers a document of several issues with nothing when one is missing', async () => {
    const { fake } = await start({ lenient: false });
    fake.addIssue();
    const { body, status } = await post(fake, '{ a: issue(id: "ENG-1") { id } b: issue(id: "ENG-9") { id } }');
    expect([status, body.data]).toEqual([200, null]);
  });

  it('refuses a whole lookup for one id that is no UUID', async () => {
    const { fake, client } = await start();
    const { id } = fake.addIssue();
    await expect(client.issues({ filter: { id: { in: [id, 'ENG-1'] } } })).rejects.toBeInstanceOf(InvalidInputLinearError);
  });

  it('keeps comments, newest first', async () => {
    const { fake, client } = await start();
    const { id } = fake.addIssue();
    fake.comment(id, { author: 'ann', body: 'first' });
    expect((await client.createComment({ issueId: id, body: '**second**' })).success).toBe(true);
    fake.comment(id, { bot: 'GitHub', body: 'third' });
    const { nodes } = await (await client.issue(id)).comments();
    expect(nodes.map(({ body }) => body)).toEqual(['third', '**second**', 'first']);
    expect([nodes[0]?.botActor?.name, (await nodes[2]?.user)?.displayName]).toEqual(['GitHub', 'ann']);
    await expect(client.createComment({ issueId: 'ENG-9', body: 'x' })).rejects.toBeInstanceOf(InvalidInputLinearError);
  });

  it('moves an issue by state id, of its own team only', async () => {
    const { fake, client } = await start();
    const { id } = fake.addIssue();
    const [state] = (await client.workflowStates({ filter: { name: { eq: 'Done' }, team: { key: { eq: 'ENG' } } } })).nodes;
    await client.updateIssue(id, { stateId: state!.id });
    expect(fake.issue(id).state).toBe('Done');
    const [other] = (await client.workflowStates({ filter: { name: { eq: 'Done' }, team: { key: { eq: 'OPS' } } } })).nodes;
    await expect(client.updateIssue(id, { stateId: other!.id })).rejects.toBeInstanceOf(InvalidInputLinearError);
  });

  it('creates labels once, attaches them by id, and replaces them all when told so', async () => {
    const { fake, client } = await start();
    const { id } = fake.addIssue({ labels: ['old'] });
    const team = await (await client.issue(id)).team;
    const created = await client.createIssueLabel({ name: 'New', teamId: team!.id });
    await expect(client.createIssueLabel({ name: 'new', teamId: team!.id })).rejects.toBeInstanceOf(InvalidInputLinearError);
    const label = (await created.issueLabel)!;
    await client.updateIssue(id, { addedLabelIds: [label.id] });
    expect((await (await client.issue(id)).labels()).nodes.map(({ name }) => name)).toEqual(['old', 'New']);
    await client.updateIssue(id, { removedLabelIds: [label.id] });
    expect(fake.issue(id).labels).toEqual(['old']);
    await client.updateIssue(id, { labelIds: [label.id] });
    expect(fake.issue(id).labels).toEqual(['New']);
    const labels = await client.issueLabels({ filter: { name: { eqIgnoreCase: 'NEW' } } });
    expect(await Promise.all(labels.nodes.map(async (one) => (await one.team)?.key))).toEqual(['ENG']);
    const group = fake.addLabel('Group', { team: 'ENG', isGroup: true });
    await expect(client.updateIssue(id, { addedLabelIds: [group] })).rejects.toBeInstanceOf(InvalidInputLinearError);
  });

  it('fails on demand, once, and lets others act in between', async () => {
    const { fake, client } = await start();
    const { id } = fake.addIssue();
    fake.failNext('issue(id', json(errorBody(remoteError('oops', 'internal error')), 500));
    fake.beforeNext('issue(id', () => fake.editIssue(id, { title: 'changed' }));
    await expect(client.issue(id)).rejects.toThrow('oops');
    expect((await client.issue(id)).title).toBe('changed');
  });
});

describe('fake graphql, by hand', () => {
  it.each([
    ['a document that is none', '{ nope', {}],
    ['a field that is not in the schema', '{ viewer { nope } }', {}],
    ['a variable with an unknown field', 'query Q($f: IssueFilter) { issues(filter: $f) { nodes { id } } }', { f: { nope: 1 } }],
  ])('%s is answered 400 with a graphql error', async (_, query, variables) => {
    const { fake } = await start({ lenient: false });
    const { status, body } = await post(fake, query, variables);
    expect(status).toBe(400);
    expect(body.errors?.[0]?.extensions).toMatchObject({ type: 'graphql error', userError: true });
  });

  it('a key with a scheme in front of it is refused', async () => {
    const { fake } = await start();
    const { status, body } = await post(fake, '{ viewer { id } }', {}, `Bearer ${fake.apiKey}`);
    expect([status, body.errors?.[0]?.extensions]).toMatchObject([400, { type: 'authentication error' }]);
  });
});
