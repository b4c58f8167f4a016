import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { BASE, SCM, OPEN, FAULT, ok, watching, look, progress, finishTurn, comment } from '../../../test/support/watched.ts';
import { NOTHING_DURABLE } from '../model/durable.ts';
import type { MergeStatus } from '../model/merge-request.ts';
import type { Findings } from '../model/findings.ts';

describe('auto_merge', () => {
  const autoMerge = {
    ...BASE,
    budget: 2,
    strategy: 'squash',
    requireCi: true,
    deleteBranch: true,
    dryRun: false,
    ciGraceMs: 0,
  } as const;
  const READY: Partial<Findings> = {
    decision: ok('APPROVED'),
    ciStatus: ok('success'),
    scope: ok({ mayMerge: 'yes', detail: '' }),
  };

  function lookTwice(player: Player, findings: Partial<Findings>): void {
    look(player, findings);
    look(player, findings);
  }

  it('merges nothing while the issue is closed', () => {
    const player = watching({ auto_merge: autoMerge });
    for (let looks = 0; looks < 3; looks += 1) look(player, { ...READY, issueClosed: ok(true) });
    expect(player.everAsked('merge')).toEqual([]);
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('merges nothing while the tracker no longer has the issue, but where that could not be read', () => {
    const player = watching({ auto_merge: autoMerge });
    for (let looks = 0; looks < 3; looks += 1) look(player, { ...READY, issueState: ok(null) });
    expect(player.everAsked('merge')).toEqual([]);
    lookTwice(player, { ...READY, issueState: { ok: false, fault: FAULT } });
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('merges nothing where the same look shows that a person asked for a fix, which then runs', () => {
    const player = watching({
      auto_merge: autoMerge,
      label_commands: { ...BASE, reviewLabel: '', fixLabel: 'foray:fix' },
    });
    look(player, { ...READY, labels: ok([]) });
    const label = { id: '1', label: 'foray:fix', added: true, actor: 'eve', at: '2026-01-01T00:00:00Z' };
    look(player, { ...READY, merge: ok({ ...OPEN, labels: ['foray:fix'] }), labels: ok([label]) });
    expect(player.everAsked('merge')).toEqual([]);
    expect(player.state.claims.get('1')).toMatchObject({ then: { trigger: 'label_commands' } });
    expect(progress(player, 'auto_merge')?.waitingFor).toBe('the run under way to end');
  });

  it('merges with the expected head after two clean readings', () => {
    const player = watching({ auto_merge: autoMerge });
    look(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
    look(player, READY);
    expect(player.asked('merge')[0]).toMatchObject({
      request: { number: 7 },
      order: { strategy: 'squash', expectedSha: 'sha1' },
    });
  });

  it.each([
    ['stopped_by_operator', true],
    ['blocked', true],
    ['needs_person', true],
    ['refused', true],
    ['session_budget', true],
    ['token_budget', true],
    ['cost_budget', true],
    ['out_of_attempts', true],
    ['needs_review', false],
    ['escalated', false],
  ] as const)('of an issue that is parked (%s) waits for its release: %s', (reason, waits) => {
    const { state } = watching({ auto_merge: autoMerge });
    const [watch] = state.watches.values();
    if (!watch) throw new Error('nothing is watched');
    const parked = { issue: watch.issue, reason, detail: '', parkedAt: 0, stateAtPark: 'review' };
    const player = createPlayer(state.settings, { ...NOTHING_DURABLE, watches: [watch], parked: [parked] });
    lookTwice(player, READY);
    expect(player.everAsked('merge')).toHaveLength(waits ? 0 : 1);
    if (!waits) return;
    expect(progress(player, 'auto_merge')?.waitingFor).toBe(`the parked issue to be released (${reason})`);
    player.operator({ kind: 'unpark', identifier: 'T-1' });
    lookTwice(player, READY);
    expect(player.everAsked('merge')).toHaveLength(1);
  });

  it('goes on while the service is paused', () => {
    const player = watching({ auto_merge: autoMerge });
    look(player, READY);
    player.operator({ kind: 'pause', reason: '' });
    look(player, READY);
    expect(player.asked('merge')).toHaveLength(1);
  });

  it.each<[string, Partial<Findings>]>([
    ['a draft', { ...READY, merge: ok({ ...OPEN, draft: true }) }],
    ['an unknown mergeability', { ...READY, merge: ok({ ...OPEN, mergeability: 'unknown' }) }],
    ['a conflict', { ...READY, merge: ok({ ...OPEN, mergeability: 'dirty' }) }],
    ['a block', { ...READY, merge: ok({ ...OPEN, mergeability: 'blocked' }) }],
    ['unstable checks', { ...READY, merge: ok({ ...OPEN, mergeability: 'unstable' }) }],
    ['requested changes', { ...READY, decision: ok('CHANGES_REQUESTED') }],
    ['a missing review', { ...READY, decision: ok('REVIEW_REQUIRED') }],
    ['failing CI', { ...READY, ciStatus: ok('failing') }],
    ['pending CI', { ...READY, ciStatus: ok('pending') }],
    ['an unreadable decision', { ...READY, decision: { ok: false, fault: FAULT } }],
    ['unreadable CI', { ...READY, ciStatus: { ok: false, fault: FAULT } }],
    ['a head without a name', { ...READY, merge: ok({ ...OPEN, headSha: '' }) }],
    ['a token that may not merge', { ...READY, scope: ok({ mayMerge: 'no', detail: 'no scope' }) }],
  ])('does not merge on %s', (_name, findings) => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, findings);
    expect(player.asked('merge')).toHaveLength(0);
  });

  it.each<[string, Partial<Findings>]>([
    ['no review is required', { ...READY, decision: ok('NOT_REQUIRED') }],
    ['no checks exist', { ...READY, ciStatus: ok('') }],
    ['the scope is unknown', { ...READY, scope: ok({ mayMerge: 'unknown', detail: '' }) }],
  ])('merges when %s', (_name, findings) => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, findings);
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('says what it would do in dry mode', () => {
    const player = watching({ auto_merge: { ...autoMerge, dryRun: true } });
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
    expect(player.told('reaction:merge:would')).toHaveLength(1);
  });

  it('says in dry mode once for a head what it would do', () => {
    const player = watching({ auto_merge: { ...autoMerge, dryRun: true } });
    lookTwice(player, READY);
    look(player, { ...READY, ciStatus: ok('pending') });
    lookTwice(player, READY);
    expect(player.everTold('reaction:merge:would')).toHaveLength(1);
    lookTwice(player, { ...READY, merge: ok({ ...OPEN, headSha: 'sha2' }) });
    expect(player.everTold('reaction:merge:would')).toHaveLength(2);
  });

  it('a push between the readings starts over', () => {
    const player = watching({ auto_merge: autoMerge });
    look(player, READY);
    look(player, { ...READY, merge: ok({ ...OPEN, headSha: 'sha2' }) });
    expect(player.asked('merge')).toHaveLength(0);
  });

  it('deletes the branch after its own merge, and stops watching whatever comes of that', () => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, READY);
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged' } });
    player.after(0);
    // Some forges show the head of the branch as it is by now; what was merged is what we sent.
    look(player, { merge: ok({ ...OPEN, merged: true, headSha: 'pushed later' }) });
    expect(player.asked('delete-branch')).toMatchObject([{ headSha: 'sha1' }]);
    player.send({ type: 'branch-deleted', issueId: '1', fault: FAULT });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.state.watches.size).toBe(0);
  });

  /** Up to the look that finds the request merged. */
  function merged(player: Player, findings: Partial<Findings> = {}): void {
    lookTwice(player, READY);
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged' } });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }), ...findings });
  }

  it('waits for the run under way, which may push', () => {
    const player = watching({ auto_merge: autoMerge, review_comments: { ...BASE, debounceMs: 0, trust: 'anyone' as const } });
    look(player, { ...READY, reviews: ok([comment('a')]) });
    look(player, { ...READY, reviews: ok([comment('a')]) });
    expect(player.asked('merge')).toHaveLength(0);
    expect(progress(player, 'auto_merge')?.waitingFor).toBe('the run under way to end');
    finishTurn(player);
    lookTwice(player, { ...READY, reviews: ok([comment('a')]) });
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('does not wait for a handoff that the tracker does not take', () => {
    const player = createPlayer(
      settingsWith({
        rest: {
          reactions: {
            provider: 'nsproject',
            connection: null,
            projects: ['o/r'],
            votes: 'anyone',
            on: { auto_merge: autoMerge },
          },
        },
      }),
    );
    player.poll([issueWith({ id: '1' })]);
    player.exit('1', { scm: SCM });
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'failed', fault: FAULT } });
    player.after(0);
    expect(player.state.claims.get('1')).toMatchObject({ phase: 'waiting', then: { kind: 'handoff' } });
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('completes the issue only after the branch is gone, so that a crash forgets neither', () => {
    const player = watching({ auto_merge: autoMerge, merge_completion: { ...BASE, targetState: 'done' } });
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
    const player = watching({ auto_merge: autoMerge });
    merged(player, { issueState: ok('done') });
    expect(player.asked('delete-branch')).toHaveLength(1);
    player.send({ type: 'branch-deleted', issueId: '1', fault: null });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.state.watches.size).toBe(0);
    expect(player.asked('remove-workspace')).toHaveLength(1);
  });

  it('keeps the branch in mind when a cleanup finds the issue terminal first', () => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, READY);
    player.send({ type: 'cleanup-answered', issues: ok([issueWith({ id: '1', state: 'done' })]) });
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged' } });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it.each<[string, Partial<MergeStatus>]>([
    ['another branch than the record says', { headBranch: 'somebody-elses' }],
    ['the base itself, as in a fork', { headBranch: 'b', baseBranch: 'b' }],
    ['it as the target, and no source', { headBranch: '', baseBranch: 'b' }],
    ['a fork as its place', { headBranch: 'b', fork: true }],
  ])('keeps the branch when the forge names %s', (_name, status) => {
    const player = watching({ auto_merge: autoMerge });
    merged(player, { merge: ok({ ...OPEN, merged: true, ...status }) });
    expect(player.everAsked('delete-branch')).toHaveLength(0);
  });

  it.each([
    ['tracker_auth_error', 'back-off-at-cap', true],
    ['tracker_payload_error', 'back-off-at-cap', true],
    ['scm_conflict_error', 'back-off', false],
    ['tracker_transport_error', 'back-off', false],
  ] as const)('a merge refused with %s (%s) asks a person at once: %s', (kind, consequence, atOnce) => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, READY);
    player.send({
      type: 'merge-answered',
      issueId: '1',
      expectedSha: 'sha1',
      outcome: { kind: 'refused', fault: { ...FAULT, kind, consequence }, unsure: false },
    });
    expect(progress(player, 'auto_merge')?.escalated).toBe(atOnce);
  });

  it('asks a person when merges keep being refused, and merges that head no more', () => {
    const player = watching({ auto_merge: autoMerge });
    for (let round = 0; round < 3; round += 1) {
      lookTwice(player, READY);
      player.send({
        type: 'merge-answered',
        issueId: '1',
        expectedSha: 'sha1',
        outcome: { kind: 'refused', fault: FAULT, unsure: false },
      });
    }
    expect(progress(player, 'auto_merge')?.escalated).toBe(true);
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
  });

  it('counts refusals of a head also when the forge had to think in between', () => {
    const player = watching({ auto_merge: autoMerge });
    for (let round = 0; round < 3; round += 1) {
      lookTwice(player, READY);
      player.send({
        type: 'merge-answered',
        issueId: '1',
        expectedSha: 'sha1',
        outcome: { kind: 'refused', fault: FAULT, unsure: false },
      });
      look(player, { ...READY, merge: ok({ ...OPEN, mergeability: 'unknown' }) });
    }
    expect(progress(player, 'auto_merge')).toMatchObject({ escalated: true, used: 3 });
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(0);
    lookTwice(player, { ...READY, merge: ok({ ...OPEN, headSha: 'sha2' }) });
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('never deletes a branch of another name than the forge says, even when the claim changed meanwhile', () => {
    const player = watching({ auto_merge: autoMerge });
    merged(player, { merge: ok({ ...OPEN, merged: true, headBranch: 'other' }) });
    expect(player.everAsked('delete-branch')).toHaveLength(0);
    expect(player.everTold('reaction:request:refused')).toHaveLength(1);
  });

  describe('a head without checks', () => {
    const bare: Partial<Findings> = { ...READY, ciStatus: ok('') };

    it('is merged only after it was seen that long without one', () => {
      const player = watching({ auto_merge: { ...autoMerge, ciGraceMs: 60_000 } });
      for (let looks = 0; looks < 6; looks += 1) look(player, bare);
      expect(player.asked('merge')).toHaveLength(0);
      player.after(60_000);
      lookTwice(player, bare);
      expect(player.asked('merge')).toHaveLength(1);
    });

    it('waits anew for a new head', () => {
      const player = watching({ auto_merge: { ...autoMerge, ciGraceMs: 60_000 } });
      look(player, bare);
      player.after(60_000);
      const pushed = { ...bare, merge: ok({ ...OPEN, headSha: 'sha2' }) };
      lookTwice(player, pushed);
      expect(player.asked('merge')).toHaveLength(0);
    });
  });

  it('with require_ci off, unstable counts as clean and CI is not asked for', () => {
    const player = watching({ auto_merge: { ...autoMerge, requireCi: false } });
    const { ciStatus: _unasked, ...rest } = READY;
    lookTwice(player, { ...rest, merge: ok({ ...OPEN, mergeability: 'unstable' }) });
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('asks a person about a failed job that a manual pipeline hides', () => {
    const player = watching({ auto_merge: autoMerge });
    look(player, { ...READY, ciStatus: ok('failing-unseen') });
    expect(progress(player, 'auto_merge')).toMatchObject({ escalated: true });
    expect(player.state.readings.get('1')?.ci).toBe('failing');
    lookTwice(player, READY);
    expect(player.asked('merge')).toHaveLength(1);
  });

  const refuse = (player: Player, unsure = false): void => {
    const fault = { ...FAULT, kind: unsure ? 'tracker_transport_error' : 'scm_conflict_error' } as const;
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'refused', fault, unsure } });
  };

  it.each([
    [0, 1],
    [1, 2],
    [2, 3],
  ])('max_retries %i asks a person after %i refusals', (budget, refusals) => {
    const player = watching({ auto_merge: { ...autoMerge, budget } });
    for (let tries = 1; tries <= refusals; tries += 1) {
      expect(progress(player, 'auto_merge')?.escalated).toBe(false);
      lookTwice(player, READY);
      refuse(player);
    }
    expect(progress(player, 'auto_merge')).toMatchObject({ escalated: true, used: refusals });
  });

  it.each<[string, Partial<Findings>]>([
    ['the decision', { ...READY, decision: ok('NOT_REQUIRED') }],
    ['the mergeability', { ...READY, merge: ok({ ...OPEN, mergeability: 'blocked' }) }],
    ['the head', { ...READY, merge: ok({ ...OPEN, headSha: 'sha2' }) }],
  ])('an escalation ends when %s changes', (_name, changed) => {
    const player = watching({ auto_merge: { ...autoMerge, budget: 0 } });
    lookTwice(player, READY);
    refuse(player);
    look(player, { ...READY, merge: ok({ ...OPEN, mergeability: 'unknown' }) });
    expect(progress(player, 'auto_merge')?.escalated).toBe(true);
    look(player, changed);
    expect(progress(player, 'auto_merge')?.escalated).toBe(false);
  });

  it('an escalation ends by a decision that changed while a run of ours was waited for', () => {
    const reviews = { ...BASE, debounceMs: 0, trust: 'anyone' as const };
    const player = watching({ review_comments: reviews, auto_merge: { ...autoMerge, budget: 0 } });
    lookTwice(player, { ...READY, reviews: ok([]) });
    refuse(player);
    look(player, { ...READY, decision: ok('CHANGES_REQUESTED'), reviews: ok([comment('1')]) });
    finishTurn(player);
    lookTwice(player, { ...READY, reviews: ok([]) });
    expect(player.asked('merge')).toHaveLength(1);
  });

  it('a merge whose answer was an error but that was done is ours, branch and all, also after the window', () => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, READY);
    refuse(player, true);
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.told('reaction:merge:succeeded')).toMatchObject([{ facts: { byUs: true } }]);
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it('such a merge is told also when it closed the issue', () => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, READY);
    refuse(player, true);
    look(player, { merge: ok({ ...OPEN, merged: true }), issueState: ok('done') });
    expect(player.told('reaction:merge:succeeded')).toMatchObject([{ facts: { byUs: true } }]);
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it.each<[string, Partial<Findings>]>([
    ['that can be merged', READY],
    ['that cannot, as while the forge merges', { ...READY, merge: ok({ ...OPEN, mergeability: 'blocked' }) }],
  ])('such a merge is ours also when the first look after it still shows a request %s', (_name, findings) => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, READY);
    refuse(player, true);
    look(player, findings);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.told('reaction:merge:succeeded')).toMatchObject([{ facts: { byUs: true } }]);
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it.each([
    ['nobody was asked', 2],
    ['a person was asked', 0],
  ])('a merge that did not show for a minute was not made: whoever merges it later, when %s, is not us', (_name, budget) => {
    const player = watching({ auto_merge: { ...autoMerge, budget } });
    lookTwice(player, READY);
    refuse(player, true);
    const blocked = { ...READY, merge: ok({ ...OPEN, mergeability: 'unknown' as const }) };
    for (let looks = 0; looks < 8; looks += 1) look(player, blocked);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.everTold('reaction:merge:succeeded')).toMatchObject([{ facts: { byUs: false } }]);
    expect(player.everAsked('delete-branch')).toEqual([]);
  });

  it('a merge that the forge said yes to is sent once while it still shows the request open', () => {
    const player = watching({ auto_merge: autoMerge });
    lookTwice(player, READY);
    const outcome = { kind: 'merged' } as const;
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome });
    for (let looks = 0; looks < 4; looks += 1) look(player, READY);
    expect(progress(player, 'auto_merge')).toMatchObject({ used: 0, waitingFor: 'the forge to show the merge' });
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.everAsked('merge')).toHaveLength(1);
    expect(player.everTold('reaction:merge:succeeded')).toHaveLength(1);
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it('counts it as refused after a minute, tries it again, and takes it for ours whenever it shows', () => {
    const player = watching({ auto_merge: { ...autoMerge, budget: 1 } });
    const outcome = { kind: 'merged' } as const;
    for (let tries = 1; tries <= 2; tries += 1) {
      lookTwice(player, READY);
      expect(player.everAsked('merge')).toHaveLength(tries);
      player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome });
      player.after(60_000);
      look(player, READY);
      expect(progress(player, 'auto_merge')).toMatchObject({ used: tries, escalated: tries === 2 });
    }
    look(player, READY);
    expect(progress(player, 'auto_merge')?.escalated).toBe(true);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it('a window that ends while a merge is under way does not drop the branch', () => {
    const player = watching({ auto_merge: { ...autoMerge, watchWindowMs: 100_000 } });
    lookTwice(player, READY);
    player.after(200_000);
    expect(player.state.watches.size).toBe(1);
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged' } });
    player.after(0);
    look(player, { merge: ok({ ...OPEN, merged: true }) });
    expect(player.asked('delete-branch')).toHaveLength(1);
  });

  it('a forge that asks to come again spends nothing, and is asked again after two clean readings', () => {
    const player = watching({ auto_merge: { ...autoMerge, budget: 1 } });
    lookTwice(player, READY);
    const before = player.asked('merge').length;
    const outcome = { kind: 'postponed', why: 'Please try again later' } as const;
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome });
    expect(progress(player, 'auto_merge')).toMatchObject({ used: 0, escalated: false });
    expect(progress(player, 'auto_merge')?.waitingFor).toContain('asks to come again');
    lookTwice(player, READY);
    expect(before).toBe(1);
    expect(player.asked('merge')).toHaveLength(1);
    expect(player.told('reaction:escalation:raised')).toEqual([]);
  });

  it('a forge that asks to come again is told once for a head, and after ten times counts as one that refuses', () => {
    const player = watching({ auto_merge: { ...autoMerge, budget: 1 } });
    const findings = (headSha: string) => ({ ...READY, merge: ok({ ...OPEN, headSha }) });
    const postpone = (headSha: string): void => {
      lookTwice(player, findings(headSha));
      const outcome = { kind: 'postponed', why: 'Please try again later' } as const;
      player.send({ type: 'merge-answered', issueId: '1', expectedSha: headSha, outcome });
    };
    for (let times = 0; times < 10; times += 1) postpone('sha1');
    expect(player.everTold('reaction:merge:postponed')).toHaveLength(1);
    expect(progress(player, 'auto_merge')).toMatchObject({ used: 0, escalated: false });
    postpone('sha1');
    expect(player.told('reaction:merge:failed')).toMatchObject([{ facts: { error: 'Please try again later' } }]);
    expect(progress(player, 'auto_merge')).toMatchObject({ used: 1, escalated: false });
    postpone('sha1');
    expect(progress(player, 'auto_merge')).toMatchObject({ used: 2, escalated: true });
    postpone('sha2');
    expect(progress(player, 'auto_merge')).toMatchObject({ used: 0, escalated: false });
    expect(player.everTold('reaction:merge:postponed')).toHaveLength(2);
  });

  it('a head that is pushed before the merge arrives asks no person, and is merged once it is clean', () => {
    const player = watching({ auto_merge: { ...autoMerge, budget: 0 } });
    lookTwice(player, READY);
    const outcome = { kind: 'postponed', why: 'Head branch was modified' } as const;
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome });
    lookTwice(player, { ...READY, merge: ok({ ...OPEN, headSha: 'sha2' }) });
    expect(player.asked('merge')).toMatchObject([{ order: { expectedSha: 'sha2' } }]);
    expect(player.everTold('reaction:escalation:raised')).toEqual([]);
    expect(player.everTold('reaction:merge:failed')).toEqual([]);
  });

  describe('the queue of the forge', () => {
    function queued(): Player {
      const player = watching({ auto_merge: { ...autoMerge, budget: 0 } });
      lookTwice(player, READY);
      player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'queued' } });
      look(player, { ...READY, queue: ok(true) });
      expect(player.everAsked('merge')).toHaveLength(1);
      return player;
    }

    it('is waited for, and leaving it counts as a refusal when a second look shows the request open', () => {
      const player = queued();
      look(player, { ...READY, queue: ok(false) });
      expect(progress(player, 'auto_merge')).toMatchObject({ escalated: false, used: 0, nextAt: player.now + 2_000 });
      look(player, { ...READY, queue: ok(false) });
      expect(progress(player, 'auto_merge')).toMatchObject({ escalated: true });
    });

    it('is waited for also by a request that was put back', () => {
      const player = queued();
      for (const isIn of [false, true, false]) look(player, { ...READY, queue: ok(isIn) });
      expect(progress(player, 'auto_merge')).toMatchObject({ escalated: false, used: 0 });
    });

    it('may merge between two readings of one look: that merge is ours, branch and all', () => {
      const player = queued();
      look(player, { ...READY, queue: ok(false) });
      look(player, { merge: ok({ ...OPEN, merged: true }) });
      expect(player.everTold('reaction:merge:failed')).toEqual([]);
      expect(player.everTold('reaction:merge:succeeded')).toMatchObject([{ facts: { byUs: true } }]);
      expect(player.everAsked('delete-branch')).toHaveLength(1);
    });
  });
});
