import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import type { Fault } from '../model/fault.ts';
import type { Issue } from '../model/issue.ts';
import type { Quota } from '../model/quota.ts';
import { presentHold } from '../rules/eligibility.ts';
import { snapshotOf } from '../views/snapshot.ts';

const MINUTE = 60_000;

function hear(player: Player, changes: Partial<Quota> = {}): void {
  const kind = player.state.settings.tracker.kind;
  const quota: Quota = {
    kind,
    resource: 'core',
    rule: 'hold',
    limit: 5000,
    remaining: 5000,
    resetAt: player.now + 30 * MINUTE,
    pollCost: 10,
    ...changes,
  };
  player.send({ type: 'quotas-read', quotas: [quota] });
}

function polled(settings = settingsWith()): Player {
  const player = createPlayer(settings);
  player.poll([]);
  return player;
}

/** The poll or lookup under way finds issue 1 in a state. */
function answer(player: Player, candidates: readonly Issue[] = [], state = 'todo'): void {
  const states = { ok: true, value: new Map([['1', state]]) } as const;
  player.send({ type: 'poll-answered', candidates: { ok: true, value: candidates }, states, preflightProblem: null });
}

/** The lookup under way fails. */
function refuse(player: Player, nature: Pick<Fault, 'isLimit' | 'retryAfterMs'>): void {
  const failed = { ok: false, fault: { kind: 'tracker_api_error', message: 'no', consequence: 'back-off', ...nature } } as const;
  player.send({ type: 'poll-answered', candidates: failed, states: failed, preflightProblem: null });
}

/** The same with issue 1 at work. */
function withRun(player: Player): Player {
  const worked = createPlayer();
  worked.poll([issueWith({ id: '1' })]);
  player.state = { ...player.state, live: worked.state.live, claims: worked.state.claims };
  return player;
}

describe('a poll that the quota cannot pay for', () => {
  it('waits for the reset, is told once and shows until then', () => {
    const player = polled();
    hear(player, { remaining: 1009 });
    player.after(MINUTE);
    expect(player.asked('poll')).toEqual([]);
    expect(player.told('poll:tick:postponed')).toHaveLength(1);
    expect(player.state.poll.postponed).toMatchObject({
      resource: 'core',
      until: player.now + 29 * MINUTE,
      reason: `the tracker's quota "core" cannot pay for a poll: 1009 of 5000 are left, and 20 % are kept for people`,
    });
    expect(snapshotOf(player.state, player.now).poll.nextAt).toBe(player.now + 29 * MINUTE);
    player.after(29 * MINUTE);
    expect(player.asked('poll')).toHaveLength(1);
    expect(player.state.poll.postponed).toBeNull();
    expect(player.told('poll:tick:resumed')).toHaveLength(1);
  });

  it('leaves what runs held against the tracker, now and then', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    hear(player, { remaining: 900 });
    player.after(MINUTE);
    expect(player.asked('poll')).toMatchObject([{ lookups: ['1'], onlyStates: true }]);
    answer(player);
    player.after(MINUTE);
    expect(player.asked('poll')).toEqual([]);
    player.after(MINUTE);
    expect(player.asked('poll')).toHaveLength(1);
    answer(player, [], 'done');
    expect(player.asked('stop-run')).toHaveLength(1);
    expect(player.everTold('poll:tick:postponed')).toHaveLength(1);
  });

  it('looks up what runs also where nothing is left and what was started meanwhile, for the remote may answer', () => {
    const player = polled();
    hear(player, { remaining: 0 });
    player.after(MINUTE);
    expect(player.asked('poll')).toEqual([]);
    withRun(player);
    player.after(2 * MINUTE);
    expect(player.asked('poll')).toMatchObject([{ lookups: ['1'], onlyStates: true }]);
    answer(player, [], 'done');
    expect(player.asked('stop-run')).toHaveLength(1);
  });

  it('looks up what runs again in two minutes after a failure, not before the time that a refusal names', () => {
    const player = withRun(polled());
    hear(player, { remaining: 0 });
    player.after(MINUTE);
    refuse(player, {});
    player.after(2 * MINUTE);
    expect(player.asked('poll')).toHaveLength(1);
    refuse(player, { isLimit: true, retryAfterMs: 10 * MINUTE });
    player.after(9 * MINUTE);
    expect(player.asked('poll')).toEqual([]);
    player.after(MINUTE);
    expect(player.asked('poll')).toMatchObject([{ onlyStates: true }]);
    expect(player.everAsked('stop-run')).toEqual([]);
  });

  it('does not come by a webhook, nor does a lookup of what runs', () => {
    const player = withRun(polled());
    hear(player, { remaining: 900 });
    player.after(MINUTE);
    // One while the lookup is under way, and one after it.
    player.send({ type: 'webhook-received' });
    answer(player);
    player.send({ type: 'webhook-received' });
    player.after(1000);
    expect(player.asked('poll')).toEqual([]);
  });

  it('comes once for each time that a person asks for it, out of what is kept for people', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    hear(player, { remaining: 900 });
    player.after(MINUTE);
    answer(player);
    const { postponed } = player.state.poll;
    player.send({ type: 'refresh-requested', byPerson: true });
    player.after(1000);
    expect(player.asked('poll')).toMatchObject([{ lookups: ['1'] }]);
    expect(player.asked('poll')[0]).not.toHaveProperty('onlyStates');
    answer(player, [issueWith({ id: '2' })]);
    expect(player.asked('start-run')).toHaveLength(1);
    expect(player.state.poll.postponed).toEqual(postponed);
    player.after(MINUTE);
    expect(player.asked('poll')).toMatchObject([{ onlyStates: true }]);
    expect(player.everTold('poll:tick:postponed')).toHaveLength(1);
    expect(player.everTold('poll:tick:completed')).toHaveLength(2);
  });

  it('comes by request also where a lookup falls due first', () => {
    const player = withRun(polled());
    hear(player, { remaining: 900 });
    player.after(MINUTE);
    answer(player);
    player.now = player.state.poll.nextAt - 50;
    player.send({ type: 'refresh-requested', byPerson: true });
    player.after(60);
    expect(player.asked('poll')[0]).not.toHaveProperty('onlyStates');
  });

  it('does not come by request where nothing is left: running issues are looked up', () => {
    const player = createPlayer();
    player.poll([issueWith({ id: '1' })]);
    hear(player, { remaining: 0 });
    player.after(MINUTE);
    answer(player);
    player.send({ type: 'refresh-requested', byPerson: true });
    player.after(1000);
    expect(player.asked('poll')).toMatchObject([{ lookups: ['1'], onlyStates: true }]);
  });

  it.each([
    ['while it waits', (player: Player) => hear(player, { remaining: 900 })],
    [
      'while the tracker wants to be left alone',
      (player: Player) => player.send({ type: 'polls-postponed', byMs: 30 * MINUTE, error: 'slow down', remedy: null }),
    ],
  ])('does not come %s because a worker joined', (_, wait) => {
    const player = polled();
    wait(player);
    player.after(MINUTE);
    player.send({ type: 'refresh-requested', byPerson: false });
    player.after(1000);
    expect(player.asked('poll')).toEqual([]);
  });

  it('gives candidates that nothing else holds its reason', () => {
    const player = createPlayer();
    const issue = issueWith({ id: '1', identifier: 'A-1', title: 'One', state: 'todo' });
    const hold = { issue, reason: 'next_poll' as const, detail: '' };
    expect(presentHold(player, hold).reason).toBe('next_poll');
    hear(player, { remaining: 0 });
    player.after(0);
    expect(presentHold(player, hold)).toEqual({ reason: 'tracker_quota', detail: player.state.poll.postponed?.reason });
  });

  it('begins when a later reading pays for it', () => {
    const player = polled();
    hear(player, { remaining: 0 });
    player.after(MINUTE);
    hear(player, { remaining: 4000 });
    expect(player.told('poll:tick:resumed')).toHaveLength(1);
    player.after(0);
    expect(player.asked('poll')).toHaveLength(1);
  });

  it('waits no longer where another tracker is watched', () => {
    const player = polled();
    hear(player, { remaining: 0 });
    player.after(MINUTE);
    player.send({ type: 'tracker-left' });
    expect(player.told('poll:tick:resumed')).toHaveLength(1);
  });

  it('that costs more than there ever is begins with a full budget', () => {
    const player = polled();
    hear(player, { limit: 30, remaining: 29, pollCost: 40 });
    player.after(MINUTE);
    expect(player.asked('poll')).toEqual([]);
    hear(player, { limit: 30, remaining: 30, pollCost: 40 });
    player.after(0);
    expect(player.asked('poll')).toHaveLength(1);
  });
});

describe('a poll begins', () => {
  it.each([
    ['with enough for people left', { remaining: 1010 }],
    ['when the reset is not told', { remaining: 0, resetAt: null }],
    ['when the reset has passed', { remaining: 0, resetAt: 1 }],
    ['whatever a budget says that only shows', { remaining: 0, rule: 'show' }],
    ['whatever another remote says', { remaining: 0, kind: 'elsewhere' }],
    ['whatever a budget says that polls do not use', { remaining: 0, pollCost: null }],
    ['as long as one is left, where polls cost nothing', { remaining: 1, pollCost: 0 }],
  ] as const)('%s', (_, changes) => {
    const player = polled();
    hear(player, changes);
    player.after(MINUTE);
    expect(player.asked('poll')).toHaveLength(1);
  });

  it('with the last request when nothing is kept for people', () => {
    const { tracker } = settingsWith();
    const player = polled(settingsWith({ tracker: { ...tracker, quotaReservePercent: 0 } }));
    hear(player, { remaining: 10 });
    player.after(MINUTE);
    expect(player.asked('poll')).toHaveLength(1);
  });
});

describe('a budget that paces polls', () => {
  it('spreads them until its reset, told when it begins and ends', () => {
    const player = polled();
    const pace = { rule: 'pace', limit: 250_000, remaining: 110_000, pollCost: 6000, resetAt: player.now + 60 * MINUTE } as const;
    hear(player, pace);
    player.poll([]);
    // 60,000 points above the share for people pay for ten polls.
    expect(player.told('poll:pace:slowed')).toHaveLength(1);
    expect(player.state.poll.pacedTo).toBeCloseTo((pace.resetAt - player.now) / 10, -2);
    hear(player, { ...pace, remaining: 250_000, pollCost: 10 });
    player.poll([]);
    expect(player.told('poll:pace:restored')).toHaveLength(1);
    expect(player.state.poll.pacedTo).toBeNull();
  });
});
