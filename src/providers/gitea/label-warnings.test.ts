import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea, FakeGiteaOptions } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { asked, never, openTracker } from '../../../test/fakes/gitea/connect.ts';
import { json } from '../../../test/support/http-server.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const SKIPPED = 'open issues without a state label are skipped';
const NO_LABEL = 'active state has no label in the repository or its organization';
const NO_FILTER_LABEL = 'query_filter names a label that does not resolve, the remote drops the whole label filter';

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(options: FakeGiteaOptions = {}, changes: Partial<TrackerSettings> = {}) {
  const fake = await startFakeGitea({ labels: ['todo', 'doing'], ...options });
  running.push(fake);
  const { tracker, records } = openTracker(fake, changes);
  /** Polls and tells what was logged meanwhile. */
  const poll = async () => {
    const from = records.length;
    await tracker.fetchCandidateIssues(never);
    return records.slice(from).filter(({ level }) => level !== 'debug');
  };
  return { fake, tracker, poll };
}

describe('gitea issues without a state', () => {
  it('are counted in an info record, again only when the count changes', async () => {
    const { fake, poll } = await start();
    expect(await poll()).toEqual([]);
    fake.addIssue();
    fake.addIssue({ labels: ['bug'] });
    fake.addIssue({ isPull: true });
    fake.addIssue({ labels: ['todo'] });
    fake.addIssue({ state: 'closed' });
    const record = { level: 'info', message: SKIPPED, attributes: { tracker_kind: 'selfhosted', project: 'acme/app', count: 2 } };
    expect(await poll()).toEqual([record]);
    expect(await poll()).toEqual([]);
    fake.editIssue(1, { labels: ['todo'] });
    expect(await poll()).toMatchObject([{ message: SKIPPED, attributes: { count: 1 } }]);
    fake.editIssue(2, { state: 'closed' });
    expect(await poll()).toMatchObject([{ message: SKIPPED, attributes: { count: 0 } }]);
  });
});

describe('gitea issues with several states', () => {
  it('are warned of once until the labels change; closed ones are not', async () => {
    const { fake, poll } = await start();
    fake.addIssue({ labels: ['todo', 'doing'] });
    fake.addIssue({ labels: ['todo', 'done'], state: 'closed' });
    expect(await poll()).toMatchObject([
      { level: 'warn', attributes: { issue_id: '1', issue_identifier: '1', labels: 'todo, doing', state: 'todo' } },
    ]);
    expect(await poll()).toEqual([]);
    fake.editIssue(1, { labels: ['todo', 'done'] });
    expect(await poll()).toMatchObject([{ attributes: { labels: 'done, todo', state: 'done' } }]);
    fake.editIssue(1, { labels: ['todo'] });
    expect(await poll()).toEqual([]);
    fake.editIssue(1, { labels: ['todo', 'done'] });
    expect(await poll()).toHaveLength(1);
  });
});

describe('gitea label check at the first poll', () => {
  it('warns once per active state found in neither catalog, but not of the one a move creates', async () => {
    const options = { labels: ['TODO'], organizationLabels: ['shared'] };
    const { poll } = await start(options, {
      activeStates: ['todo', 'shared', 'missing', 'Missing', 'lost'],
      inProgressState: 'lost',
    });
    const warnings = await poll();
    expect(warnings.map(({ level, message, attributes }) => [level, message, attributes.state])).toEqual([
      ['warn', NO_LABEL, 'missing'],
    ]);
    expect(await poll()).toEqual([]);
  });

  it('does not need the organization: a user has none, and a token may not see it', async () => {
    const user = await start();
    expect(await user.poll()).toEqual([]);
    const scopes = ['read:user', 'read:repository', 'write:issue'];
    const narrow = await start({ scopes, organizationLabels: ['doing'], labels: ['todo'] });
    expect(await narrow.poll()).toMatchObject([{ message: NO_LABEL, attributes: { state: 'doing' } }]);
  });

  it('is tried again at the next poll when the labels could not be read, and the poll goes on', async () => {
    const { fake, tracker, poll } = await start({ labels: ['todo'] });
    fake.addIssue({ labels: ['todo'] });
    for (let n = 0; n < 2; n += 1) fake.failNext('GET /labels', json({ message: 'oops' }, 500));
    expect(await poll()).toMatchObject([
      { level: 'warn', message: 'labels could not be read, whether the configured ones exist is unknown' },
    ]);
    expect(await poll()).toEqual([]);
    expect(await poll()).toMatchObject([{ message: NO_LABEL, attributes: { state: 'doing' } }]);
    expect(await tracker.fetchCandidateIssues(never)).toHaveLength(1);
  });

  it('asks nothing when there is nothing to look for', async () => {
    const { fake, poll } = await start({}, { activeStates: [] });
    await poll();
    expect(asked(fake)).toHaveLength(1);
  });

  it('warns of every query_filter label that does not resolve: exact names, repository labels only', async () => {
    const options = { labels: ['todo', 'doing', 'bug'], organizationLabels: ['shared'] };
    const { poll } = await start(options, { queryFilter: 'labels=bug,Bug,shared,nope' });
    const warnings = await poll();
    expect(warnings.map(({ message, attributes }) => [message, attributes.label])).toEqual([
      [NO_FILTER_LABEL, 'Bug'],
      [NO_FILTER_LABEL, 'shared'],
      [NO_FILTER_LABEL, 'nope'],
    ]);
    expect(await poll()).toEqual([]);
  });
});

it('gitea tells when the remote drops the filter because a label of it is gone', async () => {
  const message = 'query_filter is not kept to, issues without its labels are taken';
  const { fake, poll } = await start({ labels: ['todo', 'doing', 'agent'] }, { queryFilter: 'labels=agent' });
  fake.addIssue({ labels: ['todo', 'agent'] });
  fake.addIssue({ labels: ['todo'] });
  expect(await poll()).toEqual([]);
  fake.deleteLabel('agent');
  expect(await poll()).toMatchObject([{ level: 'warn', message, attributes: { issue_identifier: '2', labels: 'agent' } }]);
  expect(await poll()).toEqual([]);
});
