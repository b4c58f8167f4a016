import { describe, expect, it } from 'vitest';
import type { Player } from '../../../test/support/core.ts';
import { BASE, FAULT, OPEN, answerLook, look, ok, progress, startTurn, watching } from '../../../test/support/watched.ts';
import type { Fault } from '../model/fault.ts';
import type { Findings } from '../model/findings.ts';
import type { LabelEvent } from '../model/merge-request.ts';

const LIMIT: Fault = { kind: 'tracker_api_error', message: 'rate limit', consequence: 'back-off', isLimit: true };
const AN_HOUR = 3_600_000;
const MERGED = { merge: ok({ ...OPEN, merged: true }) };
const AUTO_MERGE = {
  ...BASE,
  budget: 0,
  strategy: 'squash',
  requireCi: false,
  deleteBranch: true,
  dryRun: false,
  ciGraceMs: 0,
} as const;
const COMPLETION = { ...BASE, budget: 0, targetState: 'done' };

/** Lets the time pass, a second at a time, and tells whether something was looked at. */
function looksWithin(player: Player, ms: number): boolean {
  for (let passed = 0; passed < ms; passed += 1_000) {
    player.after(1_000);
    if (player.asked('inspect').length > 0) return true;
  }
  return false;
}

/** Lets the time pass and answers every look. */
function lookFor(player: Player, ms: number, findings: Partial<Findings>): void {
  for (let passed = 0; passed < ms; passed += 1_000) {
    player.after(1_000);
    const [effect] = player.asked('inspect');
    if (effect) answerLook(player, effect, findings);
  }
}

describe('a look that the forge asks to put off', () => {
  it.each<[string, Fault, number]>([
    ['as long as it asks', { ...LIMIT, retryAfterMs: 90_000 }, 90_000],
    ['no less than its own delay', { ...LIMIT, retryAfterMs: 1_000 }, 20_000],
    ['an hour at most', { ...LIMIT, retryAfterMs: 24 * AN_HOUR }, AN_HOUR],
    ['its own delay where a limit tells no time', LIMIT, 20_000],
    ['as long as an outage asks', { ...FAULT, retryAfterMs: 90_000 }, 90_000],
  ])('comes later by %s', (_name, fault, delay) => {
    const player = watching({ merge_conflicts: BASE });
    look(player, { merge: { ok: false, fault } });
    expect(progress(player, 'merge_conflicts')).toMatchObject({ used: 0, nextAt: player.now + delay });
    player.send({ type: 'webhook-received' });
    expect(progress(player, 'merge_conflicts')?.nextAt).toBe(player.now + delay);
  });

  it.each<[string, Parameters<typeof watching>[0], Partial<Findings>]>([
    ['checks', { ci_failure: { ...BASE, maxLogLines: 5 } }, { ci: { ok: false, fault: { ...LIMIT, retryAfterMs: 90_000 } } }],
    [
      'account',
      { label_commands: { ...BASE, reviewLabel: 'r', fixLabel: 'f' } },
      { labels: ok([]), self: { ok: false, fault: { ...LIMIT, retryAfterMs: 90_000 } } },
    ],
  ])('also where only the %s could not be read', (_name, on, findings) => {
    const player = watching(on);
    look(player, findings);
    const [only] = Object.values(player.state.watches.get('1')?.reactions ?? {});
    expect(only?.nextAt).toBe(player.now + 90_000);
  });
});

describe('a limit that a merge meets', () => {
  const READY: Partial<Findings> = { decision: ok('APPROVED'), scope: ok({ mayMerge: 'yes', detail: '' }) };

  function answered(fault: Fault): Player {
    const player = watching({ auto_merge: AUTO_MERGE });
    tryMerge(player, fault);
    return player;
  }

  function tryMerge(player: Player, fault: Fault): void {
    for (let looks = 0; looks < 3 && player.asked('merge').length === 0; looks += 1) look(player, READY);
    expect(player.asked('merge')).toHaveLength(1);
    player.send({
      type: 'merge-answered',
      issueId: '1',
      expectedSha: 'sha1',
      outcome: { kind: 'refused', fault, unsure: false },
    });
  }

  it('costs nothing, is waited for, and is told', () => {
    const player = answered({ ...LIMIT, retryAfterMs: 30_000 });
    expect(player.told('reaction:merge:postponed')).toMatchObject([{ facts: { number: 7, why: 'rate limit' } }]);
    expect(progress(player, 'auto_merge')).toMatchObject({ used: 0, escalated: false });
    player.send({ type: 'webhook-received' });
    expect(looksWithin(player, 29_000)).toBe(false);
    tryMerge(player, { ...LIMIT, retryAfterMs: 30_000 });
    expect(player.everTold('reaction:escalation:raised')).toEqual([]);
    player.after(30_000);
    tryMerge(player, FAULT);
    expect(player.everTold('reaction:escalation:raised')).toHaveLength(1);
  });

  it('leaves the merge ours where it was done all the same', () => {
    const player = watching({ auto_merge: AUTO_MERGE });
    look(player, READY);
    look(player, READY);
    const outcome = { kind: 'refused', fault: { ...LIMIT, retryAfterMs: 30_000 }, unsure: true } as const;
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome });
    look(player, MERGED);
    expect(player.everTold('reaction:merge:succeeded')).toMatchObject([{ facts: { byUs: true } }]);
  });
});

describe('a limit that comes after the merge', () => {
  const READY: Partial<Findings> = { decision: ok('APPROVED'), scope: ok({ mayMerge: 'yes', detail: '' }) };

  it('has the branch deleted later, and the issue completed after that', () => {
    const player = watching({ auto_merge: AUTO_MERGE, merge_completion: COMPLETION });
    look(player, READY);
    look(player, READY);
    player.send({ type: 'merge-answered', issueId: '1', expectedSha: 'sha1', outcome: { kind: 'merged' } });
    look(player, MERGED);
    player.send({ type: 'branch-deleted', issueId: '1', fault: { ...LIMIT, retryAfterMs: 45_000 } });
    expect(player.everTold('reaction:branch:kept')).toEqual([]);
    const tried = player.everAsked('delete-branch').length;
    lookFor(player, 44_000, MERGED);
    expect(player.everAsked('delete-branch')).toHaveLength(tried);
    expect(player.everAsked('complete')).toEqual([]);
    player.after(1_000);
    look(player, MERGED);
    expect(player.everAsked('delete-branch')).toHaveLength(tried + 1);
    player.send({ type: 'branch-deleted', issueId: '1', fault: null });
    look(player, MERGED);
    expect(player.everAsked('complete')).toHaveLength(1);
  });

  it('has the issue moved later, whatever else is looked at meanwhile', () => {
    const player = watching({ merge_completion: COMPLETION, merge_conflicts: BASE });
    look(player, MERGED);
    player.send({ type: 'completion-answered', issueId: '1', fault: { ...LIMIT, retryAfterMs: 45_000 } });
    lookFor(player, 44_000, MERGED);
    expect(player.everAsked('complete')).toHaveLength(1);
    expect(progress(player, 'merge_completion')).toMatchObject({ used: 0, escalated: false });
    player.after(1_000);
    look(player, MERGED);
    expect(player.everAsked('complete')).toHaveLength(2);
  });
});

it('a label that a limit kept from being taken off is taken off later', () => {
  const player = watching({ label_commands: { ...BASE, reviewLabel: 'foray:review', fixLabel: '' } });
  const event: LabelEvent = { id: '1', label: 'foray:review', added: true, actor: 'eve', at: '2026-01-01T00:00:00Z' };
  const labelled = { merge: ok({ ...OPEN, labels: ['foray:review'] }), labels: ok([event]), self: ok('svc') };
  look(player, labelled);
  startTurn(player);
  const [effect] = player.everAsked('remove-label');
  if (!effect) throw new Error('no label is taken off');
  const fault = { ...LIMIT, retryAfterMs: 45_000 };
  player.send({ type: 'label-removed', issue: effect.issue, label: effect.label, fault });
  expect(player.everTold('reaction:label:kept')).toEqual([]);
  expect(progress(player, 'label_commands')?.nextAt).toBe(player.now + 45_000);
  player.after(45_000);
  look(player, labelled);
  expect(player.everAsked('remove-label')).toHaveLength(2);
});

describe('a move of the issue that may heal', () => {
  it('is tried again after a person was asked, every five minutes', () => {
    const player = watching({ merge_completion: COMPLETION });
    look(player, MERGED);
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    expect(player.everTold('reaction:escalation:raised')).toHaveLength(1);
    lookFor(player, 299_000, MERGED);
    expect(player.everAsked('complete')).toHaveLength(1);
    lookFor(player, 15_000, MERGED);
    expect(player.everAsked('complete')).toHaveLength(2);
    player.send({ type: 'completion-answered', issueId: '1', fault: null });
    expect(player.everTold('reaction:escalation:raised')).toHaveLength(1);
    expect(player.state.watches.size).toBe(0);
  });

  it('is finished where its first half makes the issue look done', () => {
    const player = watching({ merge_completion: COMPLETION });
    look(player, MERGED);
    player.send({ type: 'completion-answered', issueId: '1', fault: FAULT });
    lookFor(player, 400_000, { ...MERGED, issueState: ok('done') });
    expect(player.everAsked('complete')).toMatchObject([{}, { begun: true }]);
  });
});

it('what is merged is not looked at without a rest while the issue waits for a person', () => {
  const player = watching({ merge_completion: COMPLETION, merge_conflicts: BASE });
  look(player, MERGED);
  player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind: 'tracker_auth_error' } });
  look(player, MERGED, 0);
  expect(looksWithin(player, 9_000)).toBe(false);
});

it('a comment or label for the tracker waits as long as a limit asks', () => {
  const player = watching({ merge_completion: COMPLETION });
  look(player, MERGED);
  player.send({ type: 'completion-answered', issueId: '1', fault: { ...FAULT, kind: 'tracker_auth_error' } });
  player.after(0);
  const [write] = player.everAsked('write-out');
  if (!write) throw new Error('nothing is written');
  player.send({ type: 'outbox-answered', id: write.entry.id, fault: { ...LIMIT, retryAfterMs: 90_000 } });
  expect(player.state.outbox.get(write.entry.id)?.dueAt).toBe(player.now + 90_000);
});
