import { describe, expect, it } from 'vitest';
import { BASE, ci, comment, FAULT, look, ok, watching } from '../../../test/support/watched.ts';
import type { Player } from '../../../test/support/core.ts';
import { progressOf } from '../reactions/progress.ts';
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

describe('an issue whose reaction asked for a person, as it is shown', () => {
  const reviews = { ...BASE, budget: 0, debounceMs: 0, trust: 'anyone' as const };
  const shown = ({ state, now }: Player) => snapshotOf(state, now).parked;

  it('is parked since then, for that reason, whatever is looked at later', () => {
    const player = watching({ ci_failure: { ...BASE, budget: 0, maxLogLines: 0 }, review_comments: reviews });
    look(player, { ci: ci('pending'), reviews: ok([]) });
    look(player, { ci: ci('failing'), reviews: ok([]) });
    const since = player.now;
    look(player, { ci: ci('failing'), reviews: ok([comment('a')]) });
    const both = [
      'ci_failure: a person: CI fails on sha1 after 0 fix turns',
      'review_comments: a person: a new comment came after 0 turns',
    ];
    expect(shown(player)).toMatchObject([{ reason: 'escalated', parkedAt: since, detail: both.join('; ') }]);
    look(player, { ci: { ok: false, fault: FAULT }, reviews: ok([comment('a')]) });
    expect(shown(player)).toMatchObject([{ parkedAt: since, detail: both.join('; ') }]);
  });

  it('which an earlier version stored is parked since its request is watched', () => {
    const player = watching({ merge_conflicts: BASE });
    const [watch] = player.state.watches.values();
    const asking = { ...progressOf(watch!, 'merge_conflicts'), escalated: true, waitingFor: 'a person: it conflicts' };
    const state = { ...player.state, watches: new Map([['1', { ...watch!, reactions: { merge_conflicts: asking } }]]) };
    expect(snapshotOf(state, player.now).parked).toMatchObject([
      { parkedAt: watch?.armedAt, detail: 'merge_conflicts: a person: it conflicts' },
    ]);
  });
});
