import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../test/support/core.ts';
import { issueWith } from '../../test/support/issues.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { NOTHING_DURABLE } from './model/durable.ts';
import type { Fault } from './model/fault.ts';
import { snapshotOf } from './views/snapshot.ts';

const FAULT: Fault = { kind: 'turn_failed', message: 'agent: turn_failed: it broke', consequence: 'back-off' };
describe('dispatch', () => {
  it('starts candidates in order: priority, then age, then identifier', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 9 } }));
    player.poll([
      issueWith({ id: '1', priority: null, createdAt: '2026-01-01T00:00:00Z' }),
      issueWith({ id: '2', priority: 2, createdAt: '2026-01-02T00:00:00Z' }),
      issueWith({ id: '3', priority: 2, createdAt: '2026-01-01T00:00:00Z' }),
      issueWith({ id: '5', priority: 1 }),
      issueWith({ id: '4', priority: 1 }),
    ]);
    expect(player.asked('start-run').map((effect) => effect.plan.issue.id)).toEqual(['4', '5', '3', '2', '1']);
  });

  it('stores claim and run before anything is done, and tells the tick before the work it started', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    expect(player.writes.map((write) => write.write)).toEqual(['claim', 'run', 'spent']);
    const order = player.effects.map((effect) => (effect.do === 'announce' ? effect.notice.name : effect.do));
    expect(order.indexOf('poll:tick:completed')).toBeLessThan(order.indexOf('start-run'));
  });

  it('keeps to the global slots and names the reason for the rest', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 1 } }));
    player.poll([issueWith({ id: '1' }), issueWith({ id: '2' })]);
    expect(player.asked('start-run')).toHaveLength(1);
    expect(player.state.holds.get('2')?.reason).toBe('no_global_slot');
  });

  it('keeps to the slots of a state, also of the in-progress state issues are moved to', () => {
    const settings = settingsWith({
      tracker: { inProgressState: 'doing' },
      agent: { maxConcurrentAgents: 9, maxConcurrentAgentsByState: { doing: 1 } },
    });
    const player = createPlayer(settings);
    player.poll([issueWith({ id: '1', state: 'todo' })]);
    player.send({ type: 'state-seen', issueId: '1', runId: 'run-1', state: 'doing' });
    player.poll([issueWith({ id: '2', state: 'todo' })], { 1: 'doing' });
    expect(player.state.holds.get('2')).toMatchObject({
      reason: 'no_state_slot',
      detail: 'all slots of state "doing" are taken',
    });
  });

  it.each([
    ['an open blocker', [{ id: '9', identifier: 'T-9', state: 'todo' }], 'blocked_by'],
    ['a blocker of unknown state', [{ id: '9', identifier: 'T-9', state: '' }], 'blocked_by'],
    ['a terminal blocker', [{ id: '9', identifier: 'T-9', state: 'Done' }], undefined],
    ['a closed blocker that kept its label', [{ id: '9', identifier: 'T-9', state: 'todo', isClosed: true as const }], undefined],
  ])('%s', (_name, blockedBy, reason) => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1', blockedBy })]);
    expect(player.state.holds.get('1')?.reason).toBe(reason);
  });

  it('reads unresolved blockers for four issues a poll, going round', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 9 } }));
    const issues = ['1', '2', '3', '4', '5', '6'].map((id) => issueWith({ id, blockedBy: null }));
    player.poll(issues);
    expect(player.asked('read-blockers')[0]?.issues.map((issue) => issue.id)).toEqual(['1', '2', '3', '4']);
    player.send({ type: 'blockers-answered', blockers: new Map([['1', { ok: false, fault: FAULT }]]) });
    expect(player.state.holds.get('1')?.reason).toBe('blockers_unresolved');
    expect(player.state.holds.get('5')?.reason).toBe('blockers_not_read');
    player.poll(issues);
    expect(
      player
        .asked('read-blockers')[0]
        ?.issues.map((issue) => issue.id)
        .slice(0, 2),
    ).toEqual(['5', '6']);
  });

  it('tells of blockers that wait to be read, and that they could not be read until they are read again', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 9 } }));
    const issues = ['1', '2', '3', '4', '5', '6'].map((id) => issueWith({ id, blockedBy: null }));
    const shown = () => snapshotOf(player.state, player.now).holds.map(({ reason }) => reason);
    const failing = (...ids: string[]) => new Map(ids.map((id) => [id, { ok: false, fault: FAULT } as const]));
    player.poll(issues);
    player.send({ type: 'blockers-answered', blockers: failing('1', '2', '3', '4') });
    expect(shown()).toEqual([...Array<string>(4).fill('blockers_unresolved'), 'blockers_not_read', 'blockers_not_read']);
    player.poll(issues);
    player.send({ type: 'blockers-answered', blockers: failing('5', '6', '1', '2') });
    expect(shown()).toEqual(Array<string>(6).fill('blockers_unresolved'));
    expect(player.everTold('issue:candidate:held')).toHaveLength(8);
    player.poll(issues);
    player.send({ type: 'blockers-answered', blockers: new Map([['3', { ok: true, value: [] }]]) });
    expect(player.asked('start-run').map(({ plan }) => plan.issue.id)).toEqual(['3']);
  });

  it('tells of blockers once, however many wait to be read again', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 9 } }));
    const issues = ['1', '2', '3', '4', '5', '6', '7'].map((id) => issueWith({ id, blockedBy: null }));
    const blockedBy = [{ id: '90', identifier: 'T-90', state: 'todo' }];
    for (let polls = 0; polls < 6; polls += 1) {
      player.poll(issues);
      const read = player.asked('read-blockers')[0]?.issues ?? [];
      const answers = read.map(({ id }) => [id, { ok: true, value: blockedBy }] as const);
      player.send({ type: 'blockers-answered', blockers: new Map(answers) });
    }
    const told = player.everTold('issue:candidate:held').filter((notice) => JSON.stringify(notice).includes('"blocked_by"'));
    expect(told).toHaveLength(7);
    expect(snapshotOf(player.state, player.now).holds.map(({ reason }) => reason)).toEqual(Array(7).fill('blocked_by'));
  });

  it('holds everything while the preflight fails, and says why', () => {
    const player = createPlayer();
    player.send({ type: 'clock' });
    player.send({
      type: 'poll-answered',
      candidates: { ok: true, value: [issueWith({ id: '1' })] },
      states: { ok: true, value: new Map() },
      preflightProblem: 'claude is not on the PATH',
    });
    expect(player.state.holds.get('1')).toMatchObject({ reason: 'preflight_failed', detail: 'claude is not on the PATH' });
  });
});
describe('reconciliation', () => {
  function running() {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    return player;
  }

  it.each([
    ['terminal', 'Done', 'terminal'],
    ['moved elsewhere', 'backlog', 'inactive'],
  ])('stops a run whose issue is %s', (_name, state, reason) => {
    const player = running();
    player.poll([], { 1: state });
    expect(player.asked('stop-run')[0]?.reason).toBe(reason);
  });

  it('survives one poll without a state and stops at the second in a row, keeping the workspace', () => {
    const player = running();
    player.poll([], {});
    expect(player.asked('stop-run')).toHaveLength(0);
    player.poll([], { 1: '' });
    expect(player.asked('stop-run')[0]?.reason).toBe('vanished');
    player.exit('1', { kind: 'cancelled' });
    expect(player.state.claims.size).toBe(0);
    expect(player.asked('remove-workspace')).toHaveLength(0);
  });

  it('a state in between starts the count anew', () => {
    const player = running();
    player.poll([], {});
    player.poll([], { 1: 'todo' });
    player.poll([], {});
    expect(player.asked('stop-run')).toHaveLength(0);
  });

  it('keeps running when the lookup fails', () => {
    const player = running();
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    player.send({
      type: 'poll-answered',
      candidates: { ok: true, value: [] },
      states: { ok: false, fault: FAULT },
      preflightProblem: null,
    });
    expect(player.asked('stop-run')).toHaveLength(0);
  });

  it('keeps running while the whole project is not found', () => {
    const player = running();
    for (let poll = 0; poll < 3; poll += 1) {
      player.now = player.state.poll.nextAt;
      player.send({ type: 'clock' });
      player.send({
        type: 'poll-answered',
        candidates: { ok: false, fault: { ...FAULT, kind: 'tracker_not_found' } },
        states: { ok: true, value: new Map() },
        preflightProblem: null,
      });
    }
    expect(player.asked('stop-run')).toHaveLength(0);
  });

  it('stops a silent turn, and one that takes too long', () => {
    const silent = running();
    silent.send({ type: 'turn-started', issueId: '1', runId: 'run-1', turn: 1 });
    silent.after(300_000);
    expect(silent.asked('stop-run')[0]?.reason).toBe('stalled');
    const long = createPlayer(settingsWith({ agent: { stallTimeoutMs: 0, turnTimeoutMs: 5_000 } }));
    long.poll([issueWith({ id: '1' })]);
    long.send({ type: 'turn-started', issueId: '1', runId: 'run-1', turn: 1 });
    long.after(5_000);
    expect(long.asked('stop-run')[0]?.reason).toBe('turn_timeout');
    long.exit('1', { kind: 'cancelled' });
    // It has failed: records and figures count it as such.
    const failed = { exitKind: 'error', status: 'failed', error: expect.stringContaining('turn_timeout') as string };
    expect(long.told('run:worker:exited')).toMatchObject([{ facts: failed }]);
    silent.exit('1', { kind: 'cancelled' });
    expect(silent.told('run:worker:exited')).toMatchObject([{ facts: { exitKind: 'error', status: 'failed' } }]);
    expect(long.state.claims.get('1')).toMatchObject({
      phase: 'waiting',
      error: expect.stringContaining('turn_timeout') as string,
    });
  });
});
describe('restart and stop', () => {
  it('puts what ran back into the queue, due at once, with a higher attempt', () => {
    const before = createPlayer();
    before.poll([issueWith({ id: '1' })]);
    const claims = [...before.state.claims.values()];
    const player = createPlayer(settingsWith(), { ...NOTHING_DURABLE, claims });
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', attempt: 1, dueAt: player.now });
    player.send({ type: 'clock' });
    expect(player.asked('read-issue').map((effect) => effect.issueId)).toEqual(['1']);
  });

  it('asks again for a handoff that a crash cut short', () => {
    const before = createPlayer();
    before.poll([issueWith({ id: '1' })]);
    before.exit('1');
    const player = createPlayer(settingsWith(), { ...NOTHING_DURABLE, claims: [...before.state.claims.values()] });
    player.send({ type: 'clock' });
    expect(player.asked('hand-off')[0]?.handoff.target).toBe('review');
  });

  it('a stop ends what runs and starts nothing; the interrupted run is kept for the next start', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'stop-requested' });
    expect(player.asked('stop-run')[0]?.reason).toBe('shutdown');
    player.exit('1', { kind: 'cancelled' });
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', dueAt: player.now });
    player.after(60_000);
    expect(player.asked('read-issue')).toHaveLength(0);
    expect(player.asked('poll')).toHaveLength(0);
  });

  it('merges requests for a refresh', () => {
    const player = createPlayer();
    player.poll([]);
    player.send({ type: 'refresh-requested', byPerson: true });
    const { refreshAt } = player.state.poll;
    player.now += 10;
    player.send({ type: 'refresh-requested', byPerson: true });
    expect(player.state.poll.refreshAt).toBe(refreshAt);
    player.after(100);
    expect(player.asked('poll')).toHaveLength(1);
  });
});
