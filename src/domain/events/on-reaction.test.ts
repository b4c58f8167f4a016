import { describe, expect, it } from 'vitest';
import {
  BASE,
  OPEN,
  FAULT,
  ok,
  watching,
  look,
  answerLook,
  progress,
  startTurn,
  finishTurn,
  ci,
  comment,
} from '../../../test/support/watched.ts';

describe('watching', () => {
  it('is armed by a normal exit with a merge request, also after a handoff', () => {
    expect(watching({ merge_conflicts: BASE }).state.watches.get('1')).toMatchObject({
      mergeRequest: { number: 7, sha: 'sha1' },
    });
  });

  it.each([
    ['the forge no longer has it', { merge: ok(null) }],
    ['it was closed', { merge: ok({ ...OPEN, closed: true }) }],
    ['it was merged and nothing is left to do', { merge: ok({ ...OPEN, merged: true }) }],
    ['the issue is terminal', { issueState: ok('done') }],
  ])('ends when %s', (_name, findings) => {
    const player = watching({ merge_conflicts: BASE });
    look(player, findings);
    expect(player.state.watches.size).toBe(0);
  });

  it('ends when every window is over', () => {
    const player = watching({ merge_conflicts: { ...BASE, watchWindowMs: 5_000 } });
    look(player, { merge: ok({ ...OPEN, mergeability: 'unknown' }) });
    player.after(20_000);
    expect(player.state.watches.size).toBe(0);
  });

  it('a look that began before a run ended is not judged: it may have seen the head before the push', () => {
    const player = watching({ ci_failure: { ...BASE, budget: 2, maxLogLines: 5 }, merge_conflicts: BASE });
    look(player, { ci: ci('failing') });
    startTurn(player);
    player.after(10_000);
    const [early] = player.asked('inspect');
    finishTurn(player, 'sha2');
    if (early) answerLook(player, early, { ci: ci('failing') });
    expect(early).toBeDefined();
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'ci_failure')?.used).toBe(1);
  });

  it('a turn waits while the issue is in a state that it may not start from', () => {
    const player = watching({ review_comments: { ...BASE, debounceMs: 0 } });
    look(player, { issueState: ok('on hold'), reviews: ok([comment('a')]) });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'review_comments')).toMatchObject({ used: 0, mark: { at: 'none' } });
    look(player, { issueState: ok('review'), reviews: ok([comment('a')]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { reviewComments: [{ id: 'a' }] } } });
  });

  it('a failed look waits longer each time and spends nothing', () => {
    const player = watching({ ci_failure: { ...BASE, maxLogLines: 5 } });
    look(player, { merge: { ok: false, fault: FAULT } });
    expect(progress(player, 'ci_failure')).toMatchObject({ used: 0, failures: 1, nextAt: player.now + 20_000 });
  });
});

describe('a merge by whomever', () => {
  it('lets a queued turn go, which would work on what is over', () => {
    const player = watching({ review_comments: { ...BASE, debounceMs: 0 }, merge_completion: { ...BASE, targetState: 'done' } });
    look(player, { reviews: ok([comment('a')]) });
    expect(player.state.claims.size).toBe(1);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.state.claims.size).toBe(0);
    expect(player.asked('complete')).toHaveLength(1);
  });

  it('waits for a run that goes on', () => {
    const player = watching({ review_comments: { ...BASE, debounceMs: 0 }, merge_completion: { ...BASE, targetState: 'done' } });
    look(player, { reviews: ok([comment('a')]) });
    startTurn(player);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toHaveLength(0);
    expect(player.state.live.size).toBe(1);
  });
});
