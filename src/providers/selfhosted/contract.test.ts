import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeSelfhosted } from '../../../test/fakes/selfhosted.ts';
import { startFakeSelfhosted } from '../../../test/fakes/selfhosted.ts';
import { failureOf, never, openTracker } from '../../../test/fakes/selfhosted/tracker-kit.ts';
import type { Node } from '../../../test/support/openapi.ts';
import { createContract } from '../../../test/support/openapi.ts';

const folder = process.env.CONTRACTS_DIR;

const running: FakeSelfhosted[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

// The description was made from Go types: what is absent there the real server sends as null, or as an empty address.
const MAY_BE_EMPTY = [
  'assignee',
  'assignees',
  'closed_at',
  'due_date',
  'issue_url',
  'merged_at',
  'milestone',
  'pull_request',
  'pull_request_url',
];

function amend(node: Node): Node {
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

describe.skipIf(!folder)('selfhosted against the vendor’s description (CONTRACTS_DIR)', () => {
  it('every request is a described one, and the fake answers as described', async () => {
    const fake = await startFakeSelfhosted({ labels: ['todo'], organizationLabels: ['shared'], maxPageSize: 2 });
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

  it('the comparison can fail', () => {
    const contract = vendorContract(folder ?? '');
    const exchange = { method: 'GET', path: '/api/v1/user', query: new URLSearchParams('x=1'), requestBody: '', status: 200 };
    expect(contract.faults({ ...exchange, responseBody: '{"login":7}' })).toHaveLength(2);
  });
});
