import { describe, expect, it } from 'vitest';
import { type SeedIssue, trackerContract } from '../../../test/contracts/tracker.ts';
import { asked, connections, connectTracker, failureOf, LIST, searchFor } from '../../../test/fakes/github/connect.ts';
import { hang, json } from '../../../test/support/http-server.ts';

const signal = new AbortController().signal;
const connect = connections();

trackerContract('repoissues', async () => {
  const { fake, tracker } = await connectTracker({ createsLabels: true });
  const states = { active: ['backlog', 'in-progress', 'review'], terminal: ['done', 'wontfix'], handoff: 'needs-review' };
  const natively = (state: string) => (states.terminal.includes(state) ? ('closed' as const) : ('open' as const));
  const stateLabels = [...states.active, ...states.terminal, states.handoff];
  const add = (issue: SeedIssue, numbers: readonly number[]): number => {
    const { title, state, description, labels = [], assignee, issueType, comments = [], blockedBy = [], parent } = issue;
    const at = (index: number) => ({ number: numbers[index] ?? 0 });
    const { number } = fake.addIssue({
      title,
      body: description ?? null,
      state: natively(state),
      labels: [...labels, state],
      assignees: assignee ? [assignee] : [],
      type: issueType ?? null,
      blockedBy: blockedBy.map(at),
      parent: parent === undefined ? null : at(parent),
    });
    for (const comment of comments) fake.addComment(number, comment);
    return number;
  };
  return {
    tracker,
    states,
    abilities: ['assignee', 'issueType', 'parent', 'blockedBy'],
    missing: { id: '999', identifier: '999' },
    seed: (issues) => {
      const numbers: number[] = [];
      for (const issue of issues) numbers.push(add(issue, numbers));
      return Promise.resolve(numbers.map((number) => ({ id: String(number), identifier: String(number) })));
    },
    remote: {
      edit: (id, { state }) => {
        const labels = fake.issue(id).labels.filter((label) => !stateLabels.includes(label));
        fake.editIssue(id, { labels: [...labels, state], state: natively(state) });
        return Promise.resolve();
      },
      find: (id) => {
        const { labels, comments, state } = fake.issue(id);
        const found = labels.find((label) => stateLabels.includes(label)) ?? '';
        if (natively(found) !== state) throw new Error(`issue ${id} is ${state} but labelled ${found}`);
        return Promise.resolve({ state: found, labels, commentBodies: comments.map(({ body }) => body) });
      },
      requests: () => fake.requests.length,
    },
    cleanUp: () => fake.close(),
  };
});

describe('fetchCandidateIssues', () => {
  it('without a filter reads all open issues, page by page, and keeps those in active states', async () => {
    const { fake, tracker } = await connect();
    for (const label of ['in-progress', 'done', 'needs-review', 'unrelated']) fake.addIssue({ labels: [label] });
    fake.addIssue({ labels: ['backlog'], state: 'closed' });
    for (let count = 0; count < 50; count += 1) fake.addIssue({ labels: ['review'] });
    const found = await tracker.fetchCandidateIssues(signal);
    expect(found.map(({ id }) => id)).toEqual(['1', '4', ...Array.from({ length: 50 }, (_, index) => String(index + 6))]);
    expect(found[1]).toMatchObject({ state: 'backlog', labels: ['unrelated'], parent: null, comments: null, blockedBy: [] });
    expect(asked(fake)[0]).toBe(LIST);
    expect(fake.requests).toHaveLength(2);
  });

  it('skips pull requests', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'], pullRequest: true });
    fake.addIssue({ labels: ['backlog'] });
    expect((await tracker.fetchCandidateIssues(signal)).map(({ id }) => id)).toEqual(['2']);
  });

  it('with a filter searches, and only then', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: ' label:agent -label:"not now" ' });
    fake.addIssue({ labels: ['backlog', 'agent'] });
    fake.addIssue({ labels: ['backlog'] });
    fake.addIssue({ labels: ['done', 'agent'] });
    fake.addIssue({ labels: ['backlog', 'agent', 'Not now'] });
    fake.addIssue({ labels: ['backlog', 'agent'], pullRequest: true });
    expect((await tracker.fetchCandidateIssues(signal)).map(({ id }) => id)).toEqual(['1']);
    expect(asked(fake)).toEqual([searchFor('state:open label:agent -label:"not now"')]);
  });

  it('with a filter reads every page of the search', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'label:backlog' });
    for (let count = 0; count < 120; count += 1) fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(120);
    expect(fake.requests).toHaveLength(3);
  });

  it('warns of incomplete results and gives them all the same', async () => {
    const { fake, tracker, warnings } = await connect({ incompleteResults: true }, { queryFilter: 'label:backlog' });
    fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(1);
    expect(warnings.map(({ message }) => message)).toEqual([
      'tracker search gave incomplete results, the next poll may find more',
    ]);
  });

  it('warns when a search finds more than it gives', async () => {
    const { fake, tracker, warnings } = await connect({ limits: { search: 100 } }, { queryFilter: 'label:backlog' });
    for (let count = 0; count < 1010; count += 1) fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(1000);
    expect(warnings[0]?.attributes).toMatchObject({ total: 1010 });
  });

  it('never takes an issue of another repository for its own when an OR widens the search', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'label:a OR label:b' });
    fake.addIssue({ repo: 'acme/other', number: 7, labels: ['b'] });
    fake.addIssue({ labels: ['a'] });
    fake.addIssue({ labels: ['b'], state: 'closed' });
    expect((await tracker.fetchCandidateIssues(signal)).map(({ id }) => id)).toEqual(['1']);
  });

  it('leaves blockers unresolved where an issue has some, or the remote does not tell', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['backlog'] });
    fake.addIssue({ labels: ['backlog'], blockedBy: [{ number: 1 }] });
    expect((await tracker.fetchCandidateIssues(signal)).map(({ blockedBy }) => blockedBy)).toEqual([[], null]);
    const old = await connect({ dependencies: false });
    old.fake.addIssue({ labels: ['backlog'] });
    expect((await old.tracker.fetchCandidateIssues(signal))[0]?.blockedBy).toBeNull();
    expect(await old.tracker.blockers?.read('1', signal)).toEqual([]);
  });

  it('warns once of several state labels, by the identifier', async () => {
    const { fake, tracker, warnings } = await connect();
    fake.addIssue({ labels: ['review', 'backlog'] });
    await tracker.fetchCandidateIssues(signal);
    expect((await tracker.fetchCandidateIssues(signal))[0]?.state).toBe('backlog');
    expect(warnings.map(({ attributes }) => attributes)).toEqual([
      { issue_id: '1', issue_identifier: '1', state: 'backlog', labels: 'backlog, review' },
    ]);
  });

  it('one entry that cannot be read does not lose the page', async () => {
    const { fake, tracker, warnings } = await connect();
    const good = { number: 5, title: 'Good', state: 'open', labels: [] };
    fake.failNext(/GET .*issues$/, json([good, { number: 'six' }, { ...good, number: 7, labels: [1] }, null]));
    expect((await tracker.fetchCandidateIssues(signal)).map(({ id }) => id)).toEqual(['5']);
    expect(warnings[0]?.attributes).toMatchObject({ skipped: 3 });
  });

  it('stops after 200 pages with a warning and what it has', async () => {
    const { fake, tracker, warnings } = await connect({ pageSizeCap: 1 });
    for (let count = 0; count < 205; count += 1) fake.addIssue({ labels: ['backlog'] });
    expect(await tracker.fetchCandidateIssues(signal)).toHaveLength(200);
    expect(warnings).toEqual([
      {
        message: 'tracker list reached the page cap, the rest is left out',
        attributes: { tracker_kind: 'repoissues', endpoint: '/repos/acme/widgets/issues', pages: 200 },
      },
    ]);
  });

  it('gives nothing where both state lists are empty', async () => {
    const { fake, tracker } = await connect({}, { activeStates: [], terminalStates: [], handoffState: null });
    fake.addIssue();
    expect(await tracker.fetchCandidateIssues(signal)).toEqual([]);
    expect((await tracker.fetchIssueStatesByIds(['1'], signal)).get('1')).toBe('open');
  });
});

describe('fetchIssueById', () => {
  it('reads the issue, its blockers, its parent and its comments, in this order', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ repo: 'other/thing', number: 9, labels: ['in-progress'] });
    fake.addIssue({ labels: ['review'] });
    fake.addIssue({ labels: ['backlog'], blockedBy: [{ number: 1 }, { repo: 'other/thing', number: 9 }], parent: { number: 1 } });
    fake.addComment(2, { author: null, body: 'boo' });
    expect(await tracker.fetchIssueById('2', signal)).toMatchObject({
      blockedBy: [
        { id: '1', identifier: '1', state: 'review' },
        { id: '9', identifier: '9', displayId: 'other/thing#9', state: 'in-progress' },
      ],
      parent: { id: '1', identifier: '1' },
      comments: [{ author: '', body: 'boo' }],
    });
    const paged = '?per_page=50';
    expect(asked(fake)).toEqual([
      'GET /issues/2',
      `GET /issues/2/dependencies/blocked_by${paged}`,
      'GET /issues/2/parent',
      `GET /issues/2/comments${paged}`,
    ]);
  });

  it('gives no blockers and no parent where their routes answer 404', async () => {
    const { fake, tracker } = await connect({ dependencies: false });
    fake.addIssue();
    expect(await tracker.fetchIssueById('1', signal)).toMatchObject({ blockedBy: [], parent: null, comments: [] });
  });

  it.each(['dependencies/blocked_by', 'parent', 'comments'])('fails when %s fails otherwise', async (route) => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    fake.failNext(`GET /repos/acme/widgets/issues/1/${route}`, json({ message: 'Oops' }, 500));
    expect((await failureOf(tracker.fetchIssueById('1', signal))).kind).toBe('tracker_transport_error');
  });

  it('names the request in every refusal of its own', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ pullRequest: true });
    const told = async (run: Promise<unknown>) =>
      run.then(
        () => '',
        (error: unknown) => (error as Error).message,
      );
    const issues = '/repos/acme/widgets/issues';
    expect(await told(tracker.fetchIssueById('1', signal))).toBe(
      `tracker: tracker_not_found: GET ${issues}/1: this number is a pull request`,
    );
    expect(await told(tracker.fetchIssueById('x y', signal))).toBe(
      `tracker: tracker_not_found: GET ${issues}/x%20y: "x y" is not an issue number`,
    );
    expect(await told(tracker.transitionIssue('1', 'nowhere', signal))).toBe(
      `tracker: tracker_payload_error: POST ${issues}/1/labels: "nowhere" is not a configured active, terminal or handoff state`,
    );
    expect(await told(tracker.labels!.add('1', ' ', signal))).toBe(
      `tracker: tracker_payload_error: POST ${issues}/1/labels: the label has no name`,
    );
  });

  it('says tracker_not_found for a pull request', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ pullRequest: true });
    expect((await failureOf(tracker.fetchIssueById('1', signal))).kind).toBe('tracker_not_found');
  });

  it('says tracker_not_found for an issue that moved away', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ repo: 'acme/other', number: 7 });
    fake.addIssue({ movedTo: { repo: 'acme/other', number: 7 } });
    const error = await failureOf(tracker.fetchIssueById('1', signal));
    expect(error.kind).toBe('tracker_not_found');
    expect(error.message).toContain('acme/other/issues/7');
  });

  it('says tracker_not_found for an issue that moved away and has the same number there', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ repo: 'acme/other', number: 1, labels: ['backlog'] });
    fake.addIssue({ movedTo: { repo: 'acme/other', number: 1 } });
    const error = await failureOf(tracker.fetchIssueById('1', signal));
    expect(error.kind).toBe('tracker_not_found');
    expect(error.message).toContain('acme/other/issues/1');
    expect(await tracker.fetchIssueStatesByIds(['1'], signal)).toEqual(new Map());
    expect((await failureOf(tracker.transitionIssue('1', 'done', signal))).kind).toBe('tracker_not_found');
  });

  it('reads an issue of a repository that was renamed: it is the same one', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ title: 'Known' });
    const headers = { Authorization: `Bearer ${fake.token}` };
    const issue = (await (await fetch(`${fake.url}/repos/acme/widgets/issues/1`, { headers })).json()) as object;
    fake.failNext(/GET .*issues\/1$/, json({ ...issue, repository_url: `${fake.url}/repos/acme/gadgets` }));
    fake.failNext(/GET .*widgets$/, json({ full_name: 'acme/gadgets' }));
    expect((await tracker.fetchIssueById('1', signal)).title).toBe('Known');
  });

  it.each(['', '0', '007', '-1', '1/../2', 'abc', ' 1'])('says tracker_not_found for %j without a request', async (id) => {
    const { fake, tracker } = await connect();
    expect((await failureOf(tracker.fetchIssueById(id, signal))).kind).toBe('tracker_not_found');
    expect((await failureOf(tracker.commentIssue(id, 'x', signal))).kind).toBe('tracker_not_found');
    expect(fake.requests).toHaveLength(0);
  });

  it('reads every page of comments', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    for (let count = 0; count < 60; count += 1) fake.addComment(1, { body: `note ${count}` });
    const { comments } = await tracker.fetchIssueById('1', signal);
    expect(comments?.map(({ body }) => body)).toEqual(Array.from({ length: 60 }, (_, index) => `note ${index}`));
  });
});

describe('fetchIssuesByStates', () => {
  it('reads active states from the open list, without the filter', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'label:agent' });
    fake.addIssue({ labels: ['backlog'] });
    fake.addIssue({ labels: ['review'] });
    expect((await tracker.fetchIssuesByStates(['Review'], signal)).map(({ id }) => id)).toEqual(['2']);
    expect(asked(fake)).toEqual([LIST]);
  });

  it('searches once per terminal label, without the filter', async () => {
    const { fake, tracker } = await connect({}, { queryFilter: 'label:agent', terminalStates: ['done', "won't fix"] });
    fake.addIssue({ labels: ['done', "Won't fix"], state: 'closed' });
    fake.addIssue({ labels: ["won't fix"], state: 'closed' });
    fake.addIssue({ labels: ['done'] });
    fake.addIssue({ labels: ['done'], state: 'closed', pullRequest: true });
    const found = await tracker.fetchIssuesByStates(['done', "won't fix"], signal);
    expect(found.map(({ id, state }) => [id, state])).toEqual([
      ['1', 'done'],
      ['2', "won't fix"],
    ]);
    expect(asked(fake)).toEqual([searchFor('state:closed label:done'), searchFor('state:closed label:"won\'t fix"')]);
  });

  it('leaves out what is closed as done but labelled as active', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['done', 'in-progress'], state: 'closed' });
    expect(await tracker.fetchIssuesByStates(['done'], signal)).toEqual([]);
  });

  it('finds the handoff state in the open list', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['needs-review'] });
    expect(await tracker.fetchIssuesByStates(['needs-review'], signal)).toHaveLength(1);
    expect(asked(fake)).toEqual([LIST]);
  });
});

describe('fetchIssueStatesByIds and fetchIssueStatesByIdentifiers', () => {
  it.each(['fetchIssueStatesByIds', 'fetchIssueStatesByIdentifiers'] as const)(
    '%s reads one issue after the other',
    async (operation) => {
      const { fake, tracker } = await connect({}, { queryFilter: 'label:agent' });
      fake.addIssue({ labels: ['review'] });
      fake.addIssue({ state: 'closed' });
      fake.addIssue({ pullRequest: true });
      fake.addIssue({ deleted: true });
      const found = await tracker[operation](['2', '1', '1', '3', '4', '99', 'x'], signal);
      expect([...found]).toEqual([
        ['2', 'done'],
        ['1', 'review'],
      ]);
      expect(asked(fake)).toEqual(['2', '1', '3', '4', '99'].map((id) => `GET /issues/${id}`));
    },
  );

  it('tell which are closed although their label says otherwise, as the whole read does', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue({ labels: ['in-progress'], state: 'closed' });
    fake.addIssue({ labels: ['needs-review'], state: 'closed' });
    fake.addIssue({ labels: ['done'], state: 'closed' });
    fake.addIssue({ labels: ['in-progress'] });
    const ids = ['1', '2', '3', '4'];
    const closed = new Set<string>();
    const states = await tracker.fetchIssueStatesByIds(ids, signal, closed);
    expect([...states.values()]).toEqual(['in-progress', 'needs-review', 'done', 'in-progress']);
    expect([...closed]).toEqual(['1', '2']);
    const whole = await Promise.all(ids.map((id) => tracker.fetchIssueById(id, signal)));
    expect(whole.map(({ isClosed }) => isClosed)).toEqual([true, true, undefined, undefined]);
  });

  it('fail as a whole when the remote does', async () => {
    const { fake, tracker } = await connect();
    fake.addIssue();
    fake.failNext(/issues\/1$/, json({ message: 'Oops' }, 502));
    expect((await failureOf(tracker.fetchIssueStatesByIds(['1'], signal))).kind).toBe('tracker_transport_error');
  });
});

describe('blockers', () => {
  it('are read by page, and an unreadable list is a failure', async () => {
    const { fake, tracker } = await connect();
    const blockedBy = Array.from({ length: 60 }, () => ({ number: fake.addIssue().number }));
    const { number } = fake.addIssue({ blockedBy });
    expect(await tracker.blockers?.read(String(number), signal)).toHaveLength(60);
    fake.failNext(/blocked_by$/, json({ message: 'Oops' }, 500));
    expect((await failureOf(tracker.blockers?.read('1', signal) ?? Promise.resolve())).kind).toBe('tracker_transport_error');
  });
});

describe('the own account', () => {
  it.each([403, 404])('comes from the GraphQL side after a %i, as for an installation of an app', async (status) => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /user', json({ message: 'Resource not accessible by integration' }, status));
    expect(await tracker.people?.readSelf(signal)).toBe('foray-bot');
  });

  it.each([
    ['one that may heal', json({ message: 'Oops' }, 502), 'tracker_transport_error'],
    ['a refusal', json({ message: 'no' }, 403), 'tracker_auth_error'],
  ])('is unknown where that side fails as well: %s', async (_, failure, kind) => {
    const { fake, tracker } = await connect();
    fake.failNext('GET /user', json({ message: 'Resource not accessible by integration' }, 403));
    fake.failNext('POST /graphql', failure);
    const error = await failureOf(tracker.people?.readSelf(signal) ?? Promise.resolve());
    expect(error.kind).toBe(kind);
  });
});

describe('cancelling', () => {
  it('ends the request in flight at once, with the reason given', async () => {
    const { fake, tracker } = await connect();
    fake.failNext(/GET/, hang());
    const controller = new AbortController();
    const running = tracker.fetchCandidateIssues(controller.signal);
    await fake.arrived(1);
    controller.abort(new Error('stopping'));
    await expect(running).rejects.toThrow('stopping');
    await fake.requests[0]?.over;
  });
});
