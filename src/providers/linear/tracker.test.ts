import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import type { FakeLinear, FakeLinearOptions } from '../../../test/fakes/linear.ts';
import { startFakeLinear } from '../../../test/fakes/linear.ts';
import { asked, bodyOf, failureOf, never, openTracker } from '../../../test/fakes/linear/connect.ts';
import { json, startServer } from '../../../test/support/http-server.ts';
import { TrackerError } from '../../domain/model/errors.ts';
import type { TrackerSettings } from '../../domain/model/settings.ts';

const running: FakeLinear[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((fake) => fake.close()));
});

async function start(over: Partial<TrackerSettings> = {}, options: FakeLinearOptions = {}) {
  const fake = await startFakeLinear(options);
  running.push(fake);
  return { fake, ...openTracker(fake, over) };
}

const lastVariables = (fake: FakeLinear) => bodyOf(fake.requests.at(-1)).variables;
const UNKNOWN = 'ffffffff-0000-4000-8000-000000000000';

describe('linear candidates', () => {
  it('are asked for by team key and the team’s own spelling of the states', async () => {
    const { fake, tracker } = await start({ activeStates: ['todo', 'IN PROGRESS'] });
    fake.addIssue({ state: 'Todo' });
    fake.addIssue({ state: 'In Progress' });
    fake.addIssue({ state: 'Backlog' });
    fake.addIssue({ state: 'Todo', team: 'OPS' });
    const found = await tracker.fetchCandidateIssues(never);
    expect(found.map(({ identifier, state }) => `${identifier} ${state}`)).toEqual(['ENG-1 Todo', 'ENG-2 In Progress']);
    expect(lastVariables(fake)).toEqual({
      filter: { team: { key: { eq: 'ENG' } }, state: { name: { in: ['Todo', 'In Progress'] } } },
      first: 50,
      after: null,
    });
  });

  it('are sorted here: priority, none last, then age', async () => {
    const { fake, tracker } = await start();
    fake.addIssue({ title: 'none' });
    fake.addIssue({ title: 'low', priority: 4 });
    fake.addIssue({ title: 'urgent, older', priority: 1 });
    fake.addIssue({ title: 'urgent, newer', priority: 1 });
    const found = await tracker.fetchCandidateIssues(never);
    expect(found.map(({ title }) => title)).toEqual(['urgent, older', 'urgent, newer', 'low', 'none']);
  });

  it('are read from every page, each once', async () => {
    const { fake, tracker } = await start({}, { maxPageSize: 2 });
    const added = Array.from({ length: 5 }, () => fake.addIssue().id);
    // Somebody adds one between two pages: a cursor names a place, so none is skipped or read twice.
    fake.beforeNext(
      (request) => request.body.includes('query Issues(') && bodyOf(request).variables.after !== null,
      () => void fake.addIssue(),
    );
    const found = await tracker.fetchCandidateIssues(never);
    expect(found.map(({ id }) => id)).toEqual(added);
  });

  it('an issue that turns up on two pages counts once, as read last', async () => {
    const { fake, tracker } = await start();
    const node = (title: string) => ({ id: 'a', identifier: 'ENG-1', title });
    const page = (title: string, hasNextPage: boolean) => ({
      data: { issues: { nodes: [node(title)], pageInfo: { hasNextPage, endCursor: 'c' } } },
    });
    fake.failNext('query Issues', json(page('before', true)));
    fake.failNext('query Issues', json(page('after', false)));
    expect((await tracker.fetchCandidateIssues(never)).map(({ title }) => title)).toEqual(['after']);
  });

  it('carry blockers of the same answer, and no other relations', async () => {
    const { fake, tracker } = await start();
    const done = fake.addIssue({ state: 'Done', team: 'OPS' });
    const open = fake.addIssue({ state: 'Backlog' });
    const { id } = fake.addIssue({ blockedBy: [done.id, open.id] });
    fake.relate(id, 'related', open.id);
    const [issue] = await tracker.fetchCandidateIssues(never);
    expect(issue?.blockedBy).toEqual([
      { ...done, state: 'Done' },
      { ...open, state: 'Backlog' },
    ]);
    expect(asked(fake.requests)).toEqual(['TeamStates', 'Issues']);
  });

  it.each(['labels', 'relations'])('more than 25 %s: held, told once, and not paged', async (which) => {
    const { fake, tracker, warnings } = await start();
    const other = fake.addIssue({ state: 'Done' });
    const labels = Array.from({ length: which === 'labels' ? 26 : 25 }, (_, n) => `l${n}`);
    const { id, identifier } = fake.addIssue({ labels });
    for (let n = 0; n < (which === 'labels' ? 25 : 26); n += 1) fake.relate(id, 'blocks', other.id);
    for (let n = 0; n < 2; n += 1) {
      const [issue] = await tracker.fetchCandidateIssues(never);
      expect(issue).toMatchObject({ id, blockedBy: null });
      expect(issue?.labels).toHaveLength(25);
    }
    const attributes = { issue_id: id, issue_identifier: identifier, reason: `more than 25 ${which}` };
    expect(warnings()).toMatchObject([{ message: expect.stringContaining('held out of dispatch') as string, attributes }]);
    expect((await tracker.fetchIssueById(id, never)).blockedBy).toBeNull();
    expect(asked(fake.requests)).toEqual(['TeamStates', 'Issues', 'Issues', 'Issue']);
    expect(tracker.blockers).toBeUndefined();
  });

  it('are none without active states, and nothing is asked', async () => {
    const { fake, tracker } = await start({ activeStates: [] });
    expect(await tracker.fetchCandidateIssues(never)).toEqual([]);
    expect(fake.requests).toEqual([]);
  });

  it('one that cannot be read loses no other', async () => {
    const { fake, tracker, warnings } = await start();
    const nodes = [{ id: 'a', identifier: 'ENG-1' }, { id: 7, identifier: 'ENG-2' }, null, 'x'];
    fake.failNext('query Issues', json({ data: { issues: { nodes, pageInfo: { hasNextPage: false } } } }));
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual(['a']);
    expect(warnings()).toMatchObject([{ attributes: { skipped: 3 } }]);
  });

  it('a next page without a cursor is tracker_missing_end_cursor', async () => {
    const { fake, tracker } = await start();
    fake.failNext('query Issues', json({ data: { issues: { nodes: [], pageInfo: { hasNextPage: true, endCursor: null } } } }));
    expect((await failureOf(tracker.fetchCandidateIssues(never))).kind).toBe('tracker_missing_end_cursor');
  });
});

describe('linear query filter', () => {
  const queryFilter = '{"labels": {"some": {"name": {"eq": "agent"}}}}';

  it('is ANDed to candidates and to lookups by state, never to those by id or identifier', async () => {
    const { fake, tracker } = await start({ queryFilter });
    const [yes, no] = [fake.addIssue({ labels: ['agent'] }), fake.addIssue()];
    const over = fake.addIssue({ state: 'Done' });
    expect((await tracker.fetchCandidateIssues(never)).map(({ id }) => id)).toEqual([yes.id]);
    expect(lastVariables(fake).filter).toMatchObject({ ...(JSON.parse(queryFilter) as object), team: { key: { eq: 'ENG' } } });
    expect(await tracker.fetchIssuesByStates(['Done'], never)).toEqual([]);
    expect((await tracker.fetchIssueStatesByIds([no.id, over.id], never)).size).toBe(2);
    expect((await tracker.fetchIssueStatesByIdentifiers([no.identifier], never)).size).toBe(1);
  });

  it('an unknown field comes back from the first poll as tracker_payload_error', async () => {
    const { tracker } = await start({ queryFilter: '{"nope": {"eq": 1}}' });
    const error = await failureOf(tracker.fetchCandidateIssues(never));
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.detail).toContain('nope');
  });
});

describe('linear single issue', () => {
  it('is read by the form that is held, with every comment oldest first', async () => {
    const { fake, tracker } = await start({}, { maxPageSize: 2 });
    const { id, identifier } = fake.addIssue();
    for (let n = 1; n <= 5; n += 1) fake.comment(id, { author: 'ann', body: `${n}` });
    for (const name of [id, identifier]) {
      const issue = await tracker.fetchIssueById(name, never);
      expect(issue.comments?.map(({ body }) => body)).toEqual(['1', '2', '3', '4', '5']);
      expect(issue.id).toBe(id);
    }
    expect(asked(fake.requests, 3)).toEqual(['Issue', 'IssueComments', 'IssueComments']);
    expect(lastVariables(fake).id).toBe(identifier);
  });

  it('without a list of comments has none', async () => {
    const { fake, tracker } = await start();
    fake.failNext(
      'query Issue(',
      json({ data: { issue: { id: 'issue-7', identifier: 'ENG-7', title: 'x', state: { name: 'Todo' } } } }),
    );
    expect(await tracker.fetchIssueById('issue-7', never)).toMatchObject({ id: 'issue-7', comments: [], blockedBy: [] });
  });

  it('null instead of an error is not found either', async () => {
    const { fake, tracker } = await start();
    for (const call of [() => tracker.fetchIssueById('x', never), () => tracker.fetchIssueComments('x', never)]) {
      fake.failNext('issue(id', json({ data: { issue: null } }));
      expect((await failureOf(call)).kind).toBe('tracker_not_found');
    }
  });

  it.each([{ archived: true }, { trashed: true }])('is not found where it is put away: %j', async (edit) => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    fake.editIssue(id, edit);
    const { kind, message } = await failureOf(tracker.fetchIssueById(id, never));
    expect(kind).toBe('tracker_not_found');
    expect(message).toContain(`no issue ${id}, it is archived or in the trash`);
    fake.editIssue(id, { archived: false, trashed: false });
    expect(await tracker.fetchIssueById(id, never)).toMatchObject({ id });
  });

  it('shows what the remote says to users', async () => {
    const { tracker } = await start();
    const { message } = await failureOf(tracker.fetchIssueById(UNKNOWN, never));
    expect(message).toBe('tracker: tracker_not_found: POST /graphql: Could not find referenced Issue.');
  });

  it('one that cannot be read is tracker_payload_error', async () => {
    const { fake, tracker } = await start();
    fake.failNext('issue(id', json({ data: { issue: { id: 'a' } } }));
    expect((await failureOf(tracker.fetchIssueById('a', never))).kind).toBe('tracker_payload_error');
  });
});

describe('linear state lookups', () => {
  it('by id: 50 at a time, each once, apart from what is no UUID', async () => {
    const { fake, tracker } = await start();
    const ids = Array.from({ length: 51 }, () => fake.addIssue().id);
    const states = await tracker.fetchIssueStatesByIds([...ids, ...ids, 'ENG-1', '', UNKNOWN], never);
    expect([...states.keys()]).toEqual(ids);
    expect(fake.requests.map((request) => (bodyOf(request).variables.ids as string[]).length)).toEqual([50, 2, 1]);
    expect((await tracker.fetchIssueStatesByIds(['', ' '], never)).size).toBe(0);
    expect(fake.requests).toHaveLength(3);
  });

  it('by id: one of another form than a UUID, where the remote has such', async () => {
    const { fake, tracker } = await start();
    fake.failNext('StatesByIds', json({ data: { issues: { nodes: [{ id: 'issue-7', state: { name: 'Done' } }] } } }));
    expect([...(await tracker.fetchIssueStatesByIds(['issue-7'], never))]).toEqual([['issue-7', 'Done']]);
  });

  it('by id: whatever the case it was written in', async () => {
    const { fake, tracker } = await start();
    const name = fake.addIssue().id.toUpperCase();
    fake.failNext('StatesByIds', json({ data: { issues: { nodes: [{ id: name.toLowerCase(), state: { name: 'Done' } }] } } }));
    expect([...(await tracker.fetchIssueStatesByIds([name], never))]).toEqual([[name, 'Done']]);
  });

  it('by identifier: team key and number, those of other teams and other forms left out', async () => {
    const { fake, tracker } = await start({}, { maxPageSize: 1 });
    fake.addIssue({ state: 'Done' });
    fake.addIssue({ state: 'Todo' });
    fake.addIssue({ team: 'OPS' });
    const names = ['ENG-1', 'eng-2', 'ENG-2', 'OPS-1', 'ENG-99', 'ENG-0', 'ENG-01', 'ENG-1.5', 'ENG', '7', '', 'ENG--1'];
    const states = await tracker.fetchIssueStatesByIdentifiers(names, never);
    expect([...states]).toEqual([
      ['ENG-1', 'Done'],
      ['eng-2', 'Todo'],
      ['ENG-2', 'Todo'],
    ]);
    expect(lastVariables(fake)).toMatchObject({ teamKey: 'ENG', numbers: [1, 2, 99] });
    await tracker.fetchIssueStatesByIdentifiers(['OPS-1'], never);
    expect(asked(fake.requests)).toEqual(['StatesByNumbers', 'StatesByNumbers']);
  });

  it('an issue without a state maps to nothing, an archived one is not found', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    fake.failNext('StatesByIds', json({ data: { issues: { nodes: [{ id, state: null }] } } }));
    expect([...(await tracker.fetchIssueStatesByIds([id], never))]).toEqual([[id, '']]);
    fake.editIssue(id, { archived: true });
    expect((await tracker.fetchIssueStatesByIds([id], never)).size).toBe(0);
  });

  it('by states: names the team does not have match nothing', async () => {
    const { fake, tracker } = await start();
    fake.addIssue({ state: 'In Review' });
    expect(await tracker.fetchIssuesByStates(['Nope', ' '], never)).toEqual([]);
    expect(asked(fake.requests)).toEqual(['TeamStates']);
    expect(await tracker.fetchIssuesByStates(['IN REVIEW', 'nope'], never)).toHaveLength(1);
  });
});

describe('linear transition', () => {
  it('sets the id of the state of that name, whatever its case', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    await tracker.transitionIssue(id, 'IN progress', never);
    expect(fake.issue(id).state).toBe('In Progress');
    expect(Object.keys(lastVariables(fake).input as object)).toEqual(['stateId']);
  });

  it('any state of the team is a target, configured or not', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    await tracker.transitionIssue(id, 'Duplicate', never);
    expect(fake.issue(id).state).toBe('Duplicate');
  });

  it('a name the team lacks is tracker_payload_error before any write', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    const error = await failureOf(tracker.transitionIssue(id, 'Nope', never));
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.message).toContain('state name not found in team: "Nope"');
    expect(asked(fake.requests)).toEqual(['TeamStates']);
  });

  it('a state that was made anew since the team was read is found again', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    await tracker.fetchCandidateIssues(never);
    fake.recreateState('Done');
    await tracker.transitionIssue(id, 'Done', never);
    expect(fake.issue(id).state).toBe('Done');
    expect(asked(fake.requests)).toEqual(['TeamStates', 'Issues', 'UpdateIssue', 'TeamStates', 'UpdateIssue']);
    await tracker.transitionIssue(id, 'Todo', never);
    expect(asked(fake.requests).slice(5)).toEqual(['UpdateIssue']);
  });

  it('a state that the team has no more is named, until there is one of its name', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    await tracker.transitionIssue(id, 'Done', never);
    fake.recreateState('Done');
    fake.renameState('Done', 'Finished');
    const error = await failureOf(tracker.transitionIssue(id, 'Done', never));
    expect(error.kind).toBe('tracker_payload_error');
    expect(error.message).toContain('state name not found in team: "Done"');
    fake.renameState('Finished', 'Done');
    await tracker.transitionIssue(id, 'Done', never);
  });

  it('an issue that is gone while another state was renamed stops nothing else', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    await tracker.fetchCandidateIssues(never);
    fake.renameState('Canceled', 'Dropped');
    expect((await failureOf(tracker.transitionIssue(UNKNOWN, 'Done', never))).kind).toBe('tracker_not_found');
    await tracker.fetchCandidateIssues(never);
    await tracker.transitionIssue(id, 'Done', never);
  });

  it('an issue that is gone stays tracker_not_found', async () => {
    const { fake, tracker } = await start();
    expect((await failureOf(tracker.transitionIssue(UNKNOWN, 'Done', never))).kind).toBe('tracker_not_found');
    expect(asked(fake.requests)).toEqual(['TeamStates', 'UpdateIssue', 'TeamStates']);
  });

  it('no success and no error is tracker_api_error', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    fake.failNext('issueUpdate', json({ data: { issueUpdate: { success: false } } }));
    expect((await failureOf(tracker.transitionIssue(id, 'Done', never))).kind).toBe('tracker_api_error');
    fake.failNext('commentCreate', json({ data: { commentCreate: { success: false } } }));
    expect((await failureOf(tracker.commentIssue(id, 'x', never))).kind).toBe('tracker_api_error');
  });
});

describe('linear comment', () => {
  it('is posted verbatim', async () => {
    const { fake, tracker } = await start();
    const { id } = fake.addIssue();
    const text = 'Stopped.\n\n````\n```\n"quoted" \\ \u2028 $x {y}\n````';
    await tracker.commentIssue(id, text, never);
    expect(fake.issue(id).comments).toEqual([{ body: text, author: 'bot' }]);
    expect(lastVariables(fake)).toEqual({ input: { issueId: id, body: text } });
  });
});

describe('linear throttling', () => {
  it('is tracker_api_error, and a warning tells that nothing is left', async () => {
    const { fake, tracker, warnings } = await start();
    fake.allow({ requests: 0 });
    await tracker.fetchCandidateIssues(never);
    expect(warnings()).toMatchObject([{ attributes: { allowance: 'requests', resets_at: '2026-03-01T10:00:00.000Z' } }]);
    const throttled = { errors: [{ message: 'Rate limit exceeded', extensions: { code: 'RATELIMITED', type: 'ratelimited' } }] };
    fake.failNext('query Issues', json(throttled, 400));
    expect(await failureOf(tracker.fetchCandidateIssues(never))).toMatchObject({ kind: 'tracker_api_error', retryable: true });
  });
});

describe('linear headers', () => {
  it('user_agent is fixed, whatever is configured', async () => {
    const { fake, tracker } = await start({ userAgent: 'mine/1' });
    await tracker.fetchIssueStatesByIds([UNKNOWN], never);
    expect(fake.requests[0]?.headers['user-agent']).toBe('svc/1.2.3');
  });
});

describe('linear against a remote that answers anything', () => {
  it('every operation ends, in a TrackerError at worst', async () => {
    let body: unknown;
    const server = await startServer(() => json(body));
    const { tracker } = openTracker(
      { url: `${server.url}/graphql`, apiKey: 'lin_api_x', project: 'ENG' },
      { handoffState: null },
    );
    const calls = [
      () => tracker.preflight!(never),
      () => tracker.fetchCandidateIssues(never),
      () => tracker.fetchIssueById('ENG-1', never),
      () => tracker.fetchIssuesByStates(['Done'], never),
      () => tracker.fetchIssueStatesByIds([UNKNOWN], never),
      () => tracker.fetchIssueStatesByIdentifiers(['ENG-1'], never),
      () => tracker.fetchIssueComments('ENG-1', never),
      () => tracker.transitionIssue('ENG-1', 'Done', never),
      () => tracker.commentIssue('ENG-1', 'x', never),
      () => tracker.labels!.add('ENG-1', 'x', never),
      () => tracker.labels!.remove('ENG-1', 'x', never),
    ];
    const list = (nodes: fc.Arbitrary<unknown>) =>
      fc.record({ nodes: fc.oneof(fc.array(nodes), fc.jsonValue()), pageInfo: fc.jsonValue() });
    const issue = fc.oneof(
      fc.jsonValue(),
      fc.record({ id: fc.constant('a'), identifier: fc.constant('ENG-1'), comments: list(fc.jsonValue()) }),
    );
    const team = fc.record({ id: fc.constant('t'), key: fc.constant('ENG'), states: list(fc.jsonValue()) });
    const data = fc.record({
      viewer: fc.jsonValue(),
      teams: list(team),
      issue,
      issues: list(issue),
      issueLabels: list(fc.jsonValue()),
    });
    const answer = fc.oneof(
      fc.jsonValue(),
      fc.record({ data: fc.oneof(data, fc.jsonValue()) }),
      fc.record({ errors: fc.array(fc.jsonValue()) }),
    );
    try {
      await fc.assert(
        fc.asyncProperty(answer, fc.nat(calls.length - 1), async (given, which) => {
          body = given;
          const error: unknown = await calls[which]!().then(
            () => null,
            (reason: unknown) => reason,
          );
          if (error !== null) expect(error).toBeInstanceOf(TrackerError);
        }),
        { numRuns: 150 },
      );
    } finally {
      await server.close();
    }
  });
});
