import { Gitlab } from '@gitbeaker/rest';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitlab, FakeGitlabOptions } from './gitlab.ts';
import { startFakeGitlab } from './gitlab.ts';
import { userId } from './gitlab/wire.ts';
import { commitName } from './gitlab/merge-store.ts';

const running: FakeGitlab[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function connect(options: FakeGitlabOptions = {}) {
  const fake = await startFakeGitlab(options);
  running.push(fake);
  return { fake, path: fake.project.path, api: new Gitlab({ host: fake.url, token: fake.token }) };
}

const HEAD = commitName('head 1');

describe("the vendor's own client library works against the merge requests of the fake", () => {
  it('lists and shows them; only the single one has its pipeline', async () => {
    const { fake, path, api } = await connect({ maxPerPage: 2 });
    for (let count = 0; count < 3; count += 1) fake.merges.add();
    fake.merges.pipeline({ status: 'running' }, 1);
    const listed = await api.MergeRequests.all({ projectId: path, state: 'opened' });
    expect(listed.map(({ iid }) => iid)).toEqual([3, 2, 1]);
    expect(listed[2]).not.toHaveProperty('head_pipeline');
    expect(await api.MergeRequests.show(path, 1)).toMatchObject({
      sha: HEAD,
      detailed_merge_status: 'mergeable',
      head_pipeline: { status: 'running', sha: HEAD, source: 'merge_request_event' },
    });
    expect(await api.MergeRequests.allPipelines(path, 1)).toMatchObject([{ status: 'running' }]);
  });

  it('shows reviewers and approvals', async () => {
    const { fake, path, api } = await connect();
    fake.merges.add({ reviewers: [{ username: 'bob', state: 'requested_changes' }], approvedBy: ['eve'] });
    expect(await api.MergeRequests.showReviewers(path, 1)).toMatchObject([
      { state: 'requested_changes', user: { username: 'bob', state: 'active' } },
    ]);
    expect(await api.MergeRequestApprovals.showConfiguration(path, { mergerequestIId: 1 })).toMatchObject({
      approved: true,
      user_has_approved: false,
      approved_by: [{ user: { username: 'eve' } }],
    });
  });

  it('keeps notes, on the diff and off it', async () => {
    const { fake, path, api } = await connect();
    fake.merges.add();
    fake.merges.note(1, { body: 'here', position: { newLine: 4 } });
    expect(await api.MergeRequestNotes.create(path, 1, 'hello')).toMatchObject({ body: 'hello' });
    expect(await api.MergeRequestNotes.all(path, 1, { sort: 'asc' })).toMatchObject([
      { body: 'here', type: 'DiffNote', resolved: false, position: { head_sha: HEAD, new_line: 4 } },
      { body: 'hello', type: null },
    ]);
  });

  it('journals labels', async () => {
    const { fake, path, api } = await connect();
    fake.merges.add({ labels: ['bug'] });
    await api.MergeRequests.edit(path, 1, { addLabels: 'ready', removeLabels: 'bug,ghost' });
    const events = await api.MergeRequestLabelEvents.all(path, 1);
    expect(events).toMatchObject([
      { action: 'add', label: { name: 'ready' } },
      { action: 'remove', label: { name: 'bug' } },
    ]);
    expect(fake.merges.get(1).labels).toEqual(['ready']);
  });

  it('shows commits, their statuses and the logs of jobs', async () => {
    const { fake, path, api } = await connect();
    fake.merges.add();
    fake.merges.pipeline({ jobs: [{ status: 'failed' }] }, 1);
    const { id, jobs } = fake.merges.pipeline({ jobs: [{ retried: true }, { status: 'failed', trace: 'boom' }] }, 1);
    expect(await api.Commits.show(path, 'feature/1')).toMatchObject({ id: HEAD, last_pipeline: { id } });
    expect(await api.Commits.allStatuses(path, HEAD)).toHaveLength(2);
    expect(await api.Commits.allStatuses(path, HEAD, { all: true })).toHaveLength(3);
    expect(await api.Jobs.showLog(path, jobs[1]?.id ?? 0)).toBe('boom');
  });

  it('knows who is a bot', async () => {
    const { fake, api } = await connect();
    fake.merges.user('helper', { bot: true });
    expect(await api.Users.show(userId('helper'))).toMatchObject({ username: 'helper', bot: true });
    fake.merges.removeUser('helper');
    await expect(api.Users.show(userId('helper'))).rejects.toThrow('404 User Not Found');
  });

  it('merges, and deletes the branch', async () => {
    const { fake, path, api } = await connect();
    fake.merges.add();
    expect(await api.MergeRequests.accept(path, 1, { sha: HEAD, squash: true })).toMatchObject({
      state: 'merged',
      merge_commit_sha: commitName('merge 1'),
      squash_commit_sha: commitName('squash 1'),
    });
    expect(await api.Branches.show(path, 'feature/1')).toMatchObject({ commit: { id: HEAD } });
    await api.Branches.remove(path, 'feature/1');
    await expect(api.Branches.remove(path, 'feature/1')).rejects.toThrow('404 Branch Not Found');
    expect(fake.merges.branchNames()).toEqual(['main']);
  });
});

describe('traps of merge requests', () => {
  it.each([
    ['merged already', 405, (fake: FakeGitlab) => (fake.merges.get(1).state = 'merged')],
    ['a draft, stale head or not', 405, (fake: FakeGitlab) => (fake.merges.get(1).draft = true)],
    ['in conflict', 405, (fake: FakeGitlab) => (fake.merges.get(1).conflicting = true)],
    ['a moment after a push', 405, (fake: FakeGitlab) => fake.merges.push(1, HEAD)],
    ['a stale head', 409, (fake: FakeGitlab) => (fake.merges.get(1).sha = commitName('newer'))],
    ['into a protected branch', 401, (fake: FakeGitlab) => fake.merges.protect('main')],
  ])('merging %s is answered %i', async (_, status, prepare) => {
    const { fake } = await connect();
    fake.merges.add();
    prepare(fake);
    const answer = await fetch(`${fake.url}/api/v4/projects/4711/merge_requests/1/merge`, {
      method: 'PUT',
      headers: { 'PRIVATE-TOKEN': fake.token, 'content-type': 'application/json' },
      body: JSON.stringify({ sha: HEAD }),
    });
    expect(answer.status).toBe(status);
  });

  it('a push keeps the pipeline of the older commit', async () => {
    const { fake, path, api } = await connect();
    fake.merges.add();
    fake.merges.pipeline({}, 1);
    fake.merges.push(1, commitName('newer'));
    expect(await api.MergeRequests.show(path, 1)).toMatchObject({
      detailed_merge_status: 'checking',
      head_pipeline: { sha: HEAD },
    });
    expect(await api.MergeRequests.show(path, 1)).toMatchObject({ detailed_merge_status: 'mergeable' });
  });

  it.each([
    ['an abbreviated commit', HEAD.slice(0, 8), ''],
    ['another pipeline', HEAD, '?pipeline_id=1'],
  ])('the statuses of %s are an empty list, not an error', async (_, sha, query) => {
    const { fake } = await connect();
    fake.merges.add();
    fake.merges.pipeline({ jobs: [{}] }, 1);
    const url = `${fake.url}/api/v4/projects/4711/repository/commits/${sha}/statuses${query}`;
    expect(await (await fetch(url, { headers: { 'PRIVATE-TOKEN': fake.token } })).json()).toEqual([]);
  });
});
