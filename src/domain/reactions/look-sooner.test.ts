import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { BASE, look, progress, watching } from '../../../test/support/watched.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { ReactionSettings } from '../model/settings.ts';

const SLOW = { ...BASE, pollIntervalMs: 600_000 };

function edit(player: Player, on: ReactionSettings['on']): void {
  const { settings } = player.state;
  player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, on } } });
}

/** Looked at once; the next look is ten minutes away. */
function resting(): Player {
  const player = watching({ merge_conflicts: SLOW });
  look(player, {});
  expect(progress(player, 'merge_conflicts')?.nextAt).toBe(player.now + 600_000);
  return player;
}

describe('a request whose next look is far away', () => {
  it('is looked at within an interval that was edited', () => {
    const player = resting();
    edit(player, { merge_conflicts: { ...SLOW, pollIntervalMs: 20_000 } });
    player.after(19_999);
    expect(player.everAsked('inspect')).toHaveLength(1);
    player.after(1);
    expect(player.everAsked('inspect')).toHaveLength(2);
  });

  it('is looked at now when anything else of its reaction was edited', () => {
    const player = resting();
    edit(player, { merge_conflicts: { ...SLOW, budget: 5 } });
    player.after(0);
    expect(player.everAsked('inspect')).toHaveLength(2);
  });

  it('is looked at now when its reaction was switched off and on', () => {
    const player = resting();
    edit(player, {});
    edit(player, { merge_conflicts: SLOW });
    player.after(0);
    expect(player.everAsked('inspect')).toHaveLength(2);
  });

  it.each([
    ['the same settings', { merge_conflicts: { ...SLOW } }],
    ['another reaction', { merge_conflicts: SLOW, ci_failure: { ...SLOW, maxLogLines: 0 } }],
  ])('keeps its time under an edit that brings %s', (_name, on) => {
    const player = resting();
    const { nextAt } = progress(player, 'merge_conflicts') ?? {};
    edit(player, on);
    expect(progress(player, 'merge_conflicts')?.nextAt).toBe(nextAt);
  });

  it('is looked at within an interval that was edited while nothing ran', () => {
    const { state, now } = resting();
    const { settings } = state;
    const on = { merge_conflicts: { ...SLOW, pollIntervalMs: 20_000 } };
    const durable = { ...NOTHING_DURABLE, watches: [...state.watches.values()] };
    const player = createPlayer({ ...settings, reactions: { ...settings.reactions, on } }, durable);
    expect(progress(player, 'merge_conflicts')?.nextAt).toBeLessThanOrEqual(now + 20_000);
  });

  it('is not looked at together with all the others', () => {
    const player = resting();
    const [watch] = player.state.watches.values();
    if (!watch) throw new Error('nothing is watched');
    const many = Array.from({ length: 1_000 }, (_, index) => {
      const id = String(index + 1);
      return [id, { ...watch, issue: { ...watch.issue, id } }] as const;
    });
    player.state = { ...player.state, watches: new Map(many) };
    edit(player, { merge_conflicts: { ...SLOW, budget: 5 } });
    const due = [...player.state.watches.values()].map(({ reactions }) => reactions.merge_conflicts?.nextAt);
    expect(new Set(due).size).toBe(1_000);
    expect(Math.max(...due.map(Number))).toBeLessThan(player.now + 60_000);
  });
});
