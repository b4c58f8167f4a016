import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { RemoteIssue, SeedIssue, TrackerHarness } from '../../../test/contracts/tracker.ts';
import { trackerContract } from '../../../test/contracts/tracker.ts';
import type { FakeJira } from '../../../test/fakes/jira.ts';
import { startFakeJira } from '../../../test/fakes/jira.ts';
import { depsWith } from '../../../test/fakes/adapter-deps.ts';
import { failureOf, never, openTracker, settingsFor } from '../../../test/fakes/jira/connect.ts';
import type { Node } from '../../../test/support/openapi.ts';
import { createContract, exampleAnswers } from '../../../test/support/openapi.ts';
import { readBoard } from './board.ts';
import { COMMENT_PAGE, ISSUE, MY_PERMISSIONS, MYSELF, PROJECT_STATUSES, SEARCH_PAGE, TRANSITIONS } from './schema.ts';

trackerContract('wfboard', async (): Promise<TrackerHarness> => {
  const fake = await startFakeJira();
  const { tracker } = openTracker(fake);
  return {
    tracker,
    states: { active: ['Backlog', 'In Progress'], terminal: ['Done', 'Canceled'], handoff: 'Human Review' },
    abilities: ['assignee', 'priority', 'issueType', 'parent', 'blockedBy'],
    missing: { id: '99999', identifier: 'ABC-999' },
    seed: (issues) => Promise.resolve(seed(fake, issues)),
    remote: {
      edit: (id, { state }) => Promise.resolve(fake.editIssue(id, { status: state })),
      find: (id) => Promise.resolve(remoteIssue(fake, id)),
      requests: () => fake.requests.length,
    },
    cleanUp: () => fake.close(),
  };
});

function seed(fake: FakeJira, issues: readonly SeedIssue[]): readonly { id: string; identifier: string }[] {
  const ids: string[] = [];
  for (const { title, state, description, labels, assignee, priority, issueType, parent, blockedBy, comments } of issues) {
    const id = fake.addIssue({
      summary: title,
      status: state,
      ...(description === undefined ? {} : { description }),
      ...(labels ? { labels } : {}),
      ...(assignee === undefined ? {} : { assignee }),
      ...(priority === undefined ? {} : { priority }),
      ...(issueType === undefined ? {} : { issueType }),
      ...(parent === undefined ? {} : { parent: ids[parent] ?? '' }),
      ...(blockedBy ? { blockedBy: blockedBy.map((index) => ids[index] ?? '') } : {}),
    });
    for (const { author, body, createdAt } of comments ?? []) fake.comment(id, author, body, createdAt);
    ids.push(id);
  }
  return ids.map((id) => ({ id, identifier: fake.issue(id).key }));
}

function remoteIssue(fake: FakeJira, id: string): RemoteIssue {
  const { status, labels, comments } = fake.issue(id);
  return { state: status, labels, commentBodies: comments.map(({ body }) => JSON.stringify(body)) };
}

const folder = process.env.CONTRACTS_DIR;

const running: FakeJira[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

// The description promises RFC 3339 times, the vendor's servers and its own examples have no colon in the offset.
function amend(node: Node): Node {
  const { format, ...rest } = node;
  return format === 'date-time' ? rest : node;
}

function vendorDescription(from: string): Node {
  return JSON.parse(readFileSync(join(from, 'jira.openapi3.json'), 'utf8')) as Node;
}

function vendorContract(from: string) {
  return createContract(vendorDescription(from), { amend });
}

describe.skipIf(!folder)('wfboard against the vendor’s description (CONTRACTS_DIR)', () => {
  it('every request is a described one, and the fake answers as described', async () => {
    const fake = await startFakeJira({ maxPageSize: 2, maxCommentPage: 1 });
    running.push(fake);
    const { tracker } = openTracker(fake, { queryFilter: 'labels = agent' });
    const first = fake.addIssue({ labels: ['agent'], assignee: 'Ann', description: 'Text' });
    const second = fake.addIssue({ labels: ['agent'], parent: first, blockedBy: [first], priority: null });
    fake.addIssue({ labels: ['agent'] });
    fake.comment(second, 'Bob', 'One');
    fake.comment(second, 'Bob', 'Two');

    await tracker.preflight?.(never);
    await tracker.fetchCandidateIssues(never);
    await tracker.fetchIssueById(second, never);
    await tracker.commentIssue(first, 'Hello\n```\nx\n```', never);
    await tracker.transitionIssue(first, 'Human Review', never);
    await tracker.labels?.add(second, 'needs-human', never);
    await tracker.labels?.remove(second, 'needs-human', never);
    await tracker.fetchIssuesByStates(['Done'], never);
    await tracker.fetchIssueStatesByIds([first, '99'], never);
    await tracker.fetchIssueStatesByIdentifiers(['ABC-1', 'ABC-99'], never);
    await failureOf(tracker.fetchIssueComments('99', never));
    await tracker.people?.readSelf(never);
    await tracker.readRights?.(never);
    await tracker.readMoves?.(second, never);
    await openTracker(fake, { queryFilter: `labels = "${'x'.repeat(7000)}"` }).tracker.fetchCandidateIssues(never);
    await readBoard(settingsFor(fake), depsWith().deps, never);

    const contract = vendorContract(folder ?? '');
    expect(fake.exchanges.length).toBeGreaterThan(15);
    expect(fake.exchanges.some(({ query }) => query.has('reconcileIssues'))).toBe(true);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
    expect([...new Set(fake.exchanges.map(({ method, path }) => `${method} ${path}`))].sort()).toEqual([
      'GET /rest/api/3/issue/10001/transitions',
      'GET /rest/api/3/issue/10002',
      'GET /rest/api/3/issue/10002/comment',
      'GET /rest/api/3/issue/10002/transitions',
      'GET /rest/api/3/issue/99/comment',
      'GET /rest/api/3/mypermissions',
      'GET /rest/api/3/myself',
      'GET /rest/api/3/project/ABC/statuses',
      'GET /rest/api/3/search/jql',
      'POST /rest/api/3/issue/10001/comment',
      'POST /rest/api/3/issue/10001/transitions',
      'POST /rest/api/3/search/jql',
      'PUT /rest/api/3/issue/10002',
    ]);
  });

  it.each([
    ['/rest/api/3/search/jql', SEARCH_PAGE],
    ['/rest/api/3/issue/{issueIdOrKey}', ISSUE],
    ['/rest/api/3/issue/{issueIdOrKey}/comment', COMMENT_PAGE],
    ['/rest/api/3/issue/{issueIdOrKey}/transitions', TRANSITIONS],
    ['/rest/api/3/project/{projectIdOrKey}/statuses', PROJECT_STATUSES],
    ['/rest/api/3/myself', MYSELF],
    ['/rest/api/3/mypermissions', MY_PERMISSIONS],
  ] as const)('the published example of GET %s is read', (route, schema) => {
    const examples = exampleAnswers(vendorDescription(folder ?? ''), 'GET', route);
    expect(examples.length).toBeGreaterThan(0);
    for (const example of examples) expect(schema.safeParse(example).error).toBeUndefined();
  });

  it('the comparison can fail', () => {
    const contract = vendorContract(folder ?? '');
    const exchange = {
      method: 'GET',
      path: '/rest/api/3/search/jql',
      query: new URLSearchParams('x=1'),
      requestBody: '',
      status: 200,
    };
    expect(contract.faults({ ...exchange, responseBody: '{"issues":7}' })).toHaveLength(2);
  });
});
