import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { Effect } from '../effect.ts';
import type { Fault } from '../errors.ts';
import type { LabelEvent, MergeStatus, ReviewComment } from '../merge-request.ts';
import type { ReactionKind, ReactionSettings } from '../settings.ts';
import type { Findings } from './findings.ts';

const BASE = {
  pollIntervalMs: 10_000,
  watchWindowMs: 0,
  budget: 1,
  escalation: 'label',
  escalationLabel: 'needs-human',
} as const;
const SCM = { branch: 'b', sha: 'sha1', pushedAt: '', prNumber: 7, owner: 'o', repo: 'r' };
const OPEN: MergeStatus = {
  mergeability: 'clean',
  draft: false,
  merged: false,
  closed: false,
  headSha: 'sha1',
  headBranch: 'b',
  baseBranch: 'main',
  mergeCommitSha: '',
  labels: [],
  url: 'https://forge/7',
};
const FAULT: Fault = { kind: 'tracker_transport_error', message: 'no answer', consequence: 'back-off' };
const ok = <T>(value: T) => ({ ok: true, value }) as const;

/** A player whose issue was handed off and whose merge request is watched by the given reactions. */
function watching(reactions: Omit<ReactionSettings, 'provider' | 'connection'>, runMs = 0): Player {
  const player = createPlayer(settingsWith({ rest: { reactions: { provider: 'nsproject', connection: null, ...reactions } } }));
  player.poll([issueWith({ id: '1' })]);
  player.now += runMs;
  player.exit('1', { scm: SCM });
  player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'succeeded' } });
  player.after(0);
  return player;
}

/** Answers the look that is under way (or the next one that falls due). */
function look(player: Player, findings: Partial<Findings>): void {
  for (let wait = 0; wait < 5 && player.asked('inspect').length === 0; wait += 1) player.after(10_000);
  const [effect] = player.asked('inspect');
  expect(effect, 'a look').toBeDefined();
  if (effect) answerLook(player, effect, findings);
}

function answerLook(player: Player, { watch, due }: Extract<Effect, { do: 'inspect' }>, findings: Partial<Findings>): void {
  const merge = findings.merge ?? ok(OPEN);
  const all: Findings = { issueState: ok('review'), ...findings, merge };
  player.send({ type: 'inspected', issueId: '1', number: 7, armedAt: watch.armedAt, due, findings: all });
}

function progress(player: Player, kind: ReactionKind) {
  return player.state.watches.get('1')?.reactions[kind];
}

/** Lets the queued turn begin. */
function startTurn(player: Player): void {
  player.after(1_000);
  player.send({ type: 'issue-read', issueId: '1', issue: ok(issueWith({ id: '1', state: 'review' })) });
  expect(player.state.live.has('1')).toBe(true);
}

/** Lets the queued turn run and end; it may have pushed a new head. */
function finishTurn(player: Player, sha = 'sha1'): void {
  if (!player.state.live.has('1')) startTurn(player);
  player.exit('1', { scm: { ...SCM, sha } });
  player.after(0);
}

const ci = (status: 'success' | 'failing' | 'pending', ref = 'sha1') =>
  ok({ status, checkRuns: [], failingCount: status === 'failing' ? 1 : 0, logExcerpt: 'log', ref });
const comment = (id: string, parts: Partial<ReviewComment> = {}): ReviewComment => ({
  id,
  file: 'a.ts',
  startLine: 1,
  endLine: 1,
  reviewer: 'eve',
  body: 'change',
  outdated: false,
  submittedAt: '1970-01-01T00:00:00Z',
  ...parts,
});

describe('watching', () => {
  it('is armed by a normal exit with a merge request, also after a handoff', () => {
    expect(watching({ mergeConflicts: BASE }).state.watches.get('1')).toMatchObject({ mergeRequest: { number: 7, sha: 'sha1' } });
  });

  it.each([
    ['the forge no longer has it', { merge: ok(null) }],
    ['it was closed', { merge: ok({ ...OPEN, closed: true }) }],
    ['it was merged and nothing is left to do', { merge: ok({ ...OPEN, merged: true }) }],
    ['the issue is terminal', { issueState: ok('done') }],
  ])('ends when %s', (_name, findings) => {
    const player = watching({ mergeConflicts: BASE });
    look(player, findings);
    expect(player.state.watches.size).toBe(0);
  });

  it('ends when every window is over', () => {
    const player = watching({ mergeConflicts: { ...BASE, watchWindowMs: 5_000 } });
    look(player, { merge: ok({ ...OPEN, mergeability: 'unknown' }) });
    player.after(20_000);
    expect(player.state.watches.size).toBe(0);
  });

  it('a look that began before a run ended is not judged: it may have seen the head before the push', () => {
    const player = watching({ ciFailure: { ...BASE, budget: 2, maxLogLines: 5 }, mergeConflicts: BASE });
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
    const player = watching({ reviewComments: { ...BASE, debounceMs: 0 } });
    look(player, { issueState: ok('on hold'), reviews: ok([comment('a')]) });
    expect(player.state.claims.size).toBe(0);
    expect(progress(player, 'review_comments')).toMatchObject({ used: 0, given: [] });
    look(player, { issueState: ok('review'), reviews: ok([comment('a')]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { reviewComments: [{ id: 'a' }] } } });
  });

  it('a failed look waits longer each time and spends nothing', () => {
    const player = watching({ ciFailure: { ...BASE, maxLogLines: 5 } });
    look(player, { merge: { ok: false, fault: FAULT } });
    expect(progress(player, 'ci_failure')).toMatchObject({ used: 0, failures: 1, nextAt: player.now + 20_000 });
  });
});

describe('ci_failure', () => {
  const reactions = { ciFailure: { ...BASE, maxLogLines: 5 } };

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
  });

  it('a head that somebody else pushed has a new budget', () => {
    const player = watching(reactions);
    look(player, { ci: ci('failing') });
    finishTurn(player, 'sha2');
    look(player, { merge: ok({ ...OPEN, headSha: 'theirs' }), ci: ci('failing', 'theirs') });
    expect(player.state.claims.get('1')?.phase).toBe('waiting');
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
    const player = watching({ ciFailure: { ...BASE, budget: 0, maxLogLines: 5 } });
    look(player, { ci: ci('failing') });
    expect(progress(player, 'ci_failure')?.escalated).toBe(true);
    player.send({ type: 'unpark-requested', identifier: 'T-1' });
    expect(progress(player, 'ci_failure')).toMatchObject({ escalated: false, used: 0 });
  });
});

describe('review_comments and bot_review', () => {
  const reactions = { reviewComments: { ...BASE, budget: 2, debounceMs: 1_000 } };

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

  it('asks a person only for a new comment after the budget is spent', () => {
    const player = watching({ reviewComments: { ...BASE, debounceMs: 0 } });
    look(player, { reviews: ok([comment('a')]) });
    finishTurn(player);
    look(player, { reviews: ok([comment('a')]) });
    expect(player.state.outbox.size).toBe(0);
    look(player, { reviews: ok([comment('a'), comment('b')]) });
    expect(player.state.outbox.size).toBe(1);
  });

  it('a listed bot does not drive the loop for people', () => {
    const player = watching({ ...reactions, botReview: { ...BASE, botUsernames: ['Lint-Bot'] } });
    look(player, {
      reviews: ok([comment('a', { reviewer: 'lint-bot' })]),
      botReviews: ok([comment('a', { reviewer: 'lint-bot' })]),
    });
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'bot_review' } });
    expect(progress(player, 'review_comments')?.used).toBe(0);
  });

  it('a second kind waits for the run that is queued', () => {
    const player = watching({ ...reactions, ciFailure: { ...BASE, maxLogLines: 5 } });
    look(player, { ci: ci('failing'), reviews: ok([comment('a')]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'ci_failure' } });
    expect(progress(player, 'review_comments')).toMatchObject({ used: 0, given: [] });
  });
});

describe('merge_conflicts', () => {
  it.each([
    ['dirty', true],
    ['unknown', false],
    ['clean', false],
    ['blocked', false],
    ['unstable', false],
  ] as const)('%s', (mergeability, turn) => {
    const player = watching({ mergeConflicts: BASE });
    look(player, { merge: ok({ ...OPEN, mergeability }) });
    expect(player.state.claims.has('1')).toBe(turn);
  });

  it('asks nobody while the turn that resolves it still runs', () => {
    const player = watching({ mergeConflicts: BASE });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    startTurn(player);
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty', headSha: 'half done' }) });
    expect(progress(player, 'merge_conflicts')?.escalated).toBe(false);
  });

  it('tells branch, head and base', () => {
    const player = watching({ mergeConflicts: BASE });
    look(player, { merge: ok({ ...OPEN, mergeability: 'dirty' }) });
    const mergeConflict = { prNumber: 7, branch: 'b', headSha: 'sha1', base: 'main' };
    expect(player.state.claims.get('1')).toMatchObject({ then: { reaction: { mergeConflict } } });
  });
});

describe('auto_merge', () => {
  const autoMerge = { ...BASE, budget: 2, strategy: 'squash', requireCi: true, deleteBranch: true, dryRun: false } as const;
  const READY: Partial<Findings> = { decision: ok('APPROVED'), gate: ok('success'), scope: ok({ mayMerge: 'yes', detail: '' }) };

  function lookTwice(player: Player, findings: Partial<Findings>): void {
    look(player, findings);
    look(player, findings);
  }

  it('merges with the expected head after two clean readings', () => {
    const player = watching({ autoMerge });
    look(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
    look(player, READY);
    expect(player.asked('merge')[0]).toMatchObject({
      request: { number: 7 },
      order: { strategy: 'squash', expectedSha: 'sha1' },
    });
  });

  it.each<[string, Partial<Findings>]>([
    ['a draft', { ...READY, merge: ok({ ...OPEN, draft: true }) }],
    ['an unknown mergeability', { ...READY, merge: ok({ ...OPEN, mergeability: 'unknown' }) }],
    ['a conflict', { ...READY, merge: ok({ ...OPEN, mergeability: 'dirty' }) }],
    ['a block', { ...READY, merge: ok({ ...OPEN, mergeability: 'blocked' }) }],
    ['unstable checks', { ...READY, merge: ok({ ...OPEN, mergeability: 'unstable' }) }],
    ['requested changes', { ...READY, decision: ok('CHANGES_REQUESTED') }],
    ['a missing review', { ...READY, decision: ok('REVIEW_REQUIRED') }],
    ['failing CI', { ...READY, gate: ok('failing') }],
    ['pending CI', { ...READY, gate: ok('pending') }],
    ['an unreadable decision', { ...READY, decision: { ok: false, fault: FAULT } }],
    ['unreadable CI', { ...READY, gate: { ok: false, fault: FAULT } }],
    ['a head without a name', { ...READY, merge: ok({ ...OPEN, headSha: '' }) }],
    ['a token that may not merge', { ...READY, scope: ok({ mayMerge: 'no', detail: 'no scope' }) }],
  ])('does not merge on %s', (_name, findings) => {
    const player = watching({ autoMerge });
    lookTwice(player, findings);
    expect(player.asked('merge')).toHaveLength(0);
  });

  it.each<[string, Partial<Findings>]>([
    ['no review is required', { ...READY, decision: ok('NOT_REQUIRED') }],
    ['no checks exist', { ...READY, gate: ok('') }],
    ['the scope is unknown', { ...READY, scope: ok({ mayMerge: 'unknown', detail: '' }) }],
  ])('merges when %s', (_name, findings) => {
    const player = watching({ autoMerge });
    lookTwice(player, findings);
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('says what it would do in dry mode', () => {
    const player = watching({ autoMerge: { ...autoMerge, dryRun: true } });
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
    expect(player.told('reaction:merge:would')).toHaveLength(1);
  });

  it('a push between the readings starts over', () => {
    const player = watching({ autoMerge });
    look(player, READY);
    look(player, { ...READY, merge: ok({ ...OPEN, headSha: 'sha2' }) });
    expect(player.asked('merge')).toHaveLength(0);
  });

  it('deletes the branch after its own merge, and stops watching whatever comes of that', () => {
    const player = watching({ autoMerge });
    lookTwice(player, READY);
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged', byUs: true } });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('delete-branch')).toHaveLength(1);
    player.send({ type: 'branch-deleted', issueId: '1', fault: FAULT });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.state.watches.size).toBe(0);
  });

  /** Up to the look that finds the request merged. */
  function merged(player: Player, findings: Partial<Findings> = {}): void {
    lookTwice(player, READY);
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged', byUs: true } });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }), ...findings });
  }

  it('waits for the run under way, which may push', () => {
    const player = watching({ autoMerge, reviewComments: { ...BASE, debounceMs: 0 } });
    look(player, { ...READY, reviews: ok([comment('a')]) });
    look(player, { ...READY, reviews: ok([comment('a')]) });
    expect(player.asked('merge')).toHaveLength(0);
    expect(progress(player, 'auto_merge')?.waitingFor).toBe('the run under way to end');
    finishTurn(player);
    lookTwice(player, { ...READY, reviews: ok([comment('a')]) });
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('does not wait for a handoff that the tracker does not take', () => {
    const player = createPlayer(settingsWith({ rest: { reactions: { provider: 'nsproject', connection: null, autoMerge } } }));
    player.poll([issueWith({ id: '1' })]);
    player.exit('1', { scm: SCM });
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'failed', fault: FAULT } });
    player.after(0);
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', then: { kind: 'handoff' } });
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('completes the issue only after the branch is gone, so that a crash forgets neither', () => {
    const player = watching({ autoMerge, mergeCompletion: { ...BASE, targetState: 'done' } });
    merged(player);
    expect(player.asked('delete-branch')).toHaveLength(1);
    expect(player.asked('complete')).toHaveLength(0);
    player.send({ type: 'branch-deleted', issueId: '1', fault: null });
    expect(player.told('reaction:branch:deleted')).toHaveLength(1);
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('delete-branch')).toHaveLength(0);
    expect(player.asked('complete')).toHaveLength(1);
  });

  it('deletes the branch also when the merge itself closed the issue', () => {
    const player = watching({ autoMerge });
    merged(player, { issueState: ok('done') });
    expect(player.asked('delete-branch')).toHaveLength(1);
    player.send({ type: 'branch-deleted', issueId: '1', fault: null });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.state.watches.size).toBe(0);
    expect(player.asked('remove-workspace')).toHaveLength(1);
  });

  it('keeps the branch in mind when a cleanup finds the issue terminal first', () => {
    const player = watching({ autoMerge });
    lookTwice(player, READY);
    player.send({ type: 'cleanup-answered', issues: ok([issueWith({ id: '1', state: 'done' })]) });
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged', byUs: true } });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it.each<[string, Partial<MergeStatus>]>([
    ['another branch than the record says', { headBranch: 'somebody-elses' }],
    ['the base itself, as in a fork', { headBranch: 'b', baseBranch: 'b' }],
  ])('keeps the branch when the forge names %s', (_name, status) => {
    const player = watching({ autoMerge });
    merged(player, { merge: ok({ ...OPEN, merged: true, ...status }) });
    expect(player.asked('delete-branch')).toHaveLength(0);
    expect(player.state.watches.size).toBe(0);
  });

  it.each([
    ['tracker_auth_error', true],
    ['tracker_payload_error', true],
    ['scm_conflict_error', false],
    ['tracker_transport_error', false],
  ])('a merge refused with %s asks a person at once: %s', (kind, atOnce) => {
    const player = watching({ autoMerge });
    lookTwice(player, READY);
    player.send({
      type: 'merge-answered',
      issueId: '1',
      expectedSha: 'sha1',
      outcome: { kind: 'refused', fault: { ...FAULT, kind } },
    });
    expect(progress(player, 'auto_merge')?.escalated).toBe(atOnce);
  });

  it('asks a person when merges keep being refused, and merges that head no more', () => {
    const player = watching({ autoMerge });
    for (let round = 0; round < 2; round += 1) {
      lookTwice(player, READY);
      player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'refused', fault: FAULT } });
    }
    expect(progress(player, 'auto_merge')?.escalated).toBe(true);
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
  });

  it('counts refusals of a head also when the forge had to think in between', () => {
    const player = watching({ autoMerge });
    for (let round = 0; round < 2; round += 1) {
      lookTwice(player, READY);
      player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'refused', fault: FAULT } });
      look(player, { ...READY, merge: ok({ ...OPEN, mergeability: 'unknown' }) });
    }
    expect(progress(player, 'auto_merge')).toMatchObject({ escalated: true, used: 2 });
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
    lookTwice(player, { ...READY, merge: ok({ ...OPEN, headSha: 'sha2' }) });
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('has nothing to delete where the forge says that the branch is gone', () => {
    const player = watching({ autoMerge });
    merged(player, { merge: ok({ ...OPEN, merged: true, headBranch: 'refs/pull/7/head' }) });
    expect(player.asked('delete-branch')).toHaveLength(0);
    expect(player.told('reaction:branch:kept')).toHaveLength(0);
    expect(player.state.watches.size).toBe(0);
  });
});

describe('merge_completion', () => {
  const mergeCompletion = { ...BASE, targetState: 'done' };

  it('moves the issue once the request is merged, by whomever, and cleans up', () => {
    const player = watching({ mergeCompletion });
    look(player, {});
    expect(player.asked('complete')).toHaveLength(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')[0]?.target).toBe('done');
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.state.watches.size).toBe(0);
    expect(player.asked('remove-workspace')).toHaveLength(1);
  });

  it('finishes a completion that got half way, where the state alone looks done', () => {
    const player = watching({ mergeCompletion });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toMatchObject([{ begun: false }]);
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    player.send({ type: 'cleanup-answered', issues: ok([issueWith({ id: '1', state: 'done' })]) });
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.asked('complete')).toMatchObject([{ begun: true }]);
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.state.watches.size).toBe(0);
  });

  it('leaves an issue alone that a person ended otherwise meanwhile', () => {
    const player = watching({ mergeCompletion: { ...mergeCompletion, targetState: 'shipped' } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.asked('complete')).toHaveLength(0);
    expect(player.state.watches.size).toBe(0);
  });

  it('asks a person once and then waits', () => {
    const player = watching({ mergeCompletion });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind: 'tracker_auth_error' } });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toHaveLength(0);
    expect(progress(player, 'merge_completion')?.waitingFor).toBe('a person');
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.state.watches.size).toBe(0);
  });

  it.each([
    ['tracker_auth_error', 'escalated'],
    ['tracker_payload_error', 'escalated'],
    ['tracker_not_found', 'ended'],
    ['tracker_transport_error', 'again'],
  ])('%s', (kind, then) => {
    const player = watching({ mergeCompletion });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind } });
    const state =
      player.state.watches.size === 0 ? 'ended' : progress(player, 'merge_completion')?.escalated ? 'escalated' : 'again';
    expect(state).toBe(then);
  });
});

describe('a merge by whomever', () => {
  it('lets a queued turn go, which would work on what is over', () => {
    const player = watching({ reviewComments: { ...BASE, debounceMs: 0 }, mergeCompletion: { ...BASE, targetState: 'done' } });
    look(player, { reviews: ok([comment('a')]) });
    expect(player.state.claims.size).toBe(1);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.state.claims.size).toBe(0);
    expect(player.asked('complete')).toHaveLength(1);
  });

  it('waits for a run that goes on', () => {
    const player = watching({ reviewComments: { ...BASE, debounceMs: 0 }, mergeCompletion: { ...BASE, targetState: 'done' } });
    look(player, { reviews: ok([comment('a')]) });
    startTurn(player);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('complete')).toHaveLength(0);
    expect(player.state.live.size).toBe(1);
  });
});

describe('label_commands', () => {
  const labelCommands = { ...BASE, reviewLabel: 'foray:review', fixLabel: 'foray:fix' };
  const added = (id: string, label: string, at = '2026-01-01T00:00:00Z'): LabelEvent => ({
    id,
    label,
    added: true,
    actor: 'eve',
    at,
  });

  it('runs a command once and takes the label off', () => {
    const player = watching({ labelCommands });
    const findings = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix')]) };
    look(player, findings);
    expect(player.asked('remove-label')[0]).toMatchObject({ label: 'foray:fix' });
    expect(player.state.claims.get('1')).toMatchObject({
      then: { reaction: { labelCommand: { command: 'fix', actor: 'eve' } } },
    });
    finishTurn(player);
    look(player, findings);
    expect(player.state.claims.size).toBe(0);
  });

  it.each<[string, readonly string[], readonly LabelEvent[]]>([
    ['a label that is gone again', [], [added('1', 'foray:fix')]],
    ['another label', ['bug'], [added('1', 'bug')]],
    ['a label from before the watch', ['foray:fix'], [added('1', 'foray:fix', '1969-01-01T00:00:00Z')]],
    ['a removal', ['foray:fix'], [{ ...added('1', 'foray:fix'), added: false }]],
  ])('ignores %s', (_name, labels, events) => {
    const player = watching({ labelCommands });
    look(player, { merge: ok({ ...OPEN, labels }), labels: ok(events) });
    expect(player.state.claims.size).toBe(0);
  });

  it('a command given in the middle of a look is carried out at the next one', () => {
    const player = watching({ labelCommands });
    const labels = ok([added('1', 'foray:fix')]);
    look(player, { labels });
    expect(player.state.claims.size).toBe(0);
    look(player, { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels });
    expect(player.state.claims.size).toBe(1);
  });

  it('a command that was taken back is not waited for', () => {
    const player = watching({ labelCommands });
    const taken = { ...added('2', 'foray:fix', '2026-01-01T00:01:00Z'), added: false };
    look(player, { labels: ok([added('1', 'foray:fix'), taken]) });
    look(player, { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix'), taken]) });
    expect(player.state.claims.size).toBe(0);
  });

  it('a command given while a run goes on is carried out after it', () => {
    const player = watching({ labelCommands, reviewComments: { ...BASE, debounceMs: 0 } });
    look(player, { reviews: ok([comment('a')]), labels: ok([]) });
    startTurn(player);
    const at = new Date(player.now).toISOString();
    const findings = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix', at)]) };
    look(player, findings);
    expect(player.asked('remove-label')).toHaveLength(0);
    player.now += 60_000;
    finishTurn(player);
    look(player, { ...findings, reviews: ok([comment('a')]) });
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'label_commands' } });
  });

  it('a command for a parked issue keeps its label until the issue is released', () => {
    const player = watching({ labelCommands });
    const issue = issueWith({ id: '1', state: 'review' });
    const parked = { issue, reason: 'blocked', detail: '', parkedAt: 0, stateAtPark: 'review' } as const;
    player.state = { ...player.state, parked: new Map([['1', parked]]) };
    const findings = { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix')]) };
    look(player, findings);
    expect(player.asked('remove-label')).toHaveLength(0);
    player.state = { ...player.state, parked: new Map() };
    look(player, findings);
    expect(player.asked('remove-label')).toHaveLength(1);
    expect(player.state.claims.size).toBe(1);
  });

  it('a forge that tells time in whole seconds loses no command given right after the watch began', () => {
    const player = watching({ labelCommands }, 900);
    const at = new Date(1_000_000).toISOString();
    look(player, { merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([added('1', 'foray:fix', at)]) });
    expect(player.state.claims.size).toBe(1);
  });
});
