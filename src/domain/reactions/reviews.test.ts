import { describe, expect, it } from 'vitest';
import { FAULT, BASE, ok, watching, look, progress, finishTurn, ci, comment } from '../../../test/support/watched.ts';

describe('review_comments and bot_review', () => {
  const reactions = { review_comments: { ...BASE, budget: 2, debounceMs: 1_000, trust: 'anyone' as const } };

  it('starts a turn for a new comment, with all that remain, and none for those given before', () => {
    const player = watching(reactions);
    look(player, { reviews: ok([comment('a'), comment('old', { outdated: true })]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { reviewComments: [{ id: 'a' }] } } });
    finishTurn(player);
    look(player, { reviews: ok([comment('a')]) });
    expect(player.state.claims.size).toBe(0);
    look(player, { reviews: ok([comment('a'), comment('b')]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { reviewComments: [{ id: 'a' }, { id: 'b' }] } } });
  });

  it('lets the reviewer finish', () => {
    const player = watching(reactions);
    look(player, { reviews: ok([comment('a', { submittedAt: new Date(player.now).toISOString() })]) });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'review_comments')?.nextAt).toBe(player.now + 1_000);
  });

  it('waits for the reviewer no longer where the clock of the forge is ahead', () => {
    const player = watching(reactions);
    const ahead = comment('a', { submittedAt: new Date(player.now + 3_600_000).toISOString() });
    look(player, { reviews: ok([ahead]) });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'review_comments')?.nextAt).toBe(player.now + 1_000);
    look(player, { reviews: ok([ahead]) }, 1_000);
    expect(player.state.claims.size).toBe(1);
  });

  it('asks a person only for a new comment after the budget is spent', () => {
    const player = watching({ review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const } });
    look(player, { reviews: ok([comment('a')]) });
    finishTurn(player);
    look(player, { reviews: ok([comment('a')]) });
    expect(player.state.outbox.size).toBe(0);
    look(player, { reviews: ok([comment('a'), comment('b')]) });
    expect(player.state.outbox.size).toBe(1);
  });

  it('a listed bot does not drive the loop for people', () => {
    const player = watching({ ...reactions, bot_review: { ...BASE, botUsernames: ['Lint-Bot'], trust: 'anyone' as const } });
    look(player, {
      reviews: ok([comment('a', { reviewer: 'lint-bot' })]),
      botReviews: ok([comment('a', { reviewer: 'lint-bot' })]),
    });
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'bot_review' } });
    expect(progress(player, 'review_comments')?.used).toBe(0);
  });

  it('a second kind waits for the run that is queued', () => {
    const player = watching({ ...reactions, ci_failure: { ...BASE, maxLogLines: 5 } });
    look(player, { ci: ci('failing'), reviews: ok([comment('a')]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'ci_failure' } });
    expect(progress(player, 'review_comments')).toMatchObject({ used: 0, mark: { at: 'none' } });
  });

  it("never gives back what the token's own account wrote, unless bot_usernames names it", () => {
    const own = { self: ok('foray-bot') };
    const people = watching(reactions);
    look(people, { ...own, reviews: ok([comment('a', { reviewer: 'Foray-Bot' })]) });
    expect(people.state.claims.size).toBe(0);
    const bots = (botUsernames: readonly string[]) => {
      const player = watching({ bot_review: { ...BASE, botUsernames, trust: 'anyone' as const } });
      look(player, { ...own, botReviews: ok([comment('a', { reviewer: 'foray-bot' })]) });
      return player.state.claims.size;
    };
    expect(bots([])).toBe(0);
    expect(bots(['foray-bot'])).toBe(1);
  });

  it('hears nobody while it is not known who we are, and everybody where the forge will never say', () => {
    const player = watching({ ...reactions, bot_review: { ...BASE, botUsernames: [], trust: 'anyone' as const } });
    const said = { reviews: ok([comment('a')]), botReviews: ok([comment('b')]) };
    look(player, { ...said, self: { ok: false, fault: FAULT } });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'bot_review')?.waitingFor).toContain(FAULT.message);
    const refused = { ...FAULT, kind: 'tracker_auth_error' } as const;
    look(player, { ...said, self: { ok: false, fault: { ...refused, isUnauthorized: true } } }, 300_000);
    expect(player.state.claims.size).toBe(0);
    look(player, { ...said, self: { ok: false, fault: refused } }, 300_000);
    expect(player.state.claims.size).toBe(1);
  });

  it('tells once, and of what follows from it, that the forge will never say who we are', () => {
    const player = watching(reactions);
    const self = { ok: false, fault: { ...FAULT, kind: 'tracker_not_found' } } as const;
    look(player, { reviews: ok([]), self });
    look(player, { reviews: ok([comment('a')]), self });
    expect(player.everTold('reaction:account:unknown')).toMatchObject([{ facts: { error: FAULT.message } }]);
    expect(player.everTold('reaction:read:failed')).toEqual([]);
  });
});
