import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';

const BLOCKED = { status: { word: 'blocked', statement: 'no key' } } as const;
const inState = (state: string) => [issueWith({ id: '1', state })];

function running(): Player {
  const player = createPlayer(settingsWith());
  player.poll(inState('todo'));
  player.send({ type: 'state-seen', issueId: '1', runId: 'run-1', state: 'in progress' });
  return player;
}

describe('an issue whose state changed before it was parked', () => {
  it('stays parked when its agent had moved it back before it said that it is blocked', () => {
    const player = running();
    player.exit('1', BLOCKED);
    player.poll(inState('todo'), { 1: 'todo' });
    player.poll(inState('todo'), { 1: 'todo' });
    expect(player.state.parked.get('1')?.reason).toBe('blocked');
    expect(player.everAsked('start-run')).toHaveLength(1);
    player.poll(inState('in progress'), { 1: 'in progress' });
    expect(player.state.parked.has('1')).toBe(false);
  });

  it('stays parked when a person had moved it before it was stopped', () => {
    const player = createPlayer(settingsWith());
    player.poll(inState('todo'));
    player.operator({ kind: 'stop', identifier: 'T-1' });
    player.exit('1', { kind: 'cancelled' });
    player.poll(inState('in progress'), { 1: 'in progress' });
    expect(player.state.parked.get('1')).toMatchObject({ reason: 'stopped_by_operator', issue: { state: 'in progress' } });
  });

  it('stays parked when the service died before its run could be stopped', () => {
    const before = running();
    before.operator({ kind: 'stop', identifier: 'T-1' });
    const player = createPlayer(settingsWith(), { ...NOTHING_DURABLE, claims: [...before.state.claims.values()] });
    player.poll(inState('in progress'), { 1: 'in progress' });
    expect(player.state.parked.get('1')?.reason).toBe('stopped_by_operator');
  });

  it('stays parked when the list it was parked from was behind', () => {
    const spent = { issueId: '1', sessions: 1, tokens: 0, costUsd: 0 };
    const player = createPlayer(settingsWith({ agent: { maxSessions: 1 } }), { ...NOTHING_DURABLE, spent: [spent] });
    player.poll(inState('todo'));
    expect(player.state.poll.nextAt).toBe(player.now);
    player.poll(inState('in progress'), { 1: 'in progress' });
    expect(player.state.parked.get('1')?.reason).toBe('session_budget');
  });
});

describe('an issue that was just parked', () => {
  it('is read at once, so that a move of a person after that releases it', () => {
    const player = running();
    player.exit('1', BLOCKED);
    player.after(0);
    expect(player.asked('poll')[0]?.lookups).toEqual(['1']);
  });

  it('is read again after a poll that was under way', () => {
    const player = running();
    player.now = player.state.poll.nextAt;
    player.send({ type: 'clock' });
    player.exit('1', BLOCKED);
    const states = { ok: true, value: new Map([['1', 'in progress']]) } as const;
    player.send({ type: 'poll-answered', candidates: { ok: true, value: [] }, states, preflightProblem: null });
    expect(player.state.poll.nextAt).toBe(player.now);
    player.poll(inState('todo'), { 1: 'todo' });
    expect(player.state.parked.has('1')).toBe(true);
  });

  it('is read when the tracker may be asked again, where it asked to be left alone', () => {
    const player = running();
    player.send({ type: 'polls-postponed', byMs: 600_000, error: 'too many requests', remedy: '' });
    const { nextAt } = player.state.poll;
    player.exit('1', BLOCKED);
    expect(player.state.poll.nextAt).toBe(nextAt);
  });

  it('is released when it is read in a terminal state', () => {
    const player = running();
    player.exit('1', BLOCKED);
    player.poll([], { 1: 'done' });
    expect(player.state.parked.has('1')).toBe(false);
    expect(player.asked('remove-workspace')).toHaveLength(1);
  });

  it('does not keep others from being read when it is not found', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 30 } }));
    const issues = Array.from({ length: 25 }, (_, index) => issueWith({ id: String(index) }));
    player.poll(issues);
    for (const { id } of issues) player.exit(id, BLOCKED);
    const read = new Set<string>();
    for (let round = 0; round < 3; round += 1) {
      player.now = player.state.poll.nextAt;
      player.send({ type: 'clock' });
      for (const id of player.asked('poll')[0]?.lookups ?? []) read.add(id);
      const states = { ok: true, value: new Map() } as const;
      player.send({ type: 'poll-answered', candidates: { ok: true, value: [] }, states, preflightProblem: null });
    }
    expect(read.size).toBe(25);
  });
});
