import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import {
  BASE,
  FAULT,
  OPEN,
  ci,
  comment,
  finishTurn,
  look,
  ok,
  progress,
  startTurn,
  watching,
} from '../../../test/support/watched.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { Answer } from '../model/fault.ts';
import type { Findings } from '../model/findings.ts';
import type { Issue } from '../model/issue.ts';
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

describe('a turn that waits for a slot is dropped, and costs nothing, once', () => {
  const pushed = ok({ ...OPEN, headSha: 'sha2' });
  const dirty = ok({ ...OPEN, mergeability: 'dirty' } as const);
  it.each<[string, ReactionSettings['on'], Partial<Findings>, Partial<Findings>]>([
    ['CI passes after all', { ci_failure: { ...BASE, maxLogLines: 5 } }, { ci: ci('failing') }, { ci: ci('success') }],
    [
      'somebody pushes to a failing request',
      { ci_failure: { ...BASE, maxLogLines: 5 } },
      { ci: ci('failing') },
      { ci: ci('pending', 'sha2'), merge: pushed },
    ],
    ['the conflict is gone', { merge_conflicts: BASE }, { merge: dirty }, { merge: ok(OPEN) }],
    ['somebody pushes to a conflicting one', { merge_conflicts: BASE }, { merge: dirty }, { merge: pushed }],
    ['the review is dismissed', reviews('anyone'), { reviews: ok([comment('1')]) }, { reviews: ok([]) }],
    [
      'a push makes the comment outdated',
      reviews('anyone'),
      { reviews: ok([comment('1')]) },
      { reviews: ok([comment('1', { outdated: true })]), merge: pushed },
    ],
    [
      'a push makes the finding of a bot outdated',
      { bot_review: { ...BASE, botUsernames: [], trust: 'anyone' } },
      { botReviews: ok([comment('1')]) },
      { botReviews: ok([comment('1', { outdated: true })]), merge: pushed },
    ],
  ])('%s', (_name, on, before, after) => {
    const player = watching(on);
    look(player, before);
    expect(player.state.claims.get('1')?.phase).toBe('waiting');
    look(player, after, 60_000);
    expect(player.state.claims.size).toBe(0);
    expect(player.everTold('reaction:turn:dropped')).toHaveLength(1);
    const [kind] = Object.keys(on) as [keyof typeof on];
    expect(progress(player, kind)?.used).toBe(0);
  });

  it('but not while one of its comments stands, and begins without those that are outdated', () => {
    const player = watching(reviews('anyone'));
    look(player, { reviews: ok([comment('a'), comment('b')]) });
    look(player, { reviews: ok([comment('a', { outdated: true }), comment('b')]) }, 60_000);
    expect(given(player)).toEqual(['b']);
    startTurn(player);
  });

  it('but not while one of its comments stands, and begins with those that came meanwhile, which start no other', () => {
    const player = watching(reviews('anyone'));
    look(player, { reviews: ok([comment('a')]) });
    const all = { reviews: ok([comment('a'), comment('late')]) };
    look(player, all, 60_000);
    expect(given(player)).toEqual(['a', 'late']);
    finishTurn(player);
    look(player, all);
    expect(player.state.claims.size).toBe(0);
    expect(player.everTold('reaction:turn:queued')).toHaveLength(1);
  });

  it('also where only comments are left that an earlier run was given', () => {
    const player = watching({ review_comments: { ...BASE, budget: 2, debounceMs: 0, trust: 'anyone' } });
    look(player, { reviews: ok([comment('a')]) });
    finishTurn(player);
    look(player, { reviews: ok([comment('a'), comment('b')]) });
    expect(given(player)).toEqual(['a', 'b']);
    look(player, { reviews: ok([comment('a')]) }, 60_000);
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'review_comments')?.used).toBe(1);
  });

  it('but not while CI runs again, and begins with what fails then', () => {
    const player = watching({ ci_failure: { ...BASE, maxLogLines: 5 } });
    look(player, { ci: ci('failing') });
    look(player, { ci: ci('pending') }, 60_000);
    expect(player.state.claims.get('1')?.phase).toBe('waiting');
    look(player, { ci: ci('failing') }, 60_000);
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

describe('a turn that is queued and let go before it begins', () => {
  const labels = ok([{ id: '1', label: 'foray:fix', added: true, actor: 'eve', at: '2026-01-01T00:00:00Z' }]);
  const kinds = [
    ['ci_failure', { ci_failure: { ...BASE, maxLogLines: 5 } }, { ci: ci('failing') }],
    ['review_comments', reviews('anyone'), { reviews: ok([comment('a')]) }],
    ['bot_review', { bot_review: { ...BASE, botUsernames: [], trust: 'anyone' } }, { botReviews: ok([comment('a')]) }],
    ['merge_conflicts', { merge_conflicts: BASE }, { merge: ok({ ...OPEN, mergeability: 'dirty' }) }],
    [
      'label_commands',
      { label_commands: { ...BASE, reviewLabel: '', fixLabel: 'foray:fix' } },
      { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels },
    ],
  ] as const satisfies readonly (readonly [string, ReactionSettings['on'], Partial<Findings>])[];
  const ways: readonly (readonly [string, (player: Player, findings: Partial<Findings>) => void])[] = [
    ['its issue is read without a state', (player) => readAs(player, ok(issueWith({ id: '1', state: '' })))],
    ['its issue is not found', (player) => readAs(player, ok(null))],
    ['its issue is somewhere else', (player) => readAs(player, ok(issueWith({ id: '1', state: 'paused' })))],
    ['its request is closed', (player, findings) => look(player, { ...findings, merge: ok({ ...OPEN, closed: true }) })],
    [
      'its reaction is switched off and on',
      (player) => {
        const { on } = player.state.settings.reactions;
        edit(player, { on: {} });
        player.after(1_000);
        edit(player, { on });
      },
    ],
    [
      'a person stops it',
      (player) => {
        player.operator({ kind: 'stop', identifier: 'T-1' });
        player.operator({ kind: 'unpark', identifier: 'T-1' });
      },
    ],
  ];
  const cases = ways.flatMap(([way, letGo]) => kinds.map(([kind, on, findings]) => ({ way, kind, on, findings, letGo })));

  it.each(cases)('since $way is queued anew, once ($kind)', ({ kind, on, findings, letGo }) => {
    const player = watching(on);
    look(player, findings);
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: kind } });
    letGo(player, findings);
    expect(player.state.claims.size).toBe(0);
    expect(player.everTold('reaction:turn:dropped')).toHaveLength(1);
    expect(player.everAsked('remove-label')).toEqual([]);
    expect(progress(player, kind)).toMatchObject({ used: 0, escalated: false });
    look(player, findings, 300_000);
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: kind } });
    expect(progress(player, kind)).toMatchObject({ used: 1 });
    finishTurn(player);
    look(player, findings);
    expect(player.state.claims.size).toBe(0);
  });

  it('waits while the tracker tells no state of the issue', () => {
    const player = watching(reviews('anyone'));
    look(player, { reviews: ok([comment('a')]), issueState: ok('') });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'review_comments')).toMatchObject({
      used: 0,
      waitingFor: 'the tracker to tell the state of the issue',
    });
    look(player, { reviews: ok([comment('a')]) });
    expect(player.state.claims.size).toBe(1);
  });

  it('was begun before, and costs what it cost', () => {
    const player = watching(reviews('anyone'));
    look(player, { reviews: ok([comment('a')]) });
    startTurn(player);
    const next = restarted(player);
    look(next, { reviews: ok([comment('a')]) });
    next.after(0);
    next.send({ type: 'issue-read', issueId: '1', issue: ok(issueWith({ id: '1', state: 'paused' })) });
    expect(next.everTold('reaction:turn:dropped')).toHaveLength(1);
    look(next, { reviews: ok([comment('a')]) });
    expect(next.state.claims.size).toBe(0);
    expect(progress(next, 'review_comments')).toMatchObject({ used: 1, mark: { at: 'given', comments: ['a'] } });
  });
});

/** The queued turn falls due, and the tracker answers of its issue. */
function readAs(player: Player, issue: Answer<Issue | null>): void {
  player.after(1_000);
  player.send({ type: 'issue-read', issueId: '1', issue });
}
