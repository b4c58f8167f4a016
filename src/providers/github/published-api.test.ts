import { describe, expect, it } from 'vitest';
import { connections } from '../../../test/fakes/github/connect.ts';
import { githubContract } from '../../../test/fakes/github/contract.ts';

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
    const contract = githubContract();
    expect(fake.exchanges.length).toBeGreaterThan(20);
    expect(fake.exchanges.flatMap((exchange) => contract.faults(exchange))).toEqual([]);
  });
});
