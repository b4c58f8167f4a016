import { expect, it } from 'vitest';
import { createPlayer } from '../../../test/support/core.ts';
import { BASE, FAULT, look, progress, watching } from '../../../test/support/watched.ts';

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
  player.send({
    type: 'poll-answered',
    candidates: { ok: false, fault },
    states: { ok: true, value: new Map() },
    preflightProblem: null,
  });
  const allowedAt = player.now + waitMs;
  player.send({ type: 'webhook-received' });
  player.after(1_000);
  expect(player.asked('poll')).toHaveLength(0);
  expect(player.state.poll.nextAt).toBe(allowedAt);
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
