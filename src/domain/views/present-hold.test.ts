import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { WaitingClaim } from '../model/claim.ts';
import type { State } from '../model/state.ts';
import { snapshotOf, type Snapshot } from './snapshot.ts';

const ONE = issueWith({ id: '1' });
const FAULT = { kind: 'turn_failed', message: 'agent: turn_failed: it broke', consequence: 'back-off' } as const;

/** Its run failed, and a poll has seen it since. */
function retrying(): { readonly player: Player; readonly dueAt: number } {
  const player = createPlayer(
    settingsWith({ agent: { kind: 'mock', maxConcurrentAgents: 1 }, rest: { polling: { intervalMs: 1_000 } } }),
  );
  player.poll([ONE]);
  player.exit('1', { kind: 'error', fault: FAULT });
  player.poll([ONE]);
  return { player, dueAt: (player.state.claims.get('1') as WaitingClaim).dueAt };
}

const shown = ({ holds, retryHolds }: Snapshot) => [holds[0]?.reason, retryHolds.get('1')?.reason ?? null];

describe('a retry', () => {
  it.each<[string, Partial<State>]>([
    ['paused', { operatorPause: { reason: 'release day', by: 'somebody', since: 0 } }],
    ['preflight_failed', { preflightProblem: 'claude is not on the PATH' }],
    ['agent_paused', { pauses: new Map([['mock', { agentKind: 'mock', until: 9e12, reason: 'usage limit' }]]) }],
    ['no_global_slot', { occupied: 1 }],
    ['draining', { lifecycle: 'draining' }],
  ])('that is due names what holds it: %s', (reason, change) => {
    const { player, dueAt } = retrying();
    const state = { ...player.state, ...change };
    expect(shown(snapshotOf(state, dueAt - 1))).toEqual(['retrying', null]);
    expect(shown(snapshotOf(state, dueAt))).toEqual([reason, reason]);
  });

  it('that is being read before it starts is held by nothing', () => {
    const { player, dueAt } = retrying();
    player.after(dueAt - player.now);
    expect(player.asked('read-issue')).toHaveLength(1);
    expect(shown(snapshotOf({ ...player.state, occupied: 1 }, player.now))).toEqual(['retrying', null]);
  });
});

describe('the time of a hold', () => {
  const since = ({ state, now }: Player, at = now): number | undefined => snapshotOf(state, at).holds[0]?.since;

  it('of an issue parked since the last poll is that of the parking', () => {
    const { player } = retrying();
    player.now += 3_000;
    player.operator({ kind: 'stop', identifier: 'T-1' });
    expect(since(player)).toBe(player.state.parked.get('1')?.parkedAt);
  });

  it('of a pause since the last poll is that of the pause', () => {
    const player = createPlayer(settingsWith({ agent: { maxConcurrentAgents: 1 } }));
    player.poll([issueWith({ id: '2' }), ONE]);
    player.now += 3_000;
    player.operator({ kind: 'pause', reason: '' });
    expect(since(player)).toBe(player.now);
  });

  it('of a retry that is due and held is that at which it fell due', () => {
    const { player, dueAt } = retrying();
    player.operator({ kind: 'pause', reason: '' });
    expect(since(player, dueAt + 5_000)).toBe(dueAt);
  });
});
