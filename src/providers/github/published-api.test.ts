import { describe, expect, it } from 'vitest';
import { depsWith } from '../../../test/fakes/adapter-deps.ts';
import { connections, trackerSettings } from '../../../test/fakes/github/connect.ts';
import { githubContract } from '../../../test/fakes/github/contract.ts';
import { createLabel, readBoard } from './board.ts';

const signal = new AbortController().signal;
const connect = connections();

describe('the published description', () => {
  it('knows every request made here, and every answer they were tried on', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['done'], state: 'closed', body: 'Text' });
    fake.addIssue({ labels: ['backlog'], blockedBy: [{ number: 1 }], parent: { number: 1 }, body: 'Text' });
    fake.addComment(2, { body: 'hello' });
    await tracker.preflight?.(signal);
    await tracker.fetchCandidateIssues(signal);
    await tracker.fetchIssueById('2', signal);
    await tracker.fetchIssuesByStates(['backlog', 'done'], signal);
    await tracker.fetchIssueStatesByIds(['1'], signal);
    await tracker.transitionIssue('2', 'done', signal);
    await tracker.transitionIssue('2', 'backlog', signal);
    await tracker.commentIssue('2', 'bye', signal);
    await tracker.labels?.add('2', 'review', signal);
    await tracker.labels?.remove('2', 'review', signal);
    await tracker.blockers?.read('2', signal);
    await tracker.people?.readSelf(signal);
    await tracker.readLabelling?.('2', 'backlog', signal);
    await tracker.describeProject?.(signal);
    await tracker.readRights?.(signal);
    const settings = trackerSettings({ endpoint: fake.url, apiKey: fake.token });
    await readBoard(settings, depsWith().deps, signal);
    await createLabel(settings, depsWith().deps, 'new', signal);
    const contract = githubContract();
    expect(fake.exchanges.length).toBeGreaterThan(20);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
    expect([...new Set(fake.exchanges.map(({ method, path }) => `${method} ${path}`))].sort()).toEqual([
      'DELETE /repos/acme/widgets/issues/2/labels/backlog',
      'DELETE /repos/acme/widgets/issues/2/labels/done',
      'DELETE /repos/acme/widgets/issues/2/labels/review',
      'GET /repos/acme/widgets',
      'GET /repos/acme/widgets/issues',
      'GET /repos/acme/widgets/issues/1',
      'GET /repos/acme/widgets/issues/2',
      'GET /repos/acme/widgets/issues/2/comments',
      'GET /repos/acme/widgets/issues/2/dependencies/blocked_by',
      'GET /repos/acme/widgets/issues/2/events',
      'GET /repos/acme/widgets/issues/2/parent',
      'GET /repos/acme/widgets/labels',
      'GET /search/issues',
      'GET /user',
      'PATCH /repos/acme/widgets/issues/2',
      'POST /repos/acme/widgets/issues/2/comments',
      'POST /repos/acme/widgets/issues/2/labels',
      'POST /repos/acme/widgets/labels',
    ]);
  });
});
