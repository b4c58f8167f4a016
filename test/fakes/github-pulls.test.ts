import { Octokit } from '@octokit/rest';
import { afterEach, describe, expect, it } from 'vitest';
import { type FakeGithub, type FakeGithubOptions, startFakeGithub } from './github.ts';
import { githubContract } from './github/contract.ts';

const REPO = { owner: 'acme', repo: 'widgets' };
const AT = { ...REPO, pull_number: 1 };
const open: FakeGithub[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((fake) => fake.close()));
});

/** The vendor's own client against the fake: where it cannot work, the fake is wrong. */
async function connect(options: FakeGithubOptions = {}) {
  const fake = await startFakeGithub(options);
  open.push(fake);
  const quiet = (): void => undefined;
  const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
  return { fake, octokit: new Octokit({ baseUrl: fake.url, auth: fake.token, log }) };
}

async function refusalOf(call: Promise<unknown>): Promise<[number, string]> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  const { status, message } = (error ?? { status: 0, message: '' }) as { status: number; message: string };
  return [status, message.replace(/ - .*/s, '')];
}

describe('pull requests through the vendor client', () => {
  it('are there with both ends, the older version telling the merge commit too', async () => {
    const { fake, octokit } = await connect();
    const { headSha } = fake.pulls.add({ headRef: 'fix/it', requestedReviewers: ['bob'], requestedTeams: ['core'] });
    const { data } = await octokit.rest.pulls.get(AT);
    expect(data).toMatchObject({ head: { ref: 'fix/it', sha: headSha }, base: { ref: 'main' }, mergeable: true, merged: false });
    expect([data.requested_reviewers?.length, data.requested_teams?.length]).toEqual([1, 1]);
    fake.pulls.merge(1, 'bob');
    expect((await octokit.rest.pulls.get(AT)).data.merge_commit_sha).toMatch(/^e+1$/);
    const pinned = await octokit.rest.pulls.get({ ...AT, headers: { 'x-github-api-version': '2026-03-10' } });
    expect(pinned.data).not.toHaveProperty('merge_commit_sha');
    expect(await refusalOf(octokit.rest.pulls.get({ ...AT, pull_number: 9 }))).toEqual([404, 'Not Found']);
  });

  it('are listed by state and head, without telling whether they can be merged', async () => {
    const { fake, octokit } = await connect();
    fake.pulls.add({ headRef: 'one' });
    fake.pulls.add({ headRef: 'two' });
    fake.pulls.merge(1, 'bob');
    const listed = async (more: object) => (await octokit.rest.pulls.list({ ...REPO, ...more })).data.map(({ number }) => number);
    expect([await listed({}), await listed({ state: 'all' }), await listed({ state: 'closed' })]).toEqual([[2], [1, 2], [1]]);
    expect(await listed({ state: 'all', head: 'acme:two' })).toEqual([2]);
    expect((await octokit.rest.pulls.list(REPO)).data[0]).not.toHaveProperty('mergeable');
  });

  it('do not know at first whether they can be merged', async () => {
    const { fake, octokit } = await connect();
    fake.pulls.add();
    fake.pulls.push(1, 'c'.repeat(40));
    const states = [await octokit.rest.pulls.get(AT), await octokit.rest.pulls.get(AT)].map(({ data }) => data.mergeable_state);
    expect(states).toEqual(['unknown', 'clean']);
  });

  it('have reviews and comments, whose lines only one of the two lists tells', async () => {
    const { fake, octokit } = await connect({ bots: ['Copilot'] });
    fake.pulls.add();
    const { id } = fake.pulls.review(1, { author: 'Copilot', body: 'Hm', comments: [{ line: 9, startLine: 7 }] });
    const [review] = (await octokit.rest.pulls.listReviews(AT)).data;
    expect(review).toMatchObject({ id, state: 'CHANGES_REQUESTED', user: { login: 'Copilot', type: 'Bot' } });
    const [comment] = (await octokit.rest.pulls.listReviewComments(AT)).data;
    expect(comment).toMatchObject({ pull_request_review_id: id, line: 9, start_line: 7 });
    const [bare] = (await octokit.rest.pulls.listCommentsForReview({ ...AT, review_id: id })).data;
    expect(bare).toMatchObject({ pull_request_review_id: id });
    expect(bare).not.toHaveProperty('line');
  });

  it('are merged once, at the expected head', async () => {
    const { fake, octokit } = await connect();
    const { headSha } = fake.pulls.add();
    expect(await refusalOf(octokit.rest.pulls.merge({ ...AT, sha: 'f'.repeat(40) }))).toEqual([
      409,
      'Head branch was modified. Review and try the merge again.',
    ]);
    fake.pulls.mergeMethods.delete('squash');
    const [status] = await refusalOf(octokit.rest.pulls.merge({ ...AT, merge_method: 'squash' }));
    expect(status).toBe(405);
    const { data } = await octokit.rest.pulls.merge({ ...AT, merge_method: 'merge', sha: headSha });
    expect(data.merged).toBe(true);
    expect((await octokit.rest.pulls.merge({ ...AT, sha: 'old' })).data.sha).toBe(data.sha);
    expect((await octokit.rest.issues.get({ ...REPO, issue_number: 1 })).data.state).toBe('closed');
  });

  it('that others merged, drafts, conflicts and closed ones are refused alike', async () => {
    const { fake, octokit } = await connect();
    fake.pulls.add();
    fake.pulls.merge(1, 'bob');
    for (const parts of [{ draft: true }, { mergeable: false }, { mergeableState: 'blocked' }]) fake.pulls.add(parts);
    fake.pulls.add({ issue: { state: 'closed' } });
    for (const pull_number of [1, 2, 3, 4, 5])
      expect((await refusalOf(octokit.rest.pulls.merge({ ...REPO, pull_number })))[0]).toBe(405);
    const reader = await connect({ canWrite: false });
    reader.fake.pulls.add();
    expect((await refusalOf(reader.octokit.rest.pulls.merge(AT)))[0]).toBe(403);
  });

  it('have checks of two kinds, page by page', async () => {
    const { fake, octokit } = await connect();
    fake.pulls.add({ headRef: 'fix/it', headSha: 'd'.repeat(40) });
    for (let count = 0; count < 40; count += 1) fake.pulls.checkRun('d'.repeat(40));
    fake.pulls.status('d'.repeat(40), { state: 'pending' });
    fake.pulls.status('d'.repeat(40), { state: 'success' });
    expect(await octokit.paginate(octokit.rest.checks.listForRef, { ...REPO, ref: 'fix/it' })).toHaveLength(40);
    const { data } = await octokit.rest.repos.getCombinedStatusForRef({ ...REPO, ref: 'fix/it' });
    expect([data.state, data.total_count]).toEqual(['success', 1]);
    expect((await octokit.rest.repos.getCombinedStatusForRef({ ...REPO, ref: 'main' })).data.state).toBe('pending');
    expect((await refusalOf(octokit.rest.checks.listForRef({ ...REPO, ref: 'none' })))[0]).toBe(422);
  });

  it('have jobs with steps, and logs on another host', async () => {
    const { fake, octokit } = await connect();
    const step = { name: 'Tests', conclusion: 'failure', started: '2026-01-01T10:00:00Z', completed: '2026-01-01T10:00:01Z' };
    const { id } = fake.pulls.job({ sha: 'd'.repeat(40), steps: [step], log: 'the log' });
    const { data } = await octokit.rest.actions.getJobForWorkflowRun({ ...REPO, job_id: id });
    expect(data.steps?.[0]).toMatchObject({ name: 'Tests', conclusion: 'failure', number: 1 });
    const log = await octokit.rest.actions.downloadJobLogsForWorkflowRun({ ...REPO, job_id: id });
    expect([log.data, new URL(log.url).origin === fake.url]).toEqual(['the log', false]);
  });

  it('keep a journal of their labels', async () => {
    const { fake, octokit } = await connect();
    fake.pulls.add();
    const at = { ...REPO, issue_number: 1 };
    await octokit.rest.issues.addLabels({ ...at, labels: ['backlog'] });
    await octokit.rest.issues.removeLabel({ ...at, name: 'BACKLOG' });
    const { data } = await octokit.rest.issues.listEvents(at);
    expect(data.map(({ event }) => event)).toEqual(['labeled', 'unlabeled']);
  });

  it('leave branches that can be deleted once', async () => {
    const { fake, octokit } = await connect();
    fake.pulls.add({ headRef: 'fix/it' });
    await octokit.rest.git.deleteRef({ ...REPO, ref: 'heads/fix/it' });
    expect(await refusalOf(octokit.rest.git.deleteRef({ ...REPO, ref: 'heads/fix/it' }))).toEqual([
      422,
      'Reference does not exist',
    ]);
    expect((await refusalOf(octokit.rest.git.deleteRef({ ...REPO, ref: 'heads/main' })))[0]).toBe(422);
  });

  it('tell the review decision and the merge commit by GraphQL', async () => {
    const { fake, octokit } = await connect();
    fake.pulls.add({ requiresReviews: true });
    const query =
      'query { repository(owner: "acme", name: "widgets") { pullRequest(number: 1) { reviewDecision mergeCommit { oid } } } }';
    const facts = async () => (await octokit.graphql<{ repository: { pullRequest: unknown } }>(query)).repository.pullRequest;
    expect(await facts()).toEqual({ reviewDecision: 'REVIEW_REQUIRED', mergeCommit: null });
    fake.pulls.review(1, { state: 'APPROVED' });
    fake.pulls.merge(1, 'bob');
    expect(await facts()).toMatchObject({
      reviewDecision: 'APPROVED',
      mergeCommit: { oid: expect.stringMatching(/^e+1$/) as unknown },
    });
    await expect(octokit.graphql(query.replace('number: 1', 'number: 2'))).rejects.toThrow('Could not resolve to a PullRequest');
    await expect(octokit.graphql('query { nothing }')).rejects.toThrow('Cannot query field');
  });

  it('tell what a classic token may do, free of charge', async () => {
    const { fake, octokit } = await connect({ scopes: 'repo, gist', limits: { core: 0 } });
    const { headers, data } = await octokit.rest.rateLimit.get();
    expect([headers['x-oauth-scopes'], data.resources.core.remaining]).toEqual(['repo, gist', 0]);
    expect(fake.remaining('graphql')).toBe(5000);
  });
});

describe('pull requests against the published description', () => {
  it('are answered in the described shapes, under the pinned version', async () => {
    const { fake, octokit } = await connect();
    const { headSha } = fake.pulls.add({ requestedReviewers: ['bob'], requestedTeams: ['core'], issue: { labels: ['review'] } });
    const { id } = fake.pulls.review(1, { body: 'Please', comments: [{}] });
    fake.pulls.review(1, { author: null, state: 'PENDING', submittedAt: null });
    fake.pulls.checkRun(headSha, { status: 'in_progress', conclusion: null });
    fake.pulls.label(1, 'done');
    octokit.hook.before('request', (request) => void (request.headers['x-github-api-version'] = '2026-03-10'));
    // The description wants text for the description of a label here, where the remote itself sends null.
    fake.pulls.add();
    await octokit.rest.pulls.list({ ...REPO, head: 'acme:fix/2' });
    await octokit.rest.pulls.get(AT);
    await octokit.rest.pulls.listReviews(AT);
    await octokit.rest.pulls.listReviewComments(AT);
    await octokit.rest.pulls.listCommentsForReview({ ...AT, review_id: id });
    await octokit.rest.checks.listForRef({ ...REPO, ref: headSha });
    await octokit.rest.issues.listEvents({ ...REPO, issue_number: 1 });
    await refusalOf(octokit.rest.pulls.merge({ ...AT, sha: 'old' }));
    await octokit.rest.pulls.merge({ ...AT, sha: headSha, merge_method: 'rebase' });
    await octokit.rest.issues.listEvents({ ...REPO, issue_number: 1 });
    await octokit.rest.rateLimit.get();
    const contract = githubContract();
    expect(fake.exchanges).toHaveLength(11);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
  });
});
