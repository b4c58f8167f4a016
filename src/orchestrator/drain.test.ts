import { describe, expect, it } from 'vitest';
import { createPlayer } from '../../test/support/core.ts';
import { issueWith } from '../../test/support/issues.ts';
import { settingsWith } from '../../test/support/settings.ts';
import { isDrained } from '../domain/decide.ts';
import { nextWake } from '../domain/events/on-clock.ts';
import { EFFECTS, type AskedName } from '../domain/model/effect.ts';

const settings = settingsWith({ agent: { stopGraceMs: 5_000 } });

describe('a stop ends', () => {
  it.each(Object.keys(EFFECTS) as AskedName[])('although %s never answers', (name) => {
    const player = createPlayer(settings);
    player.state = { ...player.state, pending: { [name]: new Map([['it', true]]) } };
    player.send({ type: 'stop-requested' });
    expect(isDrained(player.state, player.now)).toBe(!EFFECTS[name].isWrite);
    const deadline = player.now + 15_000;
    expect(nextWake(player.state)).toBeLessThanOrEqual(deadline);
    player.after(15_000);
    expect(isDrained(player.state, player.now)).toBe(true);
    const isTold = EFFECTS[name].isWrite && name !== 'start-run';
    expect(player.told('daemon:drain:cut')).toHaveLength(isTold ? 1 : 0);
  });

  it('soon although a receiver of messages hangs, which is told again after the next start', () => {
    const target = { name: 'OPS', url: 'https://ops.test/', format: 'json', on: ['paused'], secret: null } as const;
    const player = createPlayer(settingsWith({ agent: { stopGraceMs: 5_000 }, rest: { notifications: [target] } }));
    player.operator({ kind: 'pause', reason: '' });
    player.after(0);
    expect(player.asked('write-out')).toHaveLength(1);
    const asked = player.now;
    player.send({ type: 'stop-requested' });
    expect(isDrained(player.state, player.now)).toBe(false);
    player.now = nextWake(player.state);
    player.send({ type: 'clock' });
    expect(player.now).toBe(asked + 2_000);
    expect(isDrained(player.state, player.now)).toBe(true);
    expect(player.everTold('daemon:drain:cut')).toEqual([]);
    expect(player.state.outbox.size).toBe(1);
  });

  it('although a session does not end, and says so', () => {
    const player = createPlayer(settings);
    player.poll([issueWith({ id: '1' })]);
    player.send({ type: 'stop-requested' });
    player.after(14_999);
    expect(isDrained(player.state, player.now)).toBe(false);
    player.after(1);
    expect(isDrained(player.state, player.now)).toBe(true);
    expect(player.told('daemon:drain:cut')).toMatchObject([{ facts: { running: 1 } }]);
  });

  it('without trying a handoff again that failed before: the next start does', () => {
    const player = createPlayer(settings);
    player.poll([issueWith({ id: '1' })]);
    player.exit('1');
    const runId = player.asked('hand-off')[0]?.handoff.runId ?? '';
    const fault = { kind: 'tracker_transport_error', message: 'refused', consequence: 'back-off' } as const;
    player.send({ type: 'handoff-answered', issueId: '1', runId, outcome: { kind: 'failed', fault } });
    player.send({ type: 'stop-requested' });
    expect(isDrained(player.state, player.now)).toBe(true);
    player.after(60_000);
    expect(player.asked('hand-off')).toEqual([]);
  });
});
