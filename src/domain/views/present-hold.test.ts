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
