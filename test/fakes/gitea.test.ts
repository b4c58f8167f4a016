import { giteaApi } from 'gitea-js';
import { afterEach, describe, expect, it } from 'vitest';
import { json } from '../support/http-server.ts';
import type { FakeGitea, FakeGiteaOptions } from './gitea.ts';
import { startFakeGitea } from './gitea.ts';

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

/** The fake, and the vendor's own client library at work on it. */
async function start(options: FakeGiteaOptions = {}) {
  const fake = await startFakeGitea(options);
  running.push(fake);
  return { fake, api: giteaApi(fake.url, { token: fake.token, customFetch: fetch }) };
}

describe('fake selfhosted, through gitea-js', () => {
  it('knows the user and the repository', async () => {
    const { api } = await start();
    expect((await api.user.userGetCurrent()).data.login).toBe('foray-bot');
    expect((await api.repos.repoGet('acme', 'app')).data.full_name).toBe('acme/app');
    await expect(api.repos.repoGet('acme', 'other')).rejects.toMatchObject({ status: 404 });
  });

  it('refuses a wrong token and a missing scope', async () => {
    const { fake, api } = await start({ scopes: ['read:repository'] });
    await expect(giteaApi(fake.url, { token: 'wrong' }).repos.repoGet('acme', 'app')).rejects.toMatchObject({ status: 401 });
    await expect(api.user.userGetCurrent()).rejects.toMatchObject({
      status: 403,
      error: {
        message: 'token does not have at least one of required scope(s), required=[read:user], token scope=read:repository',
      },
    });
  });

  it('lists newest first, pull requests included unless told otherwise', async () => {
    const { fake, api } = await start();
    fake.addIssue({ title: 'old' });
    fake.addIssue({ title: 'pull', isPull: true });
    fake.addIssue({ title: 'closed', state: 'closed' });
    fake.addIssue({ title: 'new' });
    const titles = async (query: Parameters<typeof api.repos.issueListIssues>[2]) =>
      (await api.repos.issueListIssues('acme', 'app', query)).data.map(({ title }) => title);
    expect(await titles({})).toEqual(['new', 'pull', 'old']);
    expect(await titles({ type: 'issues' })).toEqual(['new', 'old']);
    expect(await titles({ state: 'closed' })).toEqual(['closed']);
    expect(await titles({ state: 'all', type: 'issues' })).toEqual(['new', 'closed', 'old']);
  });

  it('clamps the page size and links to the next page', async () => {
    const { fake, api } = await start({ maxPageSize: 2 });
    for (let n = 0; n < 5; n += 1) fake.addIssue();
    const first = await api.repos.issueListIssues('acme', 'app', { limit: 50 });
    expect(first.data.map(({ number }) => number)).toEqual([5, 4]);
    expect(first.headers.get('x-total-count')).toBe('5');
    expect(first.headers.get('link')).toContain(`<${fake.url}/api/v1/repos/acme/app/issues?limit=50&page=2>; rel="next"`);
    const last = await api.repos.issueListIssues('acme', 'app', { limit: 50, page: 3 });
    expect([last.data.map(({ number }) => number), last.headers.get('link')?.includes('next')]).toEqual([[1], false]);
  });

  it('filters by label as an AND of exact names, and drops the filter when one does not resolve', async () => {
    const { fake, api } = await start({ labels: ['bug', 'ui'] });
    fake.addIssue({ labels: ['bug', 'ui'] });
    fake.addIssue({ labels: ['bug'] });
    const numbers = async (labels: string) =>
      (await api.repos.issueListIssues('acme', 'app', { labels })).data.map(({ number }) => number);
    expect(await numbers('bug,ui')).toEqual([1]);
    expect(await numbers('Bug')).toEqual([2, 1]);
    expect(await numbers('ui,nope')).toEqual([2, 1]);
  });

  it('creates, reads and closes an issue, but not over an open dependency', async () => {
    const { fake, api } = await start();
    const { data: created } = await api.repos.issueCreateIssue('acme', 'app', { title: 'One', body: 'text' });
    const blocker = fake.addIssue();
    expect((await api.repos.issueGetIssue('acme', 'app', created.number!)).data).toMatchObject({ title: 'One', state: 'open' });
    await api.repos.issueCreateIssueDependencies('acme', 'app', '1', { owner: 'acme', repo: 'app', index: blocker });
    const { data: dependencies } = await api.repos.issueListIssueDependencies('acme', 'app', '1');
    expect(dependencies.map(({ number }) => number)).toEqual([blocker]);
    await expect(api.repos.issueEditIssue('acme', 'app', 1, { state: 'closed' })).rejects.toMatchObject({ status: 412 });
    await api.repos.issueEditIssue('acme', 'app', blocker, { state: 'closed' });
    expect((await api.repos.issueEditIssue('acme', 'app', 1, { state: 'closed' })).data.state).toBe('closed');
    await expect(api.repos.issueEditIssue('acme', 'app', 1, { state: 'done' })).rejects.toMatchObject({ status: 412 });
  });

  it('keeps comments in order, in one answer', async () => {
    const { fake, api } = await start({ maxPageSize: 1 });
    fake.addIssue();
    await api.repos.issueCreateComment('acme', 'app', 1, { body: 'first' });
    fake.comment(1, 'bob', 'second');
    const { data } = await api.repos.issueGetComments('acme', 'app', 1);
    expect(data.map(({ body, user }) => [user?.login, body])).toEqual([
      ['foray-bot', 'first'],
      ['bob', 'second'],
    ]);
  });

  it('attaches labels by id, ignores unknown ones with 200, and accepts two labels of one name', async () => {
    const { fake, api } = await start({ labels: ['todo'], organizationLabels: ['shared'] });
    fake.addIssue();
    const { data: created } = await api.repos.issueCreateLabel('acme', 'app', { name: 'todo', color: '#cccccc' });
    await expect(api.repos.issueCreateLabel('acme', 'app', { name: 'x', color: '' })).rejects.toMatchObject({ status: 422 });
    expect((await api.repos.issueListLabels('acme', 'app')).data.map(({ name }) => name)).toEqual(['todo', 'todo']);
    expect((await api.orgs.orgListLabels('acme')).data.map(({ name }) => name)).toEqual(['shared']);
    expect((await api.repos.issueAddLabel('acme', 'app', 1, { labels: [999_999, 'nope'] })).data).toEqual([]);
    await api.repos.issueAddLabel('acme', 'app', 1, { labels: [created.id, 'shared'] });
    expect(fake.issue(1).labels).toEqual(['shared', 'todo']);
    expect((await api.repos.issueReplaceLabels('acme', 'app', 1, { labels: [created.id] })).data).toHaveLength(1);
    expect((await api.repos.issueRemoveLabel('acme', 'app', 1, created.id!)).status).toBe(204);
    expect((await api.repos.issueGetLabels('acme', 'app', 1)).data).toEqual([]);
    await expect(api.repos.issueRemoveLabel('acme', 'app', 1, 999_999)).rejects.toMatchObject({ status: 422 });
  });

  it('answers 404 for organization labels of a user, and for dependencies that are switched off', async () => {
    const { fake, api } = await start({ dependenciesEnabled: false });
    fake.addIssue();
    await expect(api.orgs.orgListLabels('acme')).rejects.toMatchObject({ status: 404 });
    await expect(api.repos.issueListIssueDependencies('acme', 'app', '1')).rejects.toMatchObject({ status: 404 });
  });

  it('refuses writes to an archived repository', async () => {
    const { fake, api } = await start();
    fake.addIssue();
    fake.archive();
    await expect(api.repos.issueCreateComment('acme', 'app', 1, { body: 'x' })).rejects.toMatchObject({ status: 423 });
  });

  it('keeps pull requests beside issues, in one row of numbers', async () => {
    const { fake, api } = await start();
    fake.addIssue();
    const number = fake.addPull({ title: 'Change', branch: 'feat', labels: ['bug'], requestedReviewers: ['ann'] });
    fake.addPull({ state: 'closed' });
    const { data: list } = await api.repos.repoListPullRequests('acme', 'app', { state: 'open' });
    expect(list.map(({ number: one, title }) => [one, title])).toEqual([[number, 'Change']]);
    const { data } = await api.repos.repoGetPullRequest('acme', 'app', number);
    expect(data).toMatchObject({ mergeable: true, draft: false, merged: false, head: { ref: 'feat' }, base: { ref: 'main' } });
    expect(data.requested_reviewers?.map(({ login }) => login)).toEqual(['ann']);
    await expect(api.repos.repoGetPullRequest('acme', 'app', 1)).rejects.toMatchObject({ status: 404 });
  });

  it('merges only the head that is expected, and answers without a body', async () => {
    const { fake, api } = await start();
    const number = fake.addPull({ branch: 'feat' });
    const merge = (sha: string) => api.repos.repoMergePullRequest('acme', 'app', number, { Do: 'squash', head_commit_id: sha });
    fake.editPull(number, { draft: true });
    await expect(merge(fake.pull(number).headSha)).rejects.toMatchObject({ status: 405 });
    fake.editPull(number, { draft: false });
    await expect(merge('f'.repeat(40))).rejects.toMatchObject({ status: 409, error: { message: 'head out of date' } });
    await expect(api.repos.repoPullRequestIsMerged('acme', 'app', number)).rejects.toMatchObject({ status: 404 });
    expect((await merge(fake.pull(number).headSha)).status).toBe(200);
    expect((await api.repos.repoPullRequestIsMerged('acme', 'app', number)).status).toBe(204);
    expect((await api.repos.repoGetPullRequest('acme', 'app', number)).data).toMatchObject({ merged: true, state: 'closed' });
    await expect(merge(fake.pull(number).headSha)).rejects.toMatchObject({ status: 405 });
    expect((await api.repos.repoGetBranch('acme', 'app', 'feat')).data.name).toBe('feat');
    expect((await api.repos.repoDeleteBranch('acme', 'app', 'feat')).status).toBe(204);
    await expect(api.repos.repoDeleteBranch('acme', 'app', 'feat')).rejects.toMatchObject({ status: 404 });
    await expect(api.repos.repoDeleteBranch('acme', 'app', 'main')).rejects.toMatchObject({ status: 403 });
    expect((await api.repos.repoGetPullRequest('acme', 'app', number)).data.head?.ref).toBe(`refs/pull/${number}/head`);
  });

  it('keeps reviews with their comments, and hides the drafts of others after a page was cut', async () => {
    const { fake, api } = await start();
    const number = fake.addPull({ author: 'alice' });
    fake.review(number, { author: 'eve', state: 'PENDING' });
    const { data: review } = await api.repos.repoCreatePullReview('acme', 'app', number, {
      event: 'REQUEST_CHANGES',
      body: 'no',
      comments: [{ body: 'here', path: 'a.ts', new_position: 3 }],
    });
    await api.repos.repoCreatePullReviewRequests('acme', 'app', number, { reviewers: ['ann'] });
    const list = await api.repos.repoListPullReviews('acme', 'app', number, { page: 1, limit: 2 });
    expect(list.data.map(({ state }) => state)).toEqual(['REQUEST_CHANGES']);
    expect([list.headers.get('x-total-count'), list.headers.get('link')]).toEqual(['3', null]);
    const comments = (await api.repos.repoGetPullReviewComments('acme', 'app', number, review.id!)).data;
    expect(comments).toMatchObject([{ body: 'here', path: 'a.ts', position: 3, original_position: 0, resolver: null }]);
    await api.repos.repoDismissPullReview('acme', 'app', number, review.id!, { message: 'done' });
    expect((await api.repos.repoListPullReviews('acme', 'app', number)).data[0]?.dismissed).toBe(true);
    const own = fake.addPull();
    const approve = api.repos.repoCreatePullReview('acme', 'app', own, { event: 'APPROVED' });
    await expect(approve).rejects.toMatchObject({ status: 422 });
  });

  it('combines the latest status of each context, and says pending where there is none', async () => {
    const { fake, api } = await start();
    const { headSha } = fake.pull(fake.addPull({ branch: 'feat' }));
    const combined = async (query = {}) => await api.repos.repoGetCombinedStatusByRef('acme', 'app', 'feat', query);
    expect((await combined()).data).toMatchObject({ state: 'pending', statuses: [], total_count: 0 });
    await api.repos.repoCreateStatus('acme', 'app', headSha, { context: 'test', state: 'pending' });
    await api.repos.repoCreateStatus('acme', 'app', headSha, { context: 'test', state: 'success' });
    await api.repos.repoCreateStatus('acme', 'app', headSha, { context: 'lint', state: 'failure', target_url: 'https://ci/1' });
    const page = await combined({ limit: 1, page: 2 });
    expect(page.data).toMatchObject({ total_count: 1, statuses: [{ context: 'test', status: 'success' }] });
    expect(page.headers.get('x-total-count')).toBe('2');
    await expect(api.repos.repoGetCombinedStatusByRef('acme', 'app', 'nope')).rejects.toMatchObject({ status: 404 });
  });

  it('tells in the timeline which labels came and went, without inline comments', async () => {
    const { fake, api } = await start({ labels: ['fix'] });
    const number = fake.addPull();
    const [label] = fake.labels();
    const timeline = async (query = {}) => (await api.repos.issueGetCommentsAndTimeline('acme', 'app', number, query)).data;
    expect(await timeline()).toBeNull();
    fake.review(number, { comments: [{}, {}] });
    await api.repos.issueAddLabel('acme', 'app', number, { labels: [label?.id] });
    await api.repos.issueRemoveLabel('acme', 'app', number, label!.id);
    expect((await timeline()).map(({ type, body, label: one }) => [type, body, one?.name])).toEqual([
      ['review', '', undefined],
      ['label', '1', 'fix'],
      ['label', '', 'fix'],
    ]);
    expect(await timeline({ limit: 2, page: 1 })).toBeNull();
    fake.deleteLabel('fix');
    expect((await timeline()).at(-1)?.label).toBeNull();
  });

  it('asks for the repository scope to merge, and the role of the user shows in the repository', async () => {
    const { fake, api } = await start({ scopes: ['read:repository'], mayPush: false });
    const number = fake.addPull();
    await expect(api.repos.repoMergePullRequest('acme', 'app', number, { Do: 'merge' })).rejects.toMatchObject({
      status: 403,
      error: {
        message:
          'token does not have at least one of required scope(s), required=[write:repository], token scope=read:repository',
      },
    });
    expect((await api.repos.repoGet('acme', 'app')).data.permissions?.push).toBe(false);
  });

  it('fails on demand, once, and lets others act in between', async () => {
    const { fake, api } = await start();
    fake.addIssue();
    fake.failNext('GET /issues/1', json({ message: 'oops' }, 500));
    fake.beforeNext('GET /issues/1', () => fake.editIssue(1, { title: 'changed' }));
    await expect(api.repos.issueGetIssue('acme', 'app', 1)).rejects.toMatchObject({ status: 500 });
    expect((await api.repos.issueGetIssue('acme', 'app', 1)).data.title).toBe('changed');
  });
});
