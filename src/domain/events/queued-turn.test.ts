import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { BASE, FAULT, OPEN, ci, comment, look, ok, progress, startTurn, watching } from '../../../test/support/watched.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { ReactionSettings } from '../model/settings.ts';
import type { Trust } from '../model/settings.ts';

const reviews = (trust: Trust) => ({ review_comments: { ...BASE, debounceMs: 0, trust } });
const given = (player: Player) => {
  const claim = player.state.claims.get('1');
  return claim?.phase === 'waiting' && claim.then.kind === 'run'
    ? claim.then.reaction?.reviewComments?.map(({ id }) => id)
    : null;
};

/** The operator edits the workflow file. */
function edit(player: Player, reactions: Partial<ReactionSettings>): void {
  const { settings } = player.state;
  player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, ...reactions } } });
}

/** Another process takes up what was stored. */
function restarted(player: Player): Player {
  const { settings, claims, watches } = player.state;
  const next = createPlayer(
    { ...settings },
    { ...NOTHING_DURABLE, claims: [...claims.values()], watches: [...watches.values()] },
  );
  next.now = player.now;
  return next;
}

/** A turn for a stranger's comment and a colleague's is queued and has not begun. */
function queued(): Player {
  const player = watching(reviews('anyone'));
  look(player, { reviews: ok([comment('stranger'), comment('colleague', { reviewer: 'ann' })]) });
  expect(given(player)).toEqual(['stranger', 'colleague']);
  return player;
}

describe('a turn that is queued when the workflow is edited', () => {
  it('does not begin before the request was looked at under the new settings', () => {
    const player = queued();
    edit(player, { on: reviews('collaborators') });
    player.after(1_000);
    expect(player.asked('read-issue')).toEqual([]);
    expect(player.everAsked('inspect').at(-1)?.settings).toBe(player.state.settings);
  });

  it('is given only what those say who still count', () => {
    const player = queued();
    edit(player, { on: reviews('collaborators') });
    look(player, { reviews: ok([comment('colleague', { reviewer: 'ann' })]) });
    expect(given(player)).toEqual(['colleague']);
    startTurn(player);
  });

  it('is dropped when nobody is left who counts, and costs nothing', () => {
    const player = queued();
    edit(player, { on: reviews('collaborators') });
    look(player, { reviews: ok([]) });
    player.after(10_000);
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'review_comments')?.used).toBe(0);
    expect(player.everTold('reaction:turn:dropped')).toHaveLength(1);
    look(player, { reviews: ok([comment('later', { reviewer: 'ann' })]) });
    expect(given(player)).toEqual(['later']);
  });

  it('waits while the request cannot be read, and keeps its place', () => {
    const player = queued();
    edit(player, { on: reviews('collaborators') });
    look(player, { reviews: { ok: false, fault: FAULT } });
    player.after(1_000);
    expect(given(player)).toEqual(['stranger', 'colleague']);
    expect(player.asked('read-issue')).toEqual([]);
    look(player, { reviews: ok([comment('colleague', { reviewer: 'ann' })]) }, 60_000);
    expect(given(player)).toEqual(['colleague']);
  });

  it.each([
    ['the reaction is switched off', { on: { merge_conflicts: BASE } }],
    ['its project is no longer one of ours', { projects: ['other/place'] }],
  ])('is dropped when %s', (_name, reactions) => {
    const player = queued();
    edit(player, reactions);
    player.after(1_000);
    expect(player.state.claims.size).toBe(0);
    expect(player.everAsked('read-issue')).toEqual([]);
  });

  it('is dropped when the request turns out to be gone', () => {
    const player = queued();
    edit(player, { on: reviews('collaborators') });
    look(player, { merge: ok(null) });
    look(player, { merge: ok(null) }, 60_000);
    player.after(1_000);
    expect(player.state.claims.size).toBe(0);
  });

  it('of another kind begins once the request was seen to be ours still', () => {
    const player = watching({ ci_failure: { ...BASE, maxLogLines: 5 } });
    look(player, { ci: ci('failing') });
    edit(player, {});
    look(player, { ci: ci('failing') });
    startTurn(player);
  });
});

describe('a turn that is queued when the service stops', () => {
  it('is judged again under the settings of the next start', () => {
    const player = restarted(queued());
    player.after(1_000);
    expect(player.everAsked('read-issue')).toEqual([]);
    look(player, { reviews: ok([comment('colleague', { reviewer: 'ann' })]) });
    expect(given(player)).toEqual(['colleague']);
    startTurn(player);
  });

  it('and had begun goes on with the comments that its own push made outdated', () => {
    const running = queued();
    startTurn(running);
    const player = restarted(running);
    look(player, {
      merge: ok({ ...OPEN, headSha: 'sha2' }),
      reviews: ok([comment('colleague', { reviewer: 'ann', outdated: true })]),
    });
    expect(given(player)).toEqual(['colleague']);
    player.after(0);
    player.send({ type: 'issue-read', issueId: '1', issue: ok(issueWith({ id: '1', state: 'review' })) });
    expect(player.state.live.has('1')).toBe(true);
  });
});
