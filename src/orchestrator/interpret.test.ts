import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../test/support/core.ts';
import { issueWith } from '../../test/support/issues.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { EFFECTS, type AskedEffect, type AskedName } from '../domain/model/effect.ts';
import { TrackerError } from '../domain/model/errors.ts';
import type { Event } from '../domain/model/event.ts';
import { refOf } from '../domain/model/issue.ts';
import { NOTHING_KNOWN, type Watch } from '../domain/model/watch.ts';
import type { Tracker } from '../ports/tracker.ts';
import { StoreError } from '../store/errors.ts';
import type { InterpretDeps } from './effect-deps.ts';
import { createInterpreter } from './interpret.ts';

const settings = settingsWith();
const issue = refOf(issueWith({ id: '1' }));
const request = { owner: 'o', repo: 'r', number: 7, branch: 'b', sha: 's' };
const watch: Watch = { issue, mergeRequest: request, armedAt: 0, attempt: 0, facts: NOTHING_KNOWN, reactions: {} };

/** One of each. The types see to it that none is forgotten. */
const ONE_OF_EACH: { readonly [Name in AskedName]: Extract<AskedEffect, { do: Name }> } = {
  poll: { do: 'poll', lookups: ['1'] },
  'read-blockers': { do: 'read-blockers', issues: [issue] },
  'go-on': { do: 'go-on' },
  'read-candidate': { do: 'read-candidate', issue },
  'read-issue': { do: 'read-issue', issueId: '1' },
  'start-run': {
    do: 'start-run',
    plan: {
      runId: 'r',
      issue,
      attempt: 0,
      trigger: 'fresh',
      reaction: null,
      issueAsRead: null,
      resumeSessionId: null,
      holder: null,
      settings,
    },
  },
  'hand-off': { do: 'hand-off', issue, handoff: { runId: 'r', target: 'review' }, settings, begun: false },
  'write-out': {
    do: 'write-out',
    entry: { id: 'o', issue, write: { kind: 'comment', text: 't' }, tries: 0, dueAt: 0 },
    settings,
  },
  'read-terminal': { do: 'read-terminal', states: ['done'], workspaces: [] },
  sweep: { do: 'sweep', workspaces: [{ issueId: '1', path: '/w/T-1' }], waiting: [] },
  inspect: { do: 'inspect', watch, due: ['auto_merge'], needs: [], settings },
  merge: { do: 'merge', issueId: '1', request, order: { strategy: 'squash', expectedSha: 's' } },
  'delete-branch': { do: 'delete-branch', issueId: '1', request, headSha: 'a' },
  'remove-label': { do: 'remove-label', issue, request, label: 'l' },
  complete: { do: 'complete', issue, target: 'done', begun: false },
  'remove-workspace': {
    do: 'remove-workspace',
    issueId: '1',
    identifier: 'T-1',
    title: 't',
    why: 'w',
    recorded: true,
    paths: ['/w/T-1'],
    hosts: [],
  },
};

/** An interpreter whose whole world throws, and what it reports. */
function brokenInterpreter(fault = new Error('the world is broken')) {
  const reported: Event[] = [];
  const broken = (): never => {
    throw fault;
  };
  const deps: InterpretDeps = {
    adapters: broken,
    adaptersOf: broken,
    runner: { start: broken, stop: () => 'unknown' },
    report: (event) => void reported.push(event),
    announce: () => {},
    findPreflightProblem: () => Promise.resolve(null),
    spentOn: () => Promise.resolve([]),
    inOrder: (issues) => Promise.resolve(issues),
    killed: new AbortController().signal,
  };
  return { reported, interpret: createInterpreter(deps) };
}

/** An interpreter over a tracker with these members. Runs may have begun with another one. */
function interpreterWith(tracker: object, more: object = {}, ofRuns: object = tracker) {
  const reported: Event[] = [];
  const deps: InterpretDeps = {
    adapters: () => ({ tracker, ...more }) as never,
    adaptersOf: () => ({ tracker: ofRuns, ...more }) as never,
    runner: { start: () => {}, stop: () => 'told' },
    report: (event) => void reported.push(event),
    announce: () => {},
    findPreflightProblem: () => Promise.resolve(null),
    spentOn: () => Promise.resolve([]),
    inOrder: (issues) => Promise.resolve(issues),
    killed: new AbortController().signal,
  };
  return { reported, interpret: createInterpreter(deps) };
}

describe('every effect that is asked for', () => {
  it.each(Object.values(ONE_OF_EACH))('$do ends in one answer when its interpreter throws', async (effect) => {
    const { reported, interpret } = brokenInterpreter();
    interpret(effect);
    await new Promise((resolve) => setImmediate(resolve));
    expect(reported).toHaveLength(1);
    // It needs nothing of the world.
    if (effect.do === 'go-on') expect(reported).toEqual([{ type: 'went-on' }]);
    else expect(reported[0]).toMatchObject({ type: 'effect-failed', effect, fault: { message: 'the world is broken' } });
  });

  it.each(Object.values(ONE_OF_EACH))('$do is no longer under way once its failure is told', (effect) => {
    const player = createPlayer(settings);
    const subject = (EFFECTS[effect.do].subject as (effect: AskedEffect) => string)(effect);
    player.state = { ...player.state, pending: { [effect.do]: new Map([[subject, true]]) } };
    player.send({
      type: 'effect-failed',
      effect,
      fault: { kind: 'internal_error', message: 'it broke', consequence: 'back-off' },
    });
    expect(player.state.pending[effect.do]?.size).toBe(0);
    expect(player.told('daemon:effect:failed')).toHaveLength(1);
  });

  it.each([
    ['cannot be reached', 'unreachable', []],
    ['is led by another foray', 'not-leading', []],
    ['failed', 'failed', ['daemon:effect:failed']],
  ] as const)('poll tells of a database that %s in its own words', async (what, kind, told) => {
    const fault = new StoreError({ path: 'postgres://h/d', kind, what, remedy: 'wait' });
    const { reported, interpret } = brokenInterpreter(fault);
    const player = createPlayer(settings);
    player.send({ type: 'clock' });
    for (const effect of player.asked('poll')) interpret(effect);
    await new Promise((resolve) => setImmediate(resolve));
    for (const event of reported) player.send(event);
    expect(player.told('daemon:effect:failed').map(({ name }) => name)).toEqual(told);
    expect(player.told('poll:tick:failed')).toMatchObject([{ facts: { error: `database postgres://h/d: ${what}: wait` } }]);
  });

  it('poll tells an issue that somebody closed as closed, whatever its label says', async () => {
    const { reported, interpret } = interpreterWith({
      fetchCandidateIssues: () => Promise.resolve([]),
      fetchIssueStatesByIds(ids: readonly string[], _signal: AbortSignal, closed?: Set<string>) {
        closed?.add('2');
        return Promise.resolve(new Map(ids.map((id) => [id, 'todo'])));
      },
    });
    interpret({ do: 'poll', lookups: ['1', '2'] });
    await expect.poll(() => reported).toHaveLength(1);
    const [event] = reported;
    const states = event?.type === 'poll-answered' && event.states.ok ? [...event.states.value] : [];
    expect(states).toEqual([
      ['1', 'todo'],
      ['2', 'closed'],
    ]);
  });

  it('inspect tells that the issue is closed, beside the state that its label names', async () => {
    const tracker = {
      fetchIssueStatesByIds(_ids: readonly string[], _signal: AbortSignal, closed?: Set<string>) {
        closed?.add('1');
        return Promise.resolve(new Map([['1', 'review']]));
      },
    };
    const forge = { scm: { readMergeStatus: () => Promise.resolve({ merged: false, closed: false }) } };
    const { reported, interpret } = interpreterWith(tracker, { forge });
    interpret({ ...ONE_OF_EACH.inspect, needs: ['ciStatus'] });
    await expect
      .poll(() => reported)
      .toMatchObject([{ findings: { issueState: { value: 'review' }, issueClosed: { ok: true } } }]);
  });

  it('read-blockers reads on after one that fails: it holds its own candidate alone', async () => {
    const read: string[] = [];
    const { reported, interpret } = interpreterWith({
      blockers: {
        read(id: string) {
          read.push(id);
          return id === '1' ? Promise.reject(new Error('refused')) : Promise.resolve([]);
        },
      },
    });
    const issues = ['1', '2', '3'].map((id) => refOf(issueWith({ id })));
    interpret({ do: 'read-blockers', issues });
    await expect.poll(() => reported).toHaveLength(1);
    expect(read).toEqual(['1', '2', '3']);
    const [event] = reported;
    const answers = event?.type === 'blockers-answered' ? [...event.blockers].map(([id, answer]) => [id, answer.ok]) : [];
    expect(answers).toEqual([
      ['1', false],
      ['2', true],
      ['3', true],
    ]);
  });

  it.each([
    ['every directory is known: by its issue', ['T-1', 'T-2'], 'ids 1,2'],
    ['one is not: by state', ['T-1', 'T-2', 'T-9'], 'states done'],
    ['there is none: not at all', [], ''],
  ])('read-terminal, where listing finished issues is costly and %s', async (_, names, request) => {
    const requests: string[] = [];
    const tracker = {
      finishedAreCostly: true,
      fetchIssuesByStates(states: readonly string[]) {
        requests.push(`states ${states.join(',')}`);
        return Promise.resolve(['1', '7'].map((id) => issueWith({ id, state: 'done' })));
      },
      fetchIssueStatesByIds(ids: readonly string[]) {
        requests.push(`ids ${ids.join(',')}`);
        return Promise.resolve(new Map(ids.map((id) => [id, id === '1' ? 'Done' : 'todo'])));
      },
    };
    const workspaces = { list: () => Promise.resolve(names), has: () => false, namesOf: (identifier: string) => [identifier] };
    const { reported, interpret } = interpreterWith(tracker, { workspaces, identity: 'x' });
    const known = ['1', '2', '3'].map((id) => ({
      issueId: id,
      identifier: `T-${id}`,
      title: '',
      path: `/w/T-${id}`,
      createdAt: 0,
      lastUsedAt: 0,
    }));
    interpret({ do: 'read-terminal', states: ['done'], workspaces: known });
    await expect.poll(() => reported).toHaveLength(1);
    expect(requests.join()).toBe(request);
    const [event] = reported;
    const found = event?.type === 'cleanup-answered' && event.issues.ok ? event.issues.value.map(({ id }) => id) : null;
    expect(found).toEqual(names.length === 0 ? [] : ['1']);
  });

  it.each([
    ['a first handoff finds done what others did', false, true, 0],
    ['a repeated one finishes a move that may have broken off', true, true, 1],
    ['a repeated one has nothing to finish where a move is one write', true, undefined, 0],
  ])('hand-off: %s', async (_, begun, movesInSteps, moves) => {
    let made = 0;
    const { reported, interpret } = interpreterWith({
      movesInSteps,
      fetchIssueStatesByIds: () => Promise.resolve(new Map([['1', 'Review']])),
      transitionIssue: () => Promise.resolve(void (made += 1)),
    });
    interpret({ ...ONE_OF_EACH['hand-off'], begun });
    await expect.poll(() => reported).toMatchObject([{ type: 'handoff-answered', outcome: { kind: 'succeeded' } }]);
    expect(made).toBe(moves);
  });

  it.each([
    { label: 'todo', begun: false },
    { label: 'review', begun: true },
  ])('hand-off leaves an issue that somebody closed as it is (label $label)', async ({ label, begun }) => {
    let made = 0;
    const { reported, interpret } = interpreterWith({
      movesInSteps: true,
      fetchIssueStatesByIds(ids: readonly string[], _signal: AbortSignal, closed?: Set<string>) {
        closed?.add('1');
        return Promise.resolve(new Map(ids.map((id) => [id, label])));
      },
      transitionIssue: () => Promise.resolve(void (made += 1)),
    });
    interpret({ ...ONE_OF_EACH['hand-off'], begun });
    await expect.poll(() => reported).toMatchObject([{ outcome: { kind: 'moved', state: 'closed' } }]);
    expect(made).toBe(0);
  });

  it.each([
    [true, 'stopped\n\n```\n\\/approve\n```'],
    [false, 'stopped\n\n```\n/approve\n```'],
  ])("write-out posts no command of the agent's where the tracker would obey (%s)", async (obeys, expected) => {
    const posted: string[] = [];
    const tracker = {
      ...(obeys && { obeysComments: true }),
      fetchIssueComments: async () => posted.map((body) => ({ body })),
      commentIssue: async (_id: string, text: string) => void posted.push(text),
    };
    const { reported, interpret } = interpreterWith(tracker);
    const { entry } = ONE_OF_EACH['write-out'];
    const write = { kind: 'comment', text: 'stopped\n\n```\n/approve\n```' } as const;
    for (const times of [1, 2]) {
      interpret({ ...ONE_OF_EACH['write-out'], entry: { ...entry, write } });
      await expect.poll(() => reported).toHaveLength(times);
      expect(posted).toEqual([expected]);
    }
  });

  describe.each(['hand-off', 'write-out'] as const)('%s after an edit of the credential', (name) => {
    const refused = (): never => {
      throw new TrackerError({ kind: 'tracker_auth_error', method: 'GET', path: '/issues/1', detail: 'status 401', status: 401 });
    };
    const trackerNamed = (key: string, wrote: string[], isRevoked: boolean) => ({
      fetchIssueStatesByIds: async () => (isRevoked ? refused() : new Map([['1', 'todo']])),
      transitionIssue: async () => void wrote.push(key),
      fetchIssueComments: async () => (isRevoked ? refused() : []),
      commentIssue: async () => void wrote.push(key),
    });

    it.each([
      ['writes with the one its run began with', false, false, ['old'], null],
      ['writes with the present one where that one is refused by now', true, false, ['new'], null],
      ['fails where both are refused', true, true, [], 'tracker_auth_error'],
    ])('%s', async (_, isOldRevoked, isNewRevoked, expected, fault) => {
      const wrote: string[] = [];
      const tracker = trackerNamed('new', wrote, isNewRevoked);
      const own = trackerNamed('old', wrote, isOldRevoked);
      const { reported, interpret } = interpreterWith(tracker, {}, own);
      interpret(ONE_OF_EACH[name]);
      await expect.poll(() => reported).toHaveLength(1);
      expect(wrote).toEqual(expected);
      expect(reported[0]).toMatchObject(
        fault === null ? { type: expect.stringContaining('-answered') } : { fault: { kind: fault } },
      );
    });
  });

  it('poll asks the present tracker for what runs where the credential that it began with is refused by now', async () => {
    const refused = new TrackerError({
      kind: 'tracker_auth_error',
      method: 'GET',
      path: '/issues/1',
      detail: '401',
      status: 401,
    });
    const present = {
      fetchCandidateIssues: () => Promise.resolve([]),
      fetchIssueStatesByIds: (ids: readonly string[]) => Promise.resolve(new Map(ids.map((id) => [id, 'done']))),
    };
    const own = { ...present, fetchIssueStatesByIds: () => Promise.reject(refused) };
    const { reported, interpret } = interpreterWith(present, {}, own);
    interpret({ do: 'poll', lookups: ['1'], ofOlder: [{ settings, ids: ['1'] }] });
    const states = { ok: true, value: new Map([['1', 'done']]) };
    await expect.poll(() => reported).toMatchObject([{ type: 'poll-answered', olderStates: [{ ids: ['1'], states }] }]);
  });

  it('poll tells of which issues the tracker can say nothing', async () => {
    const tracker: Partial<Tracker> = {
      fetchCandidateIssues: () => Promise.resolve([]),
      fetchIssueStatesByIds: (_ids, _signal, _closed, unknown) => Promise.resolve(new Map([['1', (unknown?.add('2'), 'done')]])),
    };
    const { reported, interpret } = interpreterWith(tracker);
    interpret({ do: 'poll', lookups: ['1', '2'] });
    const states = { ok: true, value: new Map([['1', 'done']]) };
    await expect.poll(() => reported).toMatchObject([{ type: 'poll-answered', states, unknown: new Set(['2']) }]);
  });

  it('sweep asks about every directory that is still there, whatever root it was made under', async () => {
    const fetchIssueStatesByIds = (ids: readonly string[]) => Promise.resolve(new Map(ids.map((id) => [id, 'done'])));
    const workspaces = { has: (place: string) => place !== '/now/T-3' };
    const { reported, interpret } = interpreterWith({ fetchIssueStatesByIds }, { workspaces, identity: 'x' });
    const recorded = ['/now/T-1', '/before/T-2', '/now/T-3', 'far:/there/T-4'];
    interpret({ do: 'sweep', workspaces: recorded.map((path) => ({ issueId: path.slice(-1), path })), waiting: [] });
    await expect.poll(() => reported).toHaveLength(1);
    const states = new Map(['1', '2', '4'].map((id) => [id, 'done']));
    expect(reported).toEqual([
      { type: 'sweep-answered', states: { ok: true, value: states }, missing: ['/now/T-3'], waiting: [] },
    ]);
  });

  it('read-terminal asks the tracker nothing where no directory is', async () => {
    const tracker = { fetchIssuesByStates: () => Promise.reject(new Error('asked')) };
    const workspaces = { list: () => Promise.resolve([]), namesOf: (identifier: string) => [identifier] };
    const { reported, interpret } = interpreterWith(tracker, { workspaces, identity: 'x' });
    interpret({ do: 'read-terminal', states: ['done'], workspaces: [] });
    await expect.poll(() => reported).toEqual([{ type: 'cleanup-answered', issues: { ok: true, value: [] } }]);
  });

  it('is answered also when a run to be stopped is no longer known', () => {
    const { reported, interpret } = brokenInterpreter();
    interpret({ do: 'stop-run', runId: 'r', issueId: '1', reason: 'shutdown' });
    expect(reported).toMatchObject([{ type: 'run-exited', runId: 'r', exit: { kind: 'error' } }]);
  });
});
