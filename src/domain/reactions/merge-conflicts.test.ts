import { describe, expect, it } from 'vitest';
import { BASE, OPEN, ok, watching, look, progress, startTurn, finishTurn } from '../../../test/support/watched.ts';

describe('merge_conflicts', () => {
  it.each([
    ['dirty', true],
    ['unknown', false],
    ['clean', false],
    ['blocked', false],
    ['unstable', false],
  ] as const)('%s', (mergeability, turn) => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, mergeability }) });
    expect(player.state.claims.has('1')).toBe(turn);
  });

  it('asks nobody while the turn that resolves it still runs', () => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    startTurn(player);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty', headSha: 'half done' }) });
    expect(progress(player, 'merge_conflicts')?.escalated).toBe(false);
  });

  it('tells branch, head and base', () => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    const mergeConflict = { prNumber: 7, branch: 'b', headSha: 'sha1', base: 'main' };
    expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { mergeConflict } } });
  });

  it.each(['blocked', 'unknown', 'unstable'] as const)('a reading that is %s does not give the budget back', (mergeability) => {
    const player = watching({ merge_conflicts: BASE });
    const dirty = { merge: ok({ ...OPEN, mergeability: 'dirty' as const }) };
    look(player, dirty);
    finishTurn(player);
    look(player, { merge: ok({ ...OPEN, mergeability }) });
    look(player, dirty);
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'merge_conflicts')?.escalated).toBe(true);
    look(player, {});
    look(player, dirty);
    expect(player.state.claims.size).toBe(1);
  });
});
