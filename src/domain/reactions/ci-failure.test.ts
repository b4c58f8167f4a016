import { describe, expect, it } from 'vitest';
import { BASE, OPEN, ok, watching, look, progress, startTurn, finishTurn, ci } from '../../../test/support/watched.ts';

describe('ci_failure', () => {
  const reactions = { ci_failure: { ...BASE, maxLogLines: 5 } };

  it('gives a turn with the failure, from the handoff state, once per head', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    expect(player.state.claims.get('1')).toMatchObject({
      phase: 'waiting',
      then: { trigger: 'ci_failure', reaction: { ciFailure: { failingCount: 1, logExcerpt: 'log', ref: 'sha1' } } },
    });
    look(player, { ci: ci('failing') });
    expect(progress(player, 'ci_failure')?.used).toBe(1);
  });

  it.each(['pending', 'success'] as const)(
    'looks again after its interval while CI is %s, and says what it waits for',
    (status) => {
      const player = watching(reactions);
      look(player, { ci: ci(status) });
      expect(progress(player, 'ci_failure')).toMatchObject({
        nextAt: player.now + BASE.pollIntervalMs,
        waitingFor: status === 'pending' ? 'CI to finish' : 'the next push',
      });
    },
  );

  it('waits while CI is pending, and goes on judging after green', () => {
    const player = watching(reactions);
    look(player, { ci: ci('pending') });
    look(player, { ci: ci('success') });
    expect(player.state.claims.size).toBe(0);
    look(player, { merge: ok({ ...OPEN, headSha: 'sha2' }), ci: ci('failing', 'sha2') });
    expect(player.state.claims.size).toBe(1);
  });

  it('asks a person once per head when the budget is spent', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    finishTurn(player, 'sha2');
    look(player, { merge: ok({ ...OPEN, headSha: 'sha2' }), ci: ci('failing', 'sha2') });
    expect([...player.state.outbox.values()].map((entry) => entry.write)).toEqual([{ kind: 'label', label: 'needs-human' }]);
    look(player, { merge: ok({ ...OPEN, headSha: 'sha2' }), ci: ci('failing', 'sha2') });
    expect(player.told('reaction:escalation:raised')).toHaveLength(0);
    expect(progress(player, 'ci_failure')?.waitingFor).toBe('a person: CI fails on sha2 after 1 fix turns');
  });

  it('a head that somebody else pushed has a new budget', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    finishTurn(player, 'sha2');
    look(player, { merge: ok({ ...OPEN, headSha: 'sha2' }), ci: ci('pending', 'sha2') });
    look(player, { merge: ok({ ...OPEN, headSha: 'theirs' }), ci: ci('failing', 'theirs') });
    expect(player.state.claims.get('1')?.phase).toBe('waiting');
  });

  it('a head first seen after a run of ours is ours, whatever its scm.json says or does not say', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    startTurn(player);
    player.exit('1', { scm: null });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, headSha: 'unsaid' }), ci: ci('failing', 'unsaid') });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'ci_failure')).toMatchObject({ used: 1, escalated: true });
  });

  it('green does not give the budget back', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    finishTurn(player);
    look(player, { ci: ci('success') });
    look(player, { ci: ci('failing') });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'ci_failure')).toMatchObject({ used: 1, escalated: true });
  });

  it('our own push counts as ours, also while its run still goes on', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    startTurn(player);
    look(player, { merge: ok({ ...OPEN, headSha: 'sha2' }), ci: ci('pending', 'sha2') });
    finishTurn(player, 'sha2');
    look(player, { merge: ok({ ...OPEN, headSha: 'sha2' }), ci: ci('failing', 'sha2') });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'ci_failure')?.escalated).toBe(true);
  });

  it('our own push counts as ours by a short or differently spelled commit id', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    finishTurn(player, 'ABCDEF0');
    look(player, { merge: ok({ ...OPEN, headSha: 'abcdef0123' }), ci: ci('failing', 'abcdef0123') });
    expect(progress(player, 'ci_failure')?.escalated).toBe(true);
  });

  it('an operator gives an escalated reaction another try', () => {
    const player = watching({ ci_failure: { ...BASE, budget: 0, maxLogLines: 5 } });
    look(player, { ci: ci('failing') });
    expect(progress(player, 'ci_failure')?.escalated).toBe(true);
    player.operator({ kind: 'unpark', identifier: 'T-1' });
    expect(progress(player, 'ci_failure')).toMatchObject({ escalated: false, used: 0 });
  });
});
