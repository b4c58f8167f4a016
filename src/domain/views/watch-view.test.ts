import { describe, expect, it } from 'vitest';
import { BASE, FAULT, look, watching } from '../../../test/support/watched.ts';
import type { Player } from '../../../test/support/core.ts';
import { snapshotOf } from './snapshot.ts';

describe('a reaction as it is shown', () => {
  const HOUR = 3_600_000;
  const shown = ({ state, now }: Player) => snapshotOf(state, now).watches[0]?.reactions;

  it('has no next check once its window is over, and waits for nothing', () => {
    const player = watching({ ci_failure: { ...BASE, maxLogLines: 0, watchWindowMs: HOUR }, merge_conflicts: BASE });
    look(player, { ci: { ok: false, fault: FAULT } });
    expect(shown(player)?.ci_failure).toMatchObject({ waitingFor: `a readable answer: ${FAULT.message}` });
    expect(shown(player)?.ci_failure?.nextAt).toBeGreaterThan(player.now);
    player.after(2 * HOUR);
    expect(shown(player)?.ci_failure).toMatchObject({ waitingFor: 'nothing: its watch window is over', nextAt: null });
    expect(shown(player)?.merge_conflicts?.nextAt).not.toBeNull();
  });

  it('has none while it is switched off', () => {
    const player = watching({ merge_conflicts: BASE });
    const { settings } = player.state;
    player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, on: {} } } });
    expect(shown(player)?.merge_conflicts).toMatchObject({ waitingFor: 'nothing: it is switched off', nextAt: null });
  });
});
