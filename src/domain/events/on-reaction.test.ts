import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { Findings } from '../model/findings.ts';
import type { NoticeName } from '../model/notice.ts';
import {
  BASE,
  OPEN,
  SCM,
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

/** An edit that names another forge. */
function lookAt(player: Player, forge: string): void {
  const { settings } = player.state;
  player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, forge } } });
}

describe('watching', () => {
  it('is armed by a normal exit with a merge request, also after a handoff', () => {
    expect(watching({ merge_conflicts: BASE }).state.watches.get('1')).toMatchObject({
      mergeRequest: { number: 7, sha: 'sha1' },
    });
  });

  it.each([
    ['it was merged and nothing is left to do', { merge: ok({ ...OPEN, merged: true }) }],
    ['the issue is terminal', { issueState: ok('done') }],
  ])('ends when %s', (_name, findings) => {
    const player = watching({ merge_conflicts: BASE });
    look(player, findings);
    expect(player.state.watches.size).toBe(0);
  });

  it('rests while the request is closed, and goes on where it was once it is opened again', () => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, closed: true }) });
    expect(player.state.watches.get('1')?.reactions.merge_conflicts?.waitingFor).toBe('the merge request to be opened again');
    look(player, { merge: ok({ ...OPEN, closed: true, mergeability: 'dirty' }) });
    expect(player.state.claims.size).toBe(0);
    expect(player.everTold('reaction:request:closed')).toHaveLength(1);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    expect(player.state.claims.size).toBe(1);
  });

  it('ends when the request was closed for a week', () => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, closed: true }) });
    player.after(8 * 24 * 3_600_000);
    look(player, { merge: ok({ ...OPEN, closed: true }) });
    expect(player.state.watches.size).toBe(0);
  });

  it('lets a turn go that was queued for a request which was closed before it began', () => {
    const player = watching({ merge_conflicts: BASE, ci_failure: { ...BASE, maxLogLines: 0 } as never });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    expect(player.state.claims.size).toBe(1);
    look(player, { merge: ok({ ...OPEN, closed: true }) });
    expect(player.state.claims.size).toBe(0);
  });

  it.each<[string, Partial<Findings>, NoticeName, string]>([
    [
      'the issue is closed',
      { issueClosed: ok(true) },
      'reaction:issue:closed',
      'the closed issue to be opened again, or the merge',
    ],
    [
      'the tracker no longer has the issue',
      { issueState: ok(null) },
      'reaction:issue:gone',
      'the tracker to have the issue again, or the merge',
    ],
  ])('rests while %s, tells it once, and goes on afterwards', (_, rest, notice, waitingFor) => {
    const player = watching({ merge_conflicts: BASE });
    const dirty = { merge: ok({ ...OPEN, mergeability: 'dirty' as const }) };
    look(player, { ...dirty, ...rest });
    look(player, { ...dirty, ...rest });
    expect(progress(player, 'merge_conflicts')).toMatchObject({ used: 0, waitingFor });
    expect(player.state.claims.size).toBe(0);
    expect(player.everTold(notice)).toHaveLength(1);
    look(player, dirty);
    expect(player.state.claims.size).toBe(1);
  });

  it('lets a turn go, unpaid, whose issue was closed before it began', () => {
    const player = watching({ merge_conflicts: BASE, ci_failure: { ...BASE, maxLogLines: 0 } as never });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    expect(player.state.claims.size).toBe(1);
    look(player, { issueClosed: ok(true) });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'merge_conflicts')?.used).toBe(0);
  });

  it('drops a turn that is queued when the tracker no longer has the issue', () => {
    const player = watching({ merge_conflicts: BASE });
    const dirty = { merge: ok({ ...OPEN, mergeability: 'dirty' as const }) };
    look(player, dirty);
    look(player, { ...dirty, issueState: ok(null) });
    expect(progress(player, 'merge_conflicts')).toMatchObject({ used: 0 });
    expect(player.state.claims.size).toBe(0);
  });

  it('ends when every window is over', () => {
    const player = watching({ merge_conflicts: { ...BASE, watchWindowMs: 5_000 } });
    look(player, { merge: ok({ ...OPEN, mergeability: 'unknown' }) });
    player.after(20_000);
    expect(player.state.watches.size).toBe(0);
  });

  it('outlasts a while without any reaction, as it was, and goes on after it', () => {
    const player = watching({ merge_conflicts: { ...BASE, watchWindowMs: 3_600_000 } });
    look(player, { merge: ok({ ...OPEN, mergeability: 'unknown' }) });
    const { settings, watches } = player.state;
    const none = { provider: null, connection: null, projects: [], votes: 'anyone', on: {} } as const;
    player.send({ type: 'settings-changed', settings: { ...settings, reactions: none } });
    player.after(60_000);
    expect([...player.state.watches.values()]).toEqual([...watches.values()]);
    const restarted = createPlayer(player.state.settings, { ...NOTHING_DURABLE, watches: [...watches.values()] });
    restarted.after(60_000);
    expect([...restarted.state.watches.values()]).toEqual([...watches.values()]);
    player.send({ type: 'settings-changed', settings });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    expect(player.state.claims.size).toBe(1);
  });

  it('leaves a request alone while another forge is looked at, tells it once, and comes back with its forge', () => {
    const player = watching({ merge_conflicts: BASE });
    const on = (forge: string): void => lookAt(player, forge);
    look(player, {});
    // One that an earlier version stored belongs to the forge that is looked at first.
    on('nsproject https://a.test');
    look(player, {});
    expect(player.state.watches.get('1')?.facts.forge).toBe('nsproject https://a.test');
    on('nsproject https://b.test');
    for (let waits = 0; waits < 5; waits += 1) {
      player.after(10_000);
      expect(player.asked('inspect')).toHaveLength(0);
    }
    expect(player.everTold('reaction:request:refused')).toMatchObject([
      { facts: { why: 'it is on nsproject https://a.test, and the reactions look at nsproject https://b.test' } },
    ]);
    on('nsproject https://a.test');
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    expect(player.state.claims.size).toBe(1);
  });

  it('keeps a request on its forge when a later run, with another one, names none', () => {
    const player = watching({ merge_conflicts: BASE });
    const on = (forge: string): void => lookAt(player, forge);
    look(player, {});
    on('nsproject https://a.test');
    look(player, {});
    on('nsproject https://b.test');
    player.poll([issueWith({ id: '1' })]);
    player.exit('1', { scm: null });
    expect(player.state.watches.get('1')?.facts.forge).toBe('nsproject https://a.test');
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-2', outcome: { kind: 'succeeded' } });
    player.poll([issueWith({ id: '1' })]);
    player.exit('1', { scm: SCM });
    expect(player.state.watches.get('1')?.facts).toMatchObject({ forge: 'nsproject https://b.test', standing: { is: 'unread' } });
  });

  it.each([
    ['no request', null],
    ['a record without a number', { ...SCM, prNumber: 0 }],
  ])('goes on when a later run leaves %s, with what was used up', (_name, scm) => {
    const player = watching({ merge_conflicts: { ...BASE, budget: 2 } });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    startTurn(player);
    player.exit('1', { scm });
    player.after(0);
    expect(player.state.watches.get('1')?.mergeRequest).toMatchObject({ owner: 'o', repo: 'r', number: 7, branch: 'b' });
    expect(progress(player, 'merge_conflicts')?.used).toBe(1);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    expect(player.state.claims.get('1')?.phase).toBe('waiting');
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
    const player = watching({ review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const } });
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
  const MERGED = { merge: ok({ ...OPEN, merged: true, headSha: 'sha9' }) };

  it.each([
    ['the issue goes on', {}],
    ['it closed the issue', { issueState: ok('done') }],
  ])('is told when %s', (_name, findings) => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { ...MERGED, ...findings });
    expect(player.everTold('reaction:merge:succeeded')).toMatchObject([{ facts: { number: 7, headSha: 'sha9', byUs: false } }]);
  });

  it('is told once, also over a restart, while the issue is still to be moved', () => {
    const on = { merge_completion: { ...BASE, budget: 5, targetState: 'done' } };
    const first = watching(on);
    look(first, MERGED);
    first.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    look(first, MERGED);
    expect(first.everTold('reaction:merge:succeeded')).toHaveLength(1);
    const second = createPlayer(first.state.settings, { ...NOTHING_DURABLE, watches: [...first.state.watches.values()] });
    look(second, MERGED);
    expect(second.everAsked('complete')).toHaveLength(1);
    expect(second.everTold('reaction:merge:succeeded')).toEqual([]);
  });

  it("is not told of a request that is not this issue's", () => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, merged: true, headBranch: 'another' }), issueState: ok('done') });
    expect(player.state.watches.size).toBe(0);
    expect(player.everTold('reaction:merge:succeeded')).toEqual([]);
  });

  it('lets a queued turn go, which would work on what is over', () => {
    const player = watching({
      review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const },
      merge_completion: { ...BASE, targetState: 'done' },
    });
    look(player, { reviews: ok([comment('a')]) });
    expect(player.state.claims.size).toBe(1);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.state.claims.size).toBe(0);
    expect(player.asked('complete')).toHaveLength(1);
  });

  it('waits for a run that goes on', () => {
    const player = watching({
      review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const },
      merge_completion: { ...BASE, targetState: 'done' },
    });
    look(player, { reviews: ok([comment('a')]) });
    startTurn(player);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toHaveLength(0);
    expect(player.state.live.size).toBe(1);
  });
});

describe('a request that the forge does not have', () => {
  const reactions = { merge_conflicts: BASE };

  it('is looked for again after one look, and is told as gone and kept after two', () => {
    const player = watching(reactions);
    look(player, { merge: ok(null) });
    expect(player.everTold('reaction:request:gone')).toHaveLength(0);
    look(player, { merge: ok(null) });
    look(player, { merge: ok(null) }, 300_000);
    expect(player.everTold('reaction:request:gone')).toHaveLength(1);
    expect(player.state.watches.size).toBe(1);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) }, 300_000);
    expect(player.state.claims.get('1')?.phase).toBe('waiting');
  });

  it('starts to count anew when it was there in between', () => {
    const player = watching(reactions);
    for (const merge of [null, OPEN, null]) look(player, { merge: ok(merge) }, 60_000);
    expect(player.everTold('reaction:request:gone')).toHaveLength(0);
  });
});

describe("a request that is not this issue's", () => {
  const all = { merge_conflicts: BASE, merge_completion: { ...BASE, targetState: 'done' } };

  it.each([
    ['a fork', { fork: true }],
    ['another source branch', { headBranch: 'somebody-elses' }],
  ])('because of %s is told once, and nothing is done about it', (_why, status) => {
    const player = watching(all);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty', merged: true, ...status }) });
    player.after(600_000);
    expect(player.everTold('reaction:request:refused')).toHaveLength(1);
    expect(player.everAsked('complete')).toHaveLength(0);
    expect(player.everAsked('inspect')).toHaveLength(1);
    expect(player.state.claims.size).toBe(0);
    expect(player.state.watches.get('1')?.facts.standing).toMatchObject({ is: 'unmanaged' });
  });

  it('because of its project is never asked about, until the workflow names that project', () => {
    const player = watching(all);
    look(player, {});
    const settings = player.state.settings;
    const edited = (projects: readonly string[]) => ({ ...settings, reactions: { ...settings.reactions, projects } });
    player.send({ type: 'settings-changed', settings: edited(['other/one']) });
    player.after(600_000);
    expect(player.everAsked('inspect')).toHaveLength(1);
    expect(player.everTold('reaction:request:refused')).toHaveLength(1);
    player.send({ type: 'settings-changed', settings: edited(['O/R']) });
    player.after(600_000);
    expect(player.everAsked('inspect')).toHaveLength(2);
  });

  it('is none for an answer that names no source branch: it is read again', () => {
    const player = watching(all);
    look(player, { merge: ok({ ...OPEN, headBranch: '', mergeability: 'dirty' }) });
    expect(player.everTold('reaction:request:refused')).toEqual([]);
    expect(player.everTold('reaction:read:failed')).toMatchObject([
      { facts: { error: expect.stringContaining('source branch') as string } },
    ]);
    expect(player.state.claims.size).toBe(0);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) }, 300_000);
    expect(player.state.claims.size).toBe(1);
  });

  it('does not take the place of the one that is', () => {
    const player = watching(all);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    startTurn(player);
    player.exit('1', { scm: { ...SCM, owner: 'secret', repo: 'vault', prNumber: 9 } });
    player.after(0);
    expect(player.state.watches.get('1')?.mergeRequest).toMatchObject({ owner: 'o', repo: 'r', number: 7 });
    expect(player.everTold('reaction:request:refused')).toHaveLength(1);
  });
});

describe('whose word counts', () => {
  const reviews = { review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const } };

  it('is what the settings in force say: a look that began under others is made again', () => {
    const player = watching(reviews);
    const { settings } = player.state;
    const [begun] = player.asked('inspect');
    const on = { review_comments: { ...reviews.review_comments, trust: 'collaborators' as const } };
    player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, on } } });
    answerLook(player, begun!, { reviews: ok([comment('1', { reviewer: 'a stranger' })]) });
    expect(player.everTold('reaction:turn:queued')).toEqual([]);
    player.after(0);
    expect(player.everAsked('inspect')).toHaveLength(2);
    look(player, { reviews: ok([comment('2')]) });
    expect(player.everTold('reaction:turn:queued')).toHaveLength(1);
  });

  it('is not given twice to an agent that spells its project in another way', () => {
    const player = watching(reviews);
    look(player, { reviews: ok([comment('1')]) });
    startTurn(player);
    player.exit('1', { scm: { ...SCM, owner: 'O', repo: 'R' } });
    player.after(0);
    look(player, { reviews: ok([comment('1')]) });
    expect(player.everTold('reaction:turn:queued')).toHaveLength(1);
    expect(player.everTold('reaction:watch:armed')).toHaveLength(1);
  });

  it('is not given twice when the reaction was off while another run ended', () => {
    const player = watching({ ...reviews, merge_conflicts: BASE });
    const { settings } = player.state;
    const switchTo = (on: typeof settings.reactions.on) => {
      look(player, {});
      player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, on } } });
    };
    look(player, { reviews: ok([comment('1')]) });
    finishTurn(player);
    switchTo({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    finishTurn(player, 'sha2');
    switchTo(settings.reactions.on);
    look(player, { reviews: ok([comment('1')]) });
    expect(player.everTold('reaction:turn:queued')).toHaveLength(2);
  });

  it('counts anew for a head that somebody pushed while the reaction was off', () => {
    const player = watching({ ci_failure: { ...BASE, budget: 1, maxLogLines: 0 }, merge_conflicts: BASE });
    const { settings } = player.state;
    const switchTo = (on: typeof settings.reactions.on) =>
      player.send({ type: 'settings-changed', settings: { ...settings, reactions: { ...settings.reactions, on } } });
    look(player, { ci: ci('failing') });
    finishTurn(player, 'sha2');
    look(player, { merge: ok({ ...OPEN, headSha: 'sha2' }), ci: ci('failing', 'sha2') });
    expect(progress(player, 'ci_failure')).toMatchObject({ used: 1, escalated: true });
    switchTo({ merge_conflicts: BASE });
    look(player, { merge: ok({ ...OPEN, headSha: 'sha3' }) });
    switchTo(settings.reactions.on);
    look(player, { merge: ok({ ...OPEN, headSha: 'sha3' }), ci: ci('failing', 'sha3') });
    expect(player.everTold('reaction:turn:queued')).toHaveLength(2);
  });

  it('is not given twice to an agent that names another request for a while', () => {
    const player = watching({ review_comments: { ...reviews.review_comments, budget: 9 } });
    look(player, { reviews: ok([comment('1')]) });
    startTurn(player);
    player.exit('1', { scm: { ...SCM, prNumber: 9 } });
    player.after(0);
    look(player, { reviews: ok([comment('2')]) });
    startTurn(player);
    player.exit('1', { scm: SCM });
    player.after(0);
    look(player, { reviews: ok([comment('1')]) });
    expect(player.everTold('reaction:watch:armed')).toHaveLength(3);
    expect(player.everTold('reaction:turn:queued')).toHaveLength(2);
  });
});

describe('a read that fails', () => {
  it('stays told while looks for other reactions go well', () => {
    const player = watching({ ci_failure: { ...BASE, maxLogLines: 0 }, merge_conflicts: { ...BASE, pollIntervalMs: 1_000 } });
    const failing = { ci: { ok: false, fault: FAULT } } as const;
    for (let looks = 0; looks < 40; looks += 1) {
      const isDue = player.asked('inspect')[0]?.due.includes('ci_failure') === true;
      look(player, isDue ? failing : {}, 1_000);
      if (player.asked('inspect').length === 0) player.after(1_000);
    }
    expect(player.everAsked('inspect').filter(({ due }) => due.includes('ci_failure')).length).toBeGreaterThan(1);
    expect(player.everTold('reaction:read:failed')).toHaveLength(1);
  });

  it('is told once per cause and request, and again after it worked', () => {
    const player = watching({ review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const } });
    const failing = { reviews: { ok: false, fault: FAULT } } as const;
    for (let looks = 0; looks < 2; looks += 1) look(player, failing, 300_000);
    expect(player.everTold('reaction:read:failed')).toHaveLength(1);
    look(player, { reviews: ok([]) }, 300_000);
    look(player, failing);
    expect(player.everTold('reaction:read:failed')).toHaveLength(2);
  });
});

describe('a reaction that asked for a person', () => {
  const on = { ci_failure: { ...BASE, budget: 0, maxLogLines: 0 } };
  const failing = { ci: ci('failing') };
  const asks = (player: Player) => progress(player, 'ci_failure')?.escalated;
  /** Asked while the issue was in this state. */
  function asking(issueState = 'review'): Player {
    const player = watching(on);
    look(player, { ...failing, issueState: ok(issueState) });
    expect(asks(player)).toBe(true);
    return player;
  }

  it('is released by a change of the state of the issue, and says why', () => {
    const player = asking();
    look(player, { ...failing, ci: ci('pending'), issueState: ok('paused') });
    expect(asks(player)).toBe(false);
    expect(player.everTold('issue:park:released')).toMatchObject([{ facts: { reason: 'its state changed to "paused"' } }]);
  });

  it('is released by the move that has the issue dispatched', () => {
    const player = asking();
    player.poll([issueWith({ id: '1', state: 'todo' })]);
    expect(player.state.live.has('1')).toBe(true);
    expect(asks(player)).toBe(false);
  });

  it.each(['review', 'Review', '', null])('is not released by a look that reads %j', (state) => {
    const player = asking();
    look(player, { ...failing, issueState: ok(state) });
    look(player, failing);
    expect(asks(player)).toBe(true);
    expect(player.everTold('issue:park:released')).toEqual([]);
  });

  it('is not released by what our own run moves, before and after its handoff', () => {
    const player = asking('todo');
    player.poll([issueWith({ id: '1', state: 'todo' })]);
    expect(player.state.live.has('1')).toBe(true);
    const [begun] = player.everAsked('inspect').slice(-1);
    if (begun) answerLook(player, begun, { ...failing, issueState: ok('doing') });
    const runId = player.state.live.get('1')?.runId ?? '';
    player.exit('1', { scm: SCM });
    player.send({ type: 'handoff-answered', issueId: '1', runId, outcome: { kind: 'succeeded' } });
    player.after(0);
    // A tracker may show what it was a moment ago.
    look(player, { ...failing, issueState: ok('doing') });
    look(player, failing);
    look(player, failing);
    expect(player.everTold('issue:park:released')).toEqual([]);
    expect(asks(player)).toBe(true);
    look(player, { ...failing, ci: ci('pending'), issueState: ok('paused') });
    expect(asks(player)).toBe(false);
  });

  it('is not released by a completion of ours that got half way', () => {
    const player = watching({ ...on, merge_completion: { ...BASE, budget: 0, targetState: 'done' } });
    look(player, failing);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind: 'tracker_auth_error' } });
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('half') });
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('half') });
    expect(asks(player)).toBe(true);
    expect(progress(player, 'merge_completion')?.escalated).toBe(true);
    expect(player.everAsked('complete')).toHaveLength(1);
  });
});
