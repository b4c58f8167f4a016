import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeGitea } from '../../../test/fakes/gitea.ts';
import { startFakeGitea } from '../../../test/fakes/gitea.ts';
import { conflictOf, openScm, requestFor } from '../../../test/fakes/gitea/connect-scm.ts';
import { failureOf, never, openTracker } from '../../../test/fakes/gitea/connect.ts';
import type { Node } from '../../../test/support/openapi.ts';
import { createContract } from '../../../test/support/openapi.ts';

const folder = process.env.CONTRACTS_DIR;

const running: FakeGitea[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

// The description was made from Go types: what is absent there the real server sends as null, or as an empty address.
const MAY_BE_EMPTY = [
  'assignee',
  'assignee_team',
  'assignees',
  'closed_at',
  'dependent_issue',
  'due_date',
  'issue_url',
  'label',
  'merge_commit_sha',
  'merged_at',
  'merged_by',
  'milestone',
  'old_milestone',
  'pull_request',
  'pull_request_url',
  'ref_comment',
  'ref_issue',
  'resolve_doer',
  'resolver',
  'target_url',
  'team',
  'tracked_time',
  'user',
];

/** Where the description and the real server differ beyond that. */
function amend(node: Node): Node {
  // The decoder of the server minds no case: `Do` of older descriptions is the `do` of newer ones.
  if (node['x-go-name'] === 'MergePullRequestForm') return { ...node, properties: undefined, required: ['Do', 'head_commit_id'] };
  // This list is described without pages, and the server ignores what is asked for.
  if (node.operationId === 'repoGetPullReviewComments') {
    return { ...node, parameters: [...(node.parameters as Node[]), ...PAGES] };
  }
  // An empty timeline is null.
  if (refOf(node.items).endsWith('/TimelineComment')) return { ...node, nullable: true };
  // A format that the comparison does not know.
  if (node.format === 'uint64') return { ...node, format: 'int64' };
  return withEmptyOnes(node);
}

const PAGES: readonly Node[] = ['page', 'limit'].map((name) => ({ name, in: 'query', schema: { type: 'integer' } }));

function refOf(value: unknown): string {
  return typeof value === 'object' && value !== null && '$ref' in value ? String(value.$ref) : '';
}

function withEmptyOnes(node: Node): Node {
  const { properties } = node;
  if (typeof properties !== 'object' || properties === null) return node;
  const entries = Object.entries(properties).map(([name, schema]: [string, unknown]) =>
    MAY_BE_EMPTY.includes(name) ? [name, { anyOf: [schema, { enum: [null, ''] }] }] : [name, schema],
  );
  return { ...node, properties: Object.fromEntries(entries) as Node };
}

function vendorContract(from: string) {
  const document = JSON.parse(readFileSync(join(from, 'gitea.openapi3.json'), 'utf8')) as Node;
  return createContract(document, { basePath: '/api/v1', amend });
}

describe.skipIf(!folder)('gitea against the vendor’s description (CONTRACTS_DIR)', () => {
  it('every request is a described one, and the fake answers as described', async () => {
    const fake = await startFakeGitea({ labels: ['todo'], organizationLabels: ['shared'], maxPageSize: 2 });
    running.push(fake);
    const { tracker } = openTracker(fake, { queryFilter: 'labels=todo&q=Issue&created_by=alice' });
    for (let n = 0; n < 3; n += 1) fake.addIssue({ labels: ['todo'], assignees: ['bob'], body: 'text' });
    fake.addIssue({ labels: ['todo'], dependencies: [1] });
    fake.addIssue({ isPull: true });

    await tracker.preflight?.(never);
    await tracker.fetchCandidateIssues(never);
    await tracker.fetchIssueById('4', never);
    await tracker.fetchIssuesByStates(['done'], never);
    await tracker.fetchIssueStatesByIds(['1', '5', '99'], never);
    await tracker.commentIssue('1', 'hello', never);
    await tracker.fetchIssueComments('1', never);
    await tracker.transitionIssue('1', 'done', never);
    await tracker.transitionIssue('1', 'todo', never);
    await tracker.labels?.add('2', 'needs-human', never);
    await tracker.labels?.remove('2', 'needs-human', never);
    await failureOf(tracker.transitionIssue('4', 'done', never));

    const contract = vendorContract(folder ?? '');
    expect(fake.exchanges.length).toBeGreaterThan(30);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
  });

  it('so is every request about pull requests', async () => {
    const fake = await startFakeGitea({ labels: ['fix'] });
    running.push(fake);
    const { scm, ci } = openScm(fake);
    const [first, second] = [fake.addPull({ requestedReviewers: ['ann'] }), fake.addPull()].map(requestFor);
    if (!first || !second) throw new Error('no pull requests');
    fake.review(1, { author: 'bob', state: 'COMMENT', comments: [{ resolvedBy: 'bob' }] });
    fake.status(fake.pull(1).headSha, { status: 'failure', description: 'broken', targetUrl: 'https://ci.example.org/1' });
    fake.editIssue(1, { labels: ['fix'] });

    await scm.readReviewDecision(first, 'anyone', never);
    fake.review(1, { state: 'REQUEST_CHANGES', body: 'no', comments: [{}] });
    await scm.readReviewDecision(first, 'anyone', never);
    await scm.readMergeStatus(first, never);
    await scm.readCiStatus(first, never);
    await scm.readPendingReviews(first, 'anyone', never);
    await scm.readBotReviewComments(first, ['bob'], never);
    await scm.readLabelEvents(first, never);
    await scm.removeLabel(first, 'fix', never);
    await ci.readCi({ owner: 'acme', repo: 'app', ref: 'branch-1', maxLogLines: 5 }, never);
    await ci.readCi({ owner: 'acme', repo: 'app', ref: 'main', maxLogLines: 5 }, never);
    await scm.checkMergeScope(first, never);
    await scm.merge(first, { strategy: 'squash', expectedSha: fake.pull(1).headSha }, never);
    await scm.deleteBranch(first, 'branch-1', never);
    await scm.readMergeStatus(first, never);
    await conflictOf(scm.merge(first, { strategy: 'merge', expectedSha: fake.pull(1).headSha }, never));
    await conflictOf(scm.merge(second, { strategy: 'merge', expectedSha: 'f'.repeat(40) }, never));

    const contract = vendorContract(folder ?? '');
    expect(fake.exchanges.length).toBeGreaterThan(20);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
  });

  it('the comparison can fail', () => {
    const contract = vendorContract(folder ?? '');
    const exchange = { method: 'GET', path: '/api/v1/user', query: new URLSearchParams('x=1'), requestBody: '', status: 200 };
    expect(contract.faults({ ...exchange, responseBody: '{"login":7}' })).toHaveLength(2);
  });
});
