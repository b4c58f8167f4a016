import { describe, expect, it } from 'vitest';
import { asked, connections, failureOf } from '../../../test/fakes/github/connect.ts';
import { empty, json } from '../../../test/support/http-server.ts';

const signal = new AbortController().signal;
const connect = connections();

describe('TransitionIssue', () => {
  it.each<[string, { labels: string[]; state?: 'open' | 'closed' }, string, string[]]>([
    [
      '(2, 3) swaps the state label',
      { labels: ['backlog', 'bug'] },
      'in-progress',
      ['DELETE /issues/1/labels/backlog', 'POST /issues/1/labels'],
    ],
    ['(2) keeps a label that is the target', { labels: ['review'] }, 'Review', ['POST /issues/1/labels']],
    ['(2) has nothing to remove', { labels: ['bug'] }, 'review', ['POST /issues/1/labels']],
    [
      '(4) closes for a terminal target',
      { labels: ['review'] },
      'done',
      ['DELETE /issues/1/labels/review', 'POST /issues/1/labels', 'PATCH /issues/1'],
    ],
    [
      '(4) not when closed already',
      { labels: ['wontfix'], state: 'closed' },
      'done',
      ['DELETE /issues/1/labels/wontfix', 'POST /issues/1/labels'],
    ],
    [
      '(5) reopens for an active target',
      { labels: ['done'], state: 'closed' },
      'backlog',
      ['DELETE /issues/1/labels/done', 'POST /issues/1/labels', 'PATCH /issues/1'],
    ],
    [
      'handoff leaves the native state alone',
      { labels: ['in-progress'] },
      'needs-review',
      ['DELETE /issues/1/labels/in-progress', 'POST /issues/1/labels'],
    ],
    [
      'handoff of a closed one too',
      { labels: ['in-progress'], state: 'closed' },
      'needs-review',
      ['DELETE /issues/1/labels/in-progress', 'POST /issues/1/labels'],
    ],
    [
      'takes every other state label away',
      { labels: ['backlog', 'review', 'done'] },
      'needs-review',
      [
        'DELETE /issues/1/labels/backlog',
        'DELETE /issues/1/labels/review',
        'DELETE /issues/1/labels/done',
        'POST /issues/1/labels',
      ],
    ],
  ])('%s', async (_, issue, target, requests) => {
    const { fake, tracker } = await connect();
    fake.addIssue(issue);
    await tracker.transitionIssue('1', target, signal);
    expect(asked(fake)).toEqual(['GET /issues/1', ...requests]);
    expect((await tracker.fetchIssueStatesByIds(['1'], signal)).get('1')).toBe(target.toLowerCase());
  });

  it('sends the documented bodies', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    await tracker.transitionIssue('1', 'Done', signal);
    await tracker.transitionIssue('1', 'backlog', signal);
    const bodies = fake.requests.filter(({ body }) => body !== '').map((request) => request.json());
    expect(bodies).toEqual([
      { labels: ['done'] },
      { state: 'closed', state_reason: 'completed' },
      { labels: ['backlog'] },
      { state: 'open' },
    ]);
    expect(fake.issue(1)).toMatchObject({ labels: ['backlog'], state: 'open' });
  });

  it('escapes label names in paths', async () => {
    const { fake, tracker } = await connect({}, { activeStates: ['Doing/It 100%?'] });
    fake.addIssue({ labels: ['Doing/It 100%?'] });
    await tracker.transitionIssue('1', 'done', signal);
    expect(asked(fake)[1]).toBe('DELETE /issues/1/labels/doing%2Fit%20100%25%3F');
    expect(fake.issue(1).labels).toEqual(['done']);
  });

  it('takes a label off as it is spelt there, where Unicode has two spellings', async () => {
    const { fake, tracker } = await connect({}, { activeStates: ['pr\u00fcfung'] });
    fake.addIssue({ labels: ['pru\u0308fung'] });
    expect(await tracker.fetchCandidateIssues(signal)).toMatchObject([{ state: 'pr\u00fcfung', labels: ['pr\u00fcfung'] }]);
    await tracker.transitionIssue('1', 'done', signal);
    expect(fake.issue(1).labels).toEqual(['done']);
  });

  it('goes on when somebody took the old label away meanwhile', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.before(/DELETE/, () => fake.editIssue(1, { labels: [] }));
    await tracker.transitionIssue('1', 'done', signal);
    expect(fake.issue(1)).toMatchObject({ labels: ['done'], state: 'closed' });
  });

  it('says tracker_payload_error for a label the repository does not have, and what to do', async () => {
    const { fake, tracker } = await connect({ labels: ['backlog'] });
    fake.addIssue({ labels: ['backlog'] });
    const error = await failureOf(tracker.transitionIssue('1', 'done', signal));
    expect([error.kind, error.status]).toEqual(['tracker_payload_error', 422]);
    expect(error.detail).toBe(
      'status 422: Validation Failed (Label name "done" invalid); labels are never created from here: create it in the repository',
    );
  });

  it('says tracker_payload_error for a state that is not configured, before any request', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    expect((await failureOf(tracker.transitionIssue('1', 'elsewhere', signal))).kind).toBe('tracker_payload_error');
    expect((await failureOf(tracker.transitionIssue('1', ' ', signal))).kind).toBe('tracker_payload_error');
    expect(fake.requests).toHaveLength(0);
  });

  it('knows the state of an issue that needed no change', async () => {
    const { fake, tracker } = await connect({ createsLabels: true }, { noChangeState: 'no-change' });
    fake.addIssue({ labels: ['backlog'] });
    await tracker.transitionIssue('1', 'no-change', signal);
    expect(await tracker.fetchCandidateIssues(signal)).toEqual([]);
  });

  it('says tracker_auth_error with a token that only reads', async () => {
    const { fake, tracker } = await connect({ canWrite: false });
    fake.addIssue({ labels: ['backlog'] });
    expect((await failureOf(tracker.transitionIssue('1', 'done', signal))).kind).toBe('tracker_auth_error');
  });

  it.each(['DELETE', 'POST', 'PATCH'])('finishes when repeated after a failed %s', async (method) => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.failNext(new RegExp(`^${method}`), json({ message: 'Oops' }, 500));
    expect((await failureOf(tracker.transitionIssue('1', 'done', signal))).kind).toBe('tracker_transport_error');
    await tracker.transitionIssue('1', 'done', signal);
    expect(fake.issue(1)).toMatchObject({ labels: ['done'], state: 'closed', stateReason: 'completed' });
  });
});

describe('CommentIssue and labels', () => {
  it('posts the text as it is', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    await tracker.commentIssue('1', 'a *b*\n```\nc\n```', signal);
    expect(fake.requests[0]?.json()).toEqual({ body: 'a *b*\n```\nc\n```' });
    expect(fake.exchanges[0]?.status).toBe(201);
  });

  it('does not fail over an answer to a comment that was posted', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    fake.failNext(/POST/, empty(201));
    await tracker.commentIssue('1', 'x', signal);
  });

  it('adds by POST and removes by DELETE, in lower case, a missing one being no fault', async () => {
    const { fake, tracker } = await connect({ labels: ['Needs-Human'] });
    fake.addIssue();
    await tracker.labels?.add('1', ' Needs-Human ', signal);
    expect(fake.issue(1).labels).toEqual(['Needs-Human']);
    await tracker.labels?.remove('1', 'NEEDS-human', signal);
    await tracker.labels?.remove('1', 'needs-human', signal);
    expect(asked(fake)).toEqual([
      'POST /issues/1/labels',
      'DELETE /issues/1/labels/needs-human',
      'DELETE /issues/1/labels/needs-human',
    ]);
    expect(fake.requests[0]?.json()).toEqual({ labels: ['needs-human'] });
  });

  it.each(['', ' ', '.', '..'])('refuses the label %j, which would name another route', async (label) => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['keep'] });
    const removal = tracker.labels?.remove('1', label, signal) ?? Promise.resolve();
    expect((await failureOf(removal)).kind).toBe('tracker_payload_error');
    expect(fake.issue(1).labels).toEqual(['keep']);
    expect(fake.requests).toHaveLength(0);
  });
});
