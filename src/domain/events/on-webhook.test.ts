import { expect, it } from 'vitest';
import { createPlayer, type Player } from '../../../test/support/core.ts';
import { answerLook, BASE, ci, FAULT, look, ok, OPEN, progress, watching } from '../../../test/support/watched.ts';
import type { Answer } from '../model/fault.ts';
import type { Issue } from '../model/issue.ts';

it('a webhook brings the next poll forward', () => {
  const player = createPlayer();
  player.poll([]);
  expect(player.state.poll.nextAt).toBeGreaterThan(player.now);
  player.send({ type: 'webhook-received' });
  player.after(0);
  expect(player.asked('poll')).toHaveLength(1);
});

it.each([
  { fault: { ...FAULT, retryAfterMs: 600_000 }, waitMs: 600_000 },
  { fault: { ...FAULT, isLimit: true }, waitMs: 30_000 },
])('but not before the tracker wants to be asked again: $waitMs ms', ({ fault, waitMs }) => {
  const player = createPlayer();
  player.send({ type: 'clock' });
  answerPoll(player, { ok: false, fault });
  const allowedAt = player.now + waitMs;
  player.send({ type: 'webhook-received' });
  player.after(1_000);
  expect(player.asked('poll')).toHaveLength(0);
  expect(player.state.poll.nextAt).toBe(allowedAt);
});

it.each([
  ['a webhook', (player: Player) => player.send({ type: 'webhook-received' })],
  ['an edit', (player: Player) => player.send({ type: 'settings-changed', settings: player.state.settings })],
  ['a person', (player: Player) => void player.operator({ kind: 'resume' })],
])('%s while a poll is under way brings one more right after it', (_, hint) => {
  const player = createPlayer();
  player.operator({ kind: 'pause', reason: '' });
  player.after(0);
  hint(player);
  hint(player);
  answerPoll(player, ok([]));
  player.after(0);
  expect(player.asked('poll')).toHaveLength(1);
  answerPoll(player, ok([]));
  expect(player.state.poll.nextAt).toBe(player.now + 30_000);
});

it('but not before the time that the tracker asks for in its answer', () => {
  const player = createPlayer();
  player.after(0);
  player.send({ type: 'webhook-received' });
  answerPoll(player, { ok: false, fault: { ...FAULT, retryAfterMs: 20_000 } });
  expect(player.state.poll.nextAt).toBe(player.now + 20_000);
  expect(player.told('poll:tick:failed')).toMatchObject([{ facts: { retryInMs: 20_000 } }]);
});

it('one while a merge request is looked at brings one more look right after it', () => {
  const player = watching({ ci_failure: { ...BASE, pollIntervalMs: 60_000, maxLogLines: 0 } });
  const [first] = player.asked('inspect');
  player.send({ type: 'webhook-received' });
  player.send({ type: 'webhook-received' });
  if (first) answerLook(player, first, { ci: ci('pending') });
  player.after(0);
  const [second] = player.asked('inspect');
  if (second) answerLook(player, second, { ci: ci('pending') });
  expect(second?.due).toEqual(['ci_failure']);
  expect(progress(player, 'ci_failure')?.nextAt).toBe(player.now + 60_000);
});

it.each([
  ['was closed', ok({ ...OPEN, closed: true })],
  ['the forge no longer had', ok(null)],
])('one has a request looked at now that %s: it may be there again', (_, merge) => {
  const player = watching({ ci_failure: { ...BASE, pollIntervalMs: 60_000, maxLogLines: 0 } });
  for (let looks = 0; looks < 3; looks += 1) look(player, { merge, ci: ci('pending') }, 300_000);
  player.send({ type: 'webhook-received' });
  player.after(0);
  expect(player.asked('inspect')).toHaveLength(1);
});

it('but not a closed one that could not be read since', () => {
  const player = watching({ ci_failure: { ...BASE, pollIntervalMs: 60_000, maxLogLines: 0 } });
  look(player, { merge: ok({ ...OPEN, closed: true }) });
  look(player, { merge: { ok: false, fault: { ...FAULT, retryAfterMs: 600_000 } } }, 300_000);
  player.send({ type: 'webhook-received' });
  player.after(0);
  expect(player.asked('inspect')).toHaveLength(0);
});

it('but not after one that failed', () => {
  const player = watching({ ci_failure: { ...BASE, pollIntervalMs: 60_000, maxLogLines: 0 } });
  const [first] = player.asked('inspect');
  player.send({ type: 'webhook-received' });
  if (first) answerLook(player, first, { ci: { ok: false, fault: FAULT } });
  expect(progress(player, 'ci_failure')?.nextAt).toBeGreaterThan(player.now + 60_000);
});

it('and the looks at merge requests, but not one that is close or that a failed read put off', () => {
  const player = watching({ merge_conflicts: { ...BASE, pollIntervalMs: 60_000 } });
  look(player, {});
  const { nextAt } = progress(player, 'merge_conflicts') ?? { nextAt: 0 };
  player.send({ type: 'webhook-received' });
  expect(progress(player, 'merge_conflicts')?.nextAt).toBe(player.now);
  expect(player.writes).toHaveLength(1);

  player.after(0);
  look(player, {});
  player.now = (progress(player, 'merge_conflicts')?.nextAt ?? nextAt) - 3_000;
  player.send({ type: 'webhook-received' });
  expect(progress(player, 'merge_conflicts')?.nextAt).toBe(player.now + 3_000);

  player.after(3_000);
  look(player, { merge: { ok: false, fault: FAULT } });
  const putOff = progress(player, 'merge_conflicts')?.nextAt;
  player.send({ type: 'webhook-received' });
  expect(progress(player, 'merge_conflicts')?.nextAt).toBe(putOff);
});

it('nothing follows from it while the service stops', () => {
  const player = createPlayer();
  player.send({ type: 'stop-requested' });
  const before = player.state;
  player.send({ type: 'webhook-received' });
  expect(player.state).toEqual(before);
});

function answerPoll(player: Player, candidates: Answer<readonly Issue[]>): void {
  player.send({ type: 'poll-answered', candidates, states: ok(new Map()), preflightProblem: null });
}
