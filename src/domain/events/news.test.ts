import { describe, expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { issueWith } from '../../../test/support/issues.ts';
import { settingsWith } from '../../../test/support/settings.ts';
import { NOTHING_DURABLE, type Durable } from '../model/durable.ts';
import type { Fault } from '../model/fault.ts';
import { isNotification, NOTIFICATION_EVENTS, type NotificationEntry, type NotificationTarget } from '../model/notification.ts';
import type { AgentSettings } from '../model/settings.ts';

const EVERYTHING: NotificationTarget = {
  name: 'OPS',
  url: 'https://hook',
  format: 'json',
  on: NOTIFICATION_EVENTS,
  secret: null,
};
const FAULT: Fault = { kind: 'turn_failed', message: 'agent: turn_failed: it broke', consequence: 'back-off' };
const DOWN: Fault = { kind: 'notification_error', message: 'notification: the receiver answered 503', consequence: 'back-off' };

function telling(targets: readonly NotificationTarget[] = [EVERYTHING], agent: Partial<AgentSettings> = {}): Player {
  const player = createPlayer(settingsWith({ agent, rest: { notifications: targets } }));
  player.poll([issueWith({ id: '1', identifier: 'A-1', title: 'Add\na page' })]);
  return player;
}

function waiting({ state }: Pick<Player, 'state'>): readonly NotificationEntry[] {
  return [...state.outbox.values()].filter(isNotification);
}

function texts(player: Player): readonly string[] {
  return waiting(player).map(({ write }) => `${write.event}${write.over ? ' over' : ''}: ${write.text}`);
}

function failPolls(player: Player, times: number): void {
  const fault: Fault = { kind: 'tracker_api_error', message: 'tracker: no', consequence: 'back-off' };
  for (let count = 0; count < times; count += 1) {
    player.now = Math.max(player.now, player.state.poll.nextAt);
    player.send({ type: 'clock' });
    player.send({
      type: 'poll-answered',
      candidates: { ok: false, fault },
      states: { ok: false, fault },
      preflightProblem: null,
    });
  }
}

/** Polls that can read the tracker, with what stands in the way of sessions. */
function pollWith(player: Player, ...problems: readonly (string | null)[]): void {
  const answer = { candidates: { ok: true, value: [] }, states: { ok: true, value: new Map<string, string>() } } as const;
  for (const preflightProblem of problems) {
    player.now = Math.max(player.now, player.state.poll.nextAt);
    player.send({ type: 'clock' });
    player.send({ type: 'poll-answered', ...answer, preflightProblem });
  }
}

/** The next process, which begins with what is stored; everything was sent, and a command may have changed something. */
function restarted({ state }: Player, changed: Partial<Durable> = {}, targets = [EVERYTHING]): Player {
  const durable = { ...NOTHING_DURABLE, operatorPause: state.operatorPause, told: [...state.told.values()], ...changed };
  return createPlayer(settingsWith({ rest: { notifications: targets } }), durable);
}

describe('what people are told', () => {
  it('a handoff, stored with the decision itself, with the page to look at', () => {
    const player = telling();
    player.exit('1');
    player.send({ type: 'handoff-answered', issueId: '1', runId: 'run-1', outcome: { kind: 'succeeded' } });
    expect(texts(player)).toEqual(['handoff: A-1 "Add a page" is finished and in "review": please review it']);
    expect(waiting(player)).toMatchObject([{ id: 'run-n1', write: { page: '/issues/A-1', target: 'OPS' }, tries: 0 }]);
    expect(player.writes).toContainEqual(expect.objectContaining({ write: 'outbox' }));
  });

  it('a long title, without half a character and without marks that turn the order of reading', () => {
    const player = createPlayer(settingsWith({ rest: { notifications: [EVERYTHING] } }));
    player.poll([issueWith({ id: '1', identifier: 'A-1', title: `\u202Ex\u2066${'😀'.repeat(60)}` })]);
    player.exit('1', { kind: 'error', fault: FAULT });
    expect(texts(player)[0]).toContain(`A-1 "x ${'😀'.repeat(38)}…": a run failed`);
    expect(texts(player)[0]?.isWellFormed()).toBe(true);
  });

  it('the first failure in a row, and no other until it ended well', () => {
    const player = telling();
    player.exit('1', { kind: 'error', fault: FAULT });
    expect(texts(player)).toEqual(['failed: A-1 "Add a page": a run failed, it is tried again: agent: turn_failed: it broke']);
    const told = waiting(player)[0]!;
    player.send({ type: 'outbox-answered', id: told.id, fault: null });
    player.after(400_000);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1', identifier: 'A-1' }) } });
    player.exit('1', { kind: 'error', fault: FAULT });
    expect(texts(player)).toEqual([]);
  });

  it('no failure again because of a limit that the retry meets: that is told as a pause', () => {
    const player = telling();
    player.exit('1', { kind: 'error', fault: FAULT });
    player.after(400_000);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1', identifier: 'A-1' }) } });
    const limit: Fault = { kind: 'agent_usage_limit', message: 'agent: used up', consequence: 'pause-agent' };
    player.exit('1', { kind: 'error', fault: limit });
    expect(waiting(player).map(({ write }) => write.event)).toEqual(['failed', 'paused']);
  });

  it('a failure that parks once, as that; to who wants failures alone, as one', () => {
    const failures = { ...EVERYTHING, name: 'FAILS', on: ['failed'] as const };
    const player = telling([EVERYTHING, failures], { maxAttempts: 1 });
    player.exit('1', { kind: 'error', fault: FAULT });
    expect(waiting(player).map(({ write }) => [write.target, write.event])).toEqual([
      ['OPS', 'parked'],
      ['FAILS', 'failed'],
    ]);
    expect(texts(player)[0]).toMatch(/waits for a person \(out_of_attempts\): .* - then run foray unpark A-1$/);
  });

  it('a failure that parks after others not again to who wants failures alone', () => {
    const player = telling([{ ...EVERYTHING, on: ['failed'] }], { maxAttempts: 2 });
    player.exit('1', { kind: 'error', fault: FAULT });
    player.after(400_000);
    player.send({ type: 'issue-read', issueId: '1', issue: { ok: true, value: issueWith({ id: '1', identifier: 'A-1' }) } });
    player.exit('1', { kind: 'error', fault: FAULT });
    expect(player.state.parked.has('1')).toBe(true);
    expect(texts(player)).toEqual(['failed: A-1 "Add a page": a run failed, it is tried again: agent: turn_failed: it broke']);
  });

  it('an issue that is over its budget as that', () => {
    const player = telling([EVERYTHING], { maxTokens: 10 });
    const tokens = { inputTokens: 9, outputTokens: 9, totalTokens: 18, cacheReadTokens: 0 };
    player.send({ type: 'agent-spoke', issueId: '1', runId: 'run-1', event: { type: 'usage', tokens } });
    player.exit('1', { kind: 'cancelled' });
    expect(texts(player)).toEqual([expect.stringMatching(/^budget: A-1 .*token_budget/)]);
  });

  it('a pause and its end, once for each reason', () => {
    const player = telling();
    player.operator({ kind: 'pause', reason: 'release' });
    player.operator({ kind: 'pause', reason: 'release' });
    player.operator({ kind: 'resume' });
    expect(texts(player)).toEqual([
      'paused: Foray was paused by somebody (release): run foray resume to let it dispatch again',
      'paused over: Foray dispatches again, resumed by somebody',
    ]);
  });

  it('an outage after three polls in a row, and its end', () => {
    const player = telling();
    failPolls(player, 2);
    expect(texts(player)).toEqual([]);
    failPolls(player, 4);
    player.poll([]);
    player.poll([]);
    expect(texts(player)).toEqual([
      expect.stringMatching(/^down: the tracker could not be read 3 times in a row.*tracker: no$/),
      'down over: the tracker can be read again',
    ]);
  });

  it('a service that cannot start sessions', () => {
    const player = createPlayer(settingsWith({ rest: { notifications: [EVERYTHING] } }));
    pollWith(player, 'no program', 'no program', null);
    expect(texts(player)).toEqual(['down: no session can start: no program', 'down over: sessions can start again']);
  });
});

describe('what lasts over a restart', () => {
  const PAUSE = { reason: 'night', by: 'Ada', since: 5 };

  it('an outage that goes on is not told again, and its end is', () => {
    const before = telling();
    failPolls(before, 3);
    expect(before.writes).toContainEqual({ write: 'told', told: { subject: 'tracker', what: '' } });
    const next = restarted(before);
    failPolls(next, 4);
    expect(texts(next)).toEqual([]);
    const last = restarted(next);
    last.poll([]);
    last.poll([]);
    expect(texts(last)).toEqual(['down over: the tracker can be read again']);
    failPolls(last, 3);
    expect(texts(last)).toHaveLength(2);
  });

  it('nor is what keeps sessions from starting, unless it is something else', () => {
    const before = telling();
    pollWith(before, 'no program');
    const next = restarted(before);
    pollWith(next, 'no program', 'no room');
    expect(texts(next)).toEqual(['down: no session can start: no room']);
    const last = restarted(next);
    pollWith(last, null, null);
    expect(texts(last)).toEqual(['down over: sessions can start again']);
  });

  it('a pause is told once; one that was asked for without a daemon at the start', () => {
    const paused = 'paused: Foray was paused by Ada (night): run foray resume to let it dispatch again';
    const first = restarted(telling(), { operatorPause: PAUSE });
    expect(texts(first)).toEqual([paused]);
    expect(first.writes).toContainEqual({ write: 'told', told: { subject: 'pause', what: 'night' } });
    const next = restarted(first);
    expect(texts(next)).toEqual([]);
    expect(texts(restarted(next, { operatorPause: { ...PAUSE, reason: 'day' } }))).toEqual([
      expect.stringContaining('paused by Ada (day)'),
    ]);
    next.operator({ kind: 'resume' });
    expect(texts(next)).toEqual(['paused over: Foray dispatches again, resumed by somebody']);
    expect(texts(restarted(next))).toEqual([]);
  });

  it('a pause that was lifted without a daemon is over at the start', () => {
    const player = telling();
    player.operator({ kind: 'pause', reason: 'a' });
    const next = restarted(player, { operatorPause: null });
    expect(texts(next)).toEqual(['paused over: Foray dispatches again, resumed while it was stopped']);
    expect(texts(restarted(next))).toEqual([]);
  });

  it('is told to nobody who heard nothing of its beginning', () => {
    const deaf = { ...EVERYTHING, on: ['handoff'] as const };
    const player = telling([deaf]);
    player.operator({ kind: 'pause', reason: 'a' });
    failPolls(player, 3);
    expect(texts(restarted(player, { operatorPause: null }))).toEqual([]);
    const told = telling();
    failPolls(told, 3);
    const next = restarted(told, {}, []);
    next.poll([]);
    expect([...next.state.told.values()]).toEqual([]);
  });

  it('is not told by a tracker that is watched again, where another one told it', () => {
    const player = telling();
    player.send({ type: 'tracker-left' });
    player.send({ type: 'news-told', told: [{ subject: 'tracker', what: '' }] });
    player.send({ type: 'settings-changed', settings: player.state.settings });
    player.poll([]);
    expect(texts(player)).toEqual(['down over: the tracker can be read again']);
  });
});

describe('how messages get there', () => {
  it('one after the other to each target, in the order they happened, until the receiver has them', () => {
    const other = { ...EVERYTHING, name: 'OTHER' };
    const player = telling([EVERYTHING, other]);
    player.operator({ kind: 'pause', reason: 'a' });
    player.operator({ kind: 'resume' });
    player.after(0);
    const asked = player.asked('write-out').map(({ entry }) => entry as NotificationEntry);
    expect(asked.map(({ write }) => [write.target, write.over])).toEqual([
      ['OPS', false],
      ['OTHER', false],
    ]);
    player.send({ type: 'outbox-answered', id: asked[0]!.id, fault: DOWN });
    player.send({ type: 'outbox-answered', id: asked[1]!.id, fault: null });
    player.after(1_000);
    expect(player.asked('write-out').map(({ entry }) => entry as NotificationEntry)).toMatchObject([
      { write: { target: 'OTHER', over: true } },
    ]);
    player.after(20_000);
    expect(player.asked('write-out')).toMatchObject([{ entry: { id: asked[0]!.id, tries: 1, write: { target: 'OPS' } } }]);
    expect(player.everTold('notification:message:failed')).toHaveLength(1);
  });

  it('at the time the receiver asks for, and for a day at most', () => {
    const player = telling();
    player.operator({ kind: 'pause', reason: '' });
    player.after(0);
    const { id } = waiting(player)[0]!;
    player.send({ type: 'outbox-answered', id, fault: { ...DOWN, retryAfterMs: 5_000 } });
    expect(waiting(player)[0]?.dueAt).toBe(player.now + 5_000);
    player.after(24 * 3_600_000);
    player.send({ type: 'outbox-answered', id, fault: DOWN });
    expect(waiting(player)).toEqual([]);
    expect(player.told('notification:message:failed')).toMatchObject([{ facts: { gaveUp: true, tries: 2 } }]);
  });

  it.each([0, 500])('not without a rest where the receiver asks for %i ms', (retryAfterMs) => {
    const player = telling();
    player.operator({ kind: 'pause', reason: '' });
    player.after(0);
    player.send({ type: 'outbox-answered', id: waiting(player)[0]!.id, fault: { ...DOWN, retryAfterMs } });
    expect(waiting(player)[0]?.dueAt).toBe(player.now + 1_000);
  });

  it('once, also when the same happens again before it was sent; what changed in between is told', () => {
    const player = telling();
    for (let count = 0; count < 2; count += 1) {
      player.operator({ kind: 'stop', identifier: 'A-1' });
      player.exit('1', { kind: 'cancelled' });
      player.operator({ kind: 'unpark', identifier: 'A-1' });
      player.poll([issueWith({ id: '1', identifier: 'A-1', title: 'Add\na page' })]);
    }
    expect(texts(player)).toEqual([expect.stringMatching(/^parked: A-1 .*stopped_by_operator/)]);
    player.operator({ kind: 'pause', reason: 'a' });
    player.operator({ kind: 'resume' });
    player.operator({ kind: 'pause', reason: 'a' });
    expect(
      texts(player)
        .slice(1)
        .map((text) => text.split(':')[0]),
    ).toEqual(['paused', 'paused over', 'paused']);
  });

  it('not at all where the workflow file no longer has the target', () => {
    const player = telling();
    player.operator({ kind: 'pause', reason: 'a' });
    player.send({ type: 'settings-changed', settings: settingsWith() });
    player.after(0);
    expect(waiting(player)).toEqual([]);
    expect(player.told('notification:message:failed')).toMatchObject([{ facts: { target: 'OPS', gaveUp: true } }]);
  });

  it('two hundred at most for one target; more are counted', () => {
    const player = telling();
    for (let count = 0; count < 201; count += 1) player.operator({ kind: 'pause', reason: `${count}` });
    expect(waiting(player)).toHaveLength(200);
    expect(player.everTold('notification:message:dropped')).toHaveLength(1);
  });

  it('after a restart with the same id', () => {
    const player = telling();
    player.operator({ kind: 'pause', reason: 'a' });
    const durable = { ...NOTHING_DURABLE, outbox: [...player.state.outbox.values()] };
    const next = createPlayer(settingsWith({ rest: { notifications: [EVERYTHING] } }), durable);
    next.after(0);
    expect(next.asked('write-out')).toMatchObject([{ entry: { id: 'run-n1' } }]);
  });
});
