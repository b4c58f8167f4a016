import { describe, expect, it } from 'vitest';
import { json } from '../../../test/support/http-server.ts';
import { githubContract } from '../../../test/fakes/github/contract.ts';
import { REQUEST, scmConnections } from '../../../test/fakes/github/connect-scm.ts';

const signal = new AbortController().signal;
const connect = scmConnections();

describe('the published description', () => {
  it('knows every request made for pull requests, and every answer they were tried on', async () => {
    const { fake, scm, ci, opener } = await connect();
    const { headSha, headRef } = fake.pulls.add({
      issue: { labels: ['review'] },
      requestedReviewers: ['bob'],
      requestedTeams: ['core'],
    });
    fake.pulls.review(1, { body: 'Please', comments: [{ line: 9, startLine: 7 }] });
    fake.pulls.checkRun(headSha);
    fake.pulls.status(headSha, { targetUrl: 'https://ci.example/1' });
    const steps = [{ name: 'Tests', conclusion: 'failure', started: '2026-01-01T10:00:00Z', completed: '2026-01-01T10:00:01Z' }];
    fake.pulls.job({ sha: headSha, steps, log: 'text' });
    fake.pulls.label(1, 'backlog');
    await scm.readMergeStatus(REQUEST, signal);
    await scm.readReviewDecision(REQUEST, 'anyone', signal);
    await scm.readCiStatus(REQUEST, signal);
    fake.failNext(`GET /repos/acme/widgets/commits/${headSha}/check-runs`, json({ message: 'Not accessible' }, 403));
    await scm.readCiStatus(REQUEST, signal);
    await ci.readCi({ ...REQUEST, ref: headRef, maxLogLines: 5 }, signal);
    await scm.readPendingReviews(REQUEST, 'anyone', signal);
    await scm.readBotReviewComments(REQUEST, [], signal);
    await scm.readLabelEvents(REQUEST, signal);
    await scm.removeLabel(REQUEST, 'review', signal);
    await scm.checkMergeScope(REQUEST, signal);
    await scm.readOwnAccount(signal);
    await scm.readDefaultBranch(REQUEST, signal);
    await scm.readBranchHead(REQUEST, headRef, signal);
    await scm.merge(REQUEST, { strategy: 'squash', expectedSha: headSha }, signal);
    await scm.readMergeStatus(REQUEST, signal);
    await scm.deleteBranch(REQUEST, headRef, signal);
    await scm.deleteBranch(REQUEST, headRef, signal);
    fake.pulls.branches.set('agent/2', 'd'.repeat(40));
    const order = { owner: REQUEST.owner, repo: REQUEST.repo, branch: 'agent/2' };
    expect(await opener.find(order, signal)).toBeNull();
    const made = await opener.open({ ...order, base: 'main', title: 'Title', body: 'Text' }, signal);
    expect(await opener.find(order, signal)).toEqual(made);
    const contract = githubContract();
    // GraphQL has a description of its own, which the fake answers by.
    const described = fake.exchanges.filter(({ path }) => path !== '/graphql');
    expect(described.length).toBeGreaterThan(18);
    expect(described.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
    const routes = described.map(({ method, path }) => `${method} ${path.replace('/repos/acme/widgets', '')}`);
    expect([...new Set(routes)].sort()).toEqual([
      'DELETE /git/refs/heads/fix%2F1',
      'DELETE /issues/1/labels/review',
      'GET ',
      'GET /actions/jobs/1007',
      'GET /actions/jobs/1007/logs',
      'GET /actions/runs',
      `GET /commits/${headSha}/check-runs`,
      `GET /commits/${headSha}/status`,
      'GET /commits/fix%2F1/check-runs',
      'GET /commits/fix%2F1/status',
      'GET /git/ref/heads/fix%2F1',
      'GET /issues/1/events',
      'GET /pulls',
      'GET /pulls/1',
      'GET /pulls/1/comments',
      'GET /pulls/1/reviews',
      'GET /rate_limit',
      'GET /user',
      'POST /pulls',
      'PUT /pulls/1/merge',
    ]);
  });
});
