import { Octokit } from '@octokit/rest';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeGithub, type FakeGithubOptions, startFakeGithub } from './github.ts';
import { githubContract } from './github/contract.ts';

const REPO = { owner: 'acme', repo: 'widgets' };
const open: FakeGithub[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((fake) => fake.close()));
});

/** The vendor's own client against the fake: where it cannot work, the fake is wrong. */
async function connect(options: FakeGithubOptions = {}, auth?: string) {
  const fake = await startFakeGithub(options);
  open.push(fake);
  const quiet = (): void => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  return { fake, octokit: new Octokit({ baseUrl: fake.url, auth: auth ?? fake.token, log }) };
}

async function statusOf(call: Promise<unknown>): Promise<number> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as { status: number } | undefined)?.status ?? 0;
}

describe('the fake through the vendor client', () => {
  it('lists issues page by page, pull requests among them', async () => {
    const { fake, octokit } = await connect();
    for (let count = 0; count < 120; count += 1) fake.addIssue({ pullRequest: count === 3 });
    const listed = await octokit.paginate(octokit.rest.issues.listForRepo, {
      ...REPO,
      state: 'open',
      direction: 'asc',
      per_page: 50,
    });
    expect(listed.map(({ number }) => number)).toEqual(Array.from({ length: 120 }, (_, index) => index + 1));
    expect(listed.filter((issue) => issue.pull_request)).toHaveLength(1);
    expect(fake.requests.map(({ path }) => path)[1]).toMatch(/^\/repositories\/\d+\/issues$/);
  });

  it('clamps the page size it is asked for', async () => {
    const { fake, octokit } = await connect({ pageSizeCap: 2 });
    for (let count = 0; count < 5; count += 1) fake.addIssue();
    expect((await octokit.rest.issues.listForRepo({ ...REPO, per_page: 50 })).data).toHaveLength(2);
    expect(await octokit.paginate(octokit.rest.issues.listForRepo, REPO)).toHaveLength(5);
  });

  it('gets an issue, comments on it and reads the comments', async () => {
    const { fake, octokit } = await connect();
    const { number } = fake.addIssue({ title: 'Broken', labels: ['backlog'], assignees: ['bob'], type: 'Bug' });
    const { data } = await octokit.rest.issues.get({ ...REPO, issue_number: number });
    expect(data).toMatchObject({ number, title: 'Broken', state: 'open', assignee: { login: 'bob' }, type: { name: 'Bug' } });
    const posted = await octokit.rest.issues.createComment({ ...REPO, issue_number: number, body: 'Hello' });
    expect(posted.status).toBe(201);
    const { data: comments } = await octokit.rest.issues.listComments({ ...REPO, issue_number: number });
    expect(comments.map(({ body }) => body)).toEqual(['Hello']);
  });

  it('adds and removes labels, ignoring case and keeping the spelling of the repository', async () => {
    const { fake, octokit } = await connect({ labels: ['In Progress'] });
    const { number } = fake.addIssue();
    const at = { ...REPO, issue_number: number };
    const { data } = await octokit.rest.issues.addLabels({ ...at, labels: ['in progress'] });
    expect(data.map(({ name }) => name)).toEqual(['In Progress']);
    await octokit.rest.issues.removeLabel({ ...at, name: 'IN PROGRESS' });
    expect(fake.issue(number).labels).toEqual([]);
    expect(await statusOf(octokit.rest.issues.removeLabel({ ...at, name: 'in progress' }))).toBe(404);
  });

  it('refuses an unknown label, or creates it for those who may', async () => {
    const strict = await connect();
    strict.fake.addIssue();
    expect(await statusOf(strict.octokit.rest.issues.addLabels({ ...REPO, issue_number: 1, labels: ['new'] }))).toBe(422);
    const generous = await connect({ createsLabels: true });
    generous.fake.addIssue();
    await generous.octokit.rest.issues.addLabels({ ...REPO, issue_number: 1, labels: ['New'] });
    expect(generous.fake.issue(1).labels).toEqual(['New']);
  });

  it('closes and reopens', async () => {
    const { fake, octokit } = await connect();
    fake.addIssue();
    const at = { ...REPO, issue_number: 1 };
    await octokit.rest.issues.update({ ...at, state: 'closed', state_reason: 'completed' });
    expect(fake.issue(1)).toMatchObject({ state: 'closed', stateReason: 'completed' });
    await octokit.rest.issues.update({ ...at, state: 'open' });
    expect(fake.issue(1)).toMatchObject({ state: 'open', closedAt: null });
  });

  it('knows blockers and parents, also of other repositories', async () => {
    const { fake, octokit } = await connect();
    fake.addIssue({ repo: 'acme/other', number: 9 });
    fake.addIssue();
    fake.addIssue({ blockedBy: [{ number: 1 }, { repo: 'acme/other', number: 9 }], parent: { number: 1 } });
    const at = { ...REPO, issue_number: 2 };
    const { data } = await octokit.rest.issues.listDependenciesBlockedBy(at);
    expect(data.map(({ number }) => number)).toEqual([1, 9]);
    expect((await octokit.rest.issues.getParent(at)).data.number).toBe(1);
    expect(await statusOf(octokit.rest.issues.getParent({ ...at, issue_number: 1 }))).toBe(404);
    const { data: issue } = await octokit.rest.issues.get(at);
    expect(issue.issue_dependencies_summary).toMatchObject({ total_blocked_by: 2, blocked_by: 2 });
  });

  it.each([
    ['repo:acme/widgets type:issue state:open label:backlog', [1, 2]],
    ['repo:acme/widgets type:issue state:open -label:backlog', [3]],
    ['repo:acme/widgets type:issue state:closed label:"won\'t fix"', [4]],
    ['repo:acme/widgets type:pr', [5]],
    ['repo:acme/widgets type:issue state:open label:backlog OR state:closed', [1, 2, 4]],
    ['repo:acme/widgets is:issue no:label frobnicate', [3]],
  ])('searches %s', async (q, numbers) => {
    const { fake, octokit } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.addIssue({ labels: ['Backlog'] });
    fake.addIssue({ body: 'Frobnicate it' });
    fake.addIssue({ state: 'closed', labels: ["Won't fix"] });
    fake.addIssue({ pullRequest: true });
    const { data } = await octokit.rest.search.issuesAndPullRequests({ q, sort: 'created', order: 'asc' });
    expect(data.items.map(({ number }) => number)).toEqual(numbers);
  });

  it('refuses what the real one refuses', async () => {
    const { fake, octokit } = await connect({ limits: { search: 1 } });
    fake.addIssue({ deleted: true });
    fake.addIssue({ locked: true });
    expect(await statusOf(octokit.rest.issues.get({ ...REPO, issue_number: 1 }))).toBe(410);
    expect(await statusOf(octokit.rest.issues.createComment({ ...REPO, issue_number: 2, body: 'x' }))).toBe(403);
    expect(await statusOf(octokit.rest.issues.get({ ...REPO, repo: 'nothing', issue_number: 1 }))).toBe(404);
    expect(await statusOf(octokit.rest.search.issuesAndPullRequests({ q: 'repo:acme/nothing' }))).toBe(422);
    expect(await statusOf(octokit.rest.search.issuesAndPullRequests({ q: 'repo:acme/widgets' }))).toBe(403);
    const wrong = await connect({}, 'not-the-token');
    expect(await statusOf(wrong.octokit.rest.issues.listForRepo(REPO))).toBe(401);
    const reader = await connect({ canWrite: false });
    reader.fake.addIssue();
    expect(await statusOf(reader.octokit.rest.issues.update({ ...REPO, issue_number: 1, state: 'closed' }))).toBe(403);
  });

  it('answers 304 to what did not change, free of charge', async () => {
    const { fake, octokit } = await connect();
    fake.addIssue();
    const { headers } = await octokit.rest.issues.listForRepo(REPO);
    const left = fake.remaining('core');
    const again = octokit.rest.issues.listForRepo({ ...REPO, headers: { 'if-none-match': headers.etag } });
    expect(await statusOf(again)).toBe(304);
    expect(fake.remaining('core')).toBe(left);
    fake.editIssue(1, { title: 'Changed' });
    const fresh = await octokit.rest.issues.listForRepo({ ...REPO, headers: { 'if-none-match': headers.etag } });
    expect(fresh.data[0]?.title).toBe('Changed');
  });

  it('redirects to a transferred issue', async () => {
    const { fake, octokit } = await connect();
    fake.addIssue({ repo: 'acme/other', number: 7, title: 'Elsewhere' });
    fake.addIssue({ movedTo: { repo: 'acme/other', number: 7 } });
    const { data } = await octokit.rest.issues.get({ ...REPO, issue_number: 1 });
    expect([data.number, data.title]).toEqual([7, 'Elsewhere']);
  });
});

describe('the fake against the published description', () => {
  it('answers in the described shapes, under the pinned version', async () => {
    const { fake, octokit } = await connect();
    fake.addIssue({ repo: 'acme/other', number: 9 });
    fake.addIssue({ labels: ['backlog'], assignees: ['bob'], type: 'Bug', body: 'Text' });
    // The description wants text here, where the remote itself sends null for an empty body.
    fake.addIssue({ pullRequest: true, body: 'Text', blockedBy: [{ repo: 'acme/other', number: 9 }], parent: { number: 1 } });
    fake.addComment(1, { author: null, body: 'from a ghost' });
    octokit.hook.before('request', (request) => void (request.headers['x-github-api-version'] = '2026-03-10'));
    const at = { ...REPO, issue_number: 1 };
    await octokit.rest.issues.listForRepo({ ...REPO, state: 'open', sort: 'created', direction: 'asc', per_page: 50 });
    await octokit.rest.search.issuesAndPullRequests({ q: 'repo:acme/widgets', sort: 'created', order: 'asc', per_page: 50 });
    await octokit.rest.issues.get(at);
    await octokit.rest.issues.listComments(at);
    await octokit.rest.issues.createComment({ ...at, body: 'x' });
    await octokit.rest.issues.addLabels({ ...at, labels: ['done'] });
    await octokit.rest.issues.removeLabel({ ...at, name: 'backlog' });
    await octokit.rest.issues.update({ ...at, state: 'closed', state_reason: 'completed' });
    await octokit.rest.issues.listDependenciesBlockedBy({ ...at, issue_number: 2 });
    await octokit.rest.issues.getParent({ ...at, issue_number: 2 });
    await statusOf(octokit.rest.issues.getParent(at));
    await statusOf(octokit.rest.issues.addLabels({ ...at, labels: ['unknown'] }));
    const contract = githubContract();
    expect(fake.exchanges).toHaveLength(12);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
  });

  it('has teeth: a wrong route, parameter, body or answer is found', () => {
    const contract = githubContract();
    const good = {
      method: 'GET',
      path: '/repos/a/b/issues',
      query: new URLSearchParams('state=open'),
      requestBody: '',
      status: 200,
      responseBody: '[]',
    };
    expect(contract.faults(good)).toEqual([]);
    const wrong = [
      { ...good, path: '/repos/a/b/isues' },
      { ...good, query: new URLSearchParams('state=opened') },
      { ...good, query: new URLSearchParams('colour=red') },
      { ...good, responseBody: '[{"number":1}]' },
      {
        ...good,
        method: 'POST',
        path: '/repos/a/b/issues/1/comments',
        query: new URLSearchParams(),
        requestBody: '{"text":"x"}',
        status: 201,
        responseBody: '',
      },
    ];
    for (const exchange of wrong) expect(contract.faults(exchange), JSON.stringify(exchange)).not.toEqual([]);
  });
});
