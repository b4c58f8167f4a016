import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { asked, failureOf, never, openTracker } from '../../../test/fakes/gitea/connect.ts';
import { json } from '../../../test/support/http-server.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const LABELS = ['todo', 'doing', 'review', 'done', 'bug'];

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeGiteaOptions = { labels: LABELS }, changes: Partial<TrackerSettings> = {}) {
  const fake = await startFakeGitea(options);
  running.push(fake);
  const { tracker } = openTracker(fake, changes);
  const writes = () => asked(fake).filter((line) => !line.startsWith('GET '));
  return { fake, writes, move: (id: string, state: string) => tracker.transitionIssue(id, state, never) };
}

describe('gitea transition', () => {
  it.each<[string, { labels: string[]; state: 'open' | 'closed' }, string, { labels: string[]; state: string }]>([
    ['active to active: labels only', { labels: ['todo'], state: 'open' }, 'doing', { labels: ['doing'], state: 'open' }],
    ['active to handoff: labels only', { labels: ['doing'], state: 'open' }, 'review', { labels: ['review'], state: 'open' }],
    ['terminal target closes an open issue', { labels: ['doing'], state: 'open' }, 'done', { labels: ['done'], state: 'closed' }],
    ['active target reopens a closed issue', { labels: ['done'], state: 'closed' }, 'todo', { labels: ['todo'], state: 'open' }],
    [
      'terminal target of a closed issue',
      { labels: ['doing'], state: 'closed' },
      'wontfix',
      { labels: ['wontfix'], state: 'closed' },
    ],
    ['no label before', { labels: [], state: 'open' }, 'todo', { labels: ['todo'], state: 'open' }],
    ['the target in other case', { labels: ['todo'], state: 'open' }, 'DOING', { labels: ['doing'], state: 'open' }],
    ['other labels stay', { labels: ['bug', 'todo'], state: 'open' }, 'doing', { labels: ['bug', 'doing'], state: 'open' }],
    [
      'several state labels go',
      { labels: ['doing', 'review', 'todo'], state: 'open' },
      'done',
      { labels: ['done'], state: 'closed' },
    ],
    ['every spelling goes', { labels: ['TODO', 'Todo', 'todo'], state: 'open' }, 'review', { labels: ['review'], state: 'open' }],
  ])('%s', async (_, before, target, after) => {
    const { fake, move } = await start();
    fake.addIssue(before);
    await move('1', target);
    expect(fake.issue(1)).toMatchObject(after);
  });

  it.each([404, 422])('a label that stays although the remote answered %i is no move', async (status) => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    fake.failNext(({ method }) => method === 'DELETE', json({ message: 'no such label' }, status));
    const error = await failureOf(move('1', 'review'));
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.detail).toBe('the label "todo" was removed but issue 1 still carries it');
    await move('1', 'review');
    expect(fake.issue(1), 'made again, it is whole').toMatchObject({ labels: ['review'] });
  });

  it('a label that somebody took away meanwhile is fine', async () => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    fake.beforeNext(
      ({ method }) => method === 'DELETE',
      () => fake.editIssue(1, { labels: ['review'] }),
    );
    await move('1', 'review');
    expect(fake.issue(1)).toMatchObject({ labels: ['review'] });
  });

  it('attaches by id, then removes by id, then closes', async () => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    await move('1', 'done');
    const id = (name: string) => fake.labels().find((label) => label.name === name)?.id;
    expect(asked(fake)).toEqual([
      'GET /repos/acme/app/issues/1',
      'GET /repos/acme/app/labels?limit=50',
      'POST /repos/acme/app/issues/1/labels',
      `DELETE /repos/acme/app/issues/1/labels/${id('todo')}`,
      'PATCH /repos/acme/app/issues/1',
    ]);
    expect(fake.requests[2]?.json()).toEqual({ labels: [id('done')] });
    expect(fake.requests[4]?.json()).toEqual({ state: 'closed' });
  });

  it('creates a label that is absent, in the fixed colour', async () => {
    const { fake, move } = await start({ labels: ['todo'] });
    fake.addIssue({ labels: ['todo'] });
    await move('1', 'review');
    const created = fake.requests.find(({ method, path }) => method === 'POST' && path.endsWith('/app/labels'));
    expect(created?.json()).toEqual({ name: 'review', color: '#cccccc' });
    expect(fake.issue(1).labels).toEqual(['review']);
  });

  it('creates an absent label once when two issues need it at the same time', async () => {
    const { fake, move } = await start({ labels: ['todo'] });
    fake.addIssue({ labels: ['todo'] });
    fake.addIssue({ labels: ['todo'] });
    await Promise.all([move('1', 'doing'), move('2', 'doing')]);
    expect(fake.labels().filter(({ name }) => name === 'doing')).toHaveLength(1);
    expect([fake.issue(1).labels, fake.issue(2).labels]).toEqual([['doing'], ['doing']]);
  });

  it('finds the label on a later page and prefers its exact spelling', async () => {
    const { fake, move } = await start({ labels: ['todo', 'DOING', 'a', 'b', 'doing'], maxPageSize: 2 });
    fake.addIssue({ labels: ['todo'] });
    await move('1', 'doing');
    expect(fake.issue(1).labels).toEqual(['doing']);
  });

  it('uses another spelling rather than create a second label', async () => {
    const { fake, move } = await start({ labels: ['todo', 'Doing'] });
    fake.addIssue({ labels: ['todo'] });
    await move('1', 'doing');
    expect([fake.issue(1).labels, fake.labels().length]).toEqual([['Doing'], 2]);
  });

  it('removes organization labels by the id that the issue reports', async () => {
    const { fake, move } = await start({ labels: ['doing'], organizationLabels: ['todo'] });
    fake.addIssue({ labels: ['todo'] });
    await move('1', 'doing');
    expect(fake.issue(1).labels).toEqual(['doing']);
  });

  it.each(['nonsense', '', ' ', 'bug'])('the target %j is refused before any request', async (target) => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    expect((await failureOf(move('1', target))).kind).toBe('tracker_payload_error');
    expect(asked(fake)).toEqual([]);
  });

  it('a handoff of a closed issue is refused before any write', async () => {
    const { fake, move, writes } = await start();
    fake.addIssue({ labels: ['doing'], state: 'closed' });
    const error = await failureOf(move('1', 'review'));
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.message).toContain('issue 1 is closed');
    expect(writes()).toEqual([]);
  });

  it.each<[string, { labels: string[]; state: 'open' | 'closed' }, string, string[]]>([
    ['active', { labels: ['todo'], state: 'open' }, 'todo', []],
    ['handoff', { labels: ['review'], state: 'open' }, 'review', []],
    ['terminal and closed', { labels: ['done'], state: 'closed' }, 'done', []],
    ['closed without a label is in the first terminal state', { labels: [], state: 'closed' }, 'done', []],
    ['terminal but open', { labels: ['done'], state: 'open' }, 'done', ['PATCH /repos/acme/app/issues/1']],
    ['active but closed', { labels: ['todo'], state: 'closed' }, 'todo', ['PATCH /repos/acme/app/issues/1']],
  ])('the state already held does no label work: %s', async (_, before, target, expected) => {
    const { fake, move, writes } = await start();
    fake.addIssue(before);
    await move('1', target);
    expect(writes()).toEqual(expected);
  });

  it.each(['GET /labels', 'POST /labels', 'DELETE', 'PATCH'])(
    'a move that broke off at %s is completed by the next one',
    async (at) => {
      const { fake, move } = await start();
      fake.addIssue({ labels: ['todo', 'doing', 'bug'] });
      const [method, end = ''] = at.split(' ');
      fake.failNext((request) => request.method === method && request.path.endsWith(end), json({ message: 'oops' }, 500));
      expect((await failureOf(move('1', 'done'))).kind).toBe('tracker_transport_error');
      await move('1', 'done');
      expect(fake.issue(1)).toMatchObject({ labels: ['bug', 'done'], state: 'closed' });
    },
  );

  it('a label that someone deletes meanwhile is fine', async () => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    fake.beforeNext(
      ({ method }) => method === 'DELETE',
      () => fake.deleteLabel('todo'),
    );
    await move('1', 'done');
    expect(fake.issue(1)).toMatchObject({ labels: ['done'], state: 'closed' });
  });

  it('a label that someone adds meanwhile goes too', async () => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    fake.beforeNext('GET /labels', () => fake.editIssue(1, { labels: ['doing', 'bug'] }));
    await move('1', 'done');
    expect(fake.issue(1).labels).toEqual(['bug', 'done']);
  });

  it('an attach that has no effect is a payload error, and nothing else is touched', async () => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    fake.beforeNext('POST /issues/1/labels', () => fake.deleteLabel('review'));
    const error = await failureOf(move('1', 'review'));
    expect(error.kind).toBe('tracker_payload_error');
    expect(fake.issue(1).labels).toEqual(['todo']);
  });

  it('open dependencies keep an issue from being closed: the remote says why', async () => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'], dependencies: [2] });
    fake.addIssue();
    const error = await failureOf(move('1', 'done'));
    expect(error).toMatchObject({ kind: 'tracker_payload_error', status: 412 });
    expect(error.message).toContain('open dependencies');
  });

  it('an archived repository refuses for good', async () => {
    const { fake, move } = await start();
    fake.addIssue({ labels: ['todo'] });
    fake.archive();
    expect(await failureOf(move('1', 'done'))).toMatchObject({ kind: 'tracker_api_error', status: 423, retryable: false });
  });

  it.each([
    ['a missing issue', '9'],
    ['a pull request', '2'],
    ['what is no index', 'x'],
  ])('%s is not found', async (_, id) => {
    const { fake, move, writes } = await start();
    fake.addIssue();
    fake.addIssue({ isPull: true, labels: ['todo'] });
    expect((await failureOf(move(id, 'done'))).kind).toBe('tracker_not_found');
    expect(writes()).toEqual([]);
  });

  it('a name in two lists plays the role it has when states are derived', async () => {
    const { fake, move } = await start({ labels: LABELS }, { activeStates: ['todo', 'done'] });
    fake.addIssue({ labels: ['todo'] });
    await move('1', 'done');
    expect(fake.issue(1).state).toBe('closed');
  });
});
