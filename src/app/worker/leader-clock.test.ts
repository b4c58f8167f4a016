import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { leaderClock } from './leader-clock.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a run reckons by the clock of the leader, whatever that of its worker says', () => {
  vi.setSystemTime(1_000_000);
  const clock = leaderClock(5_000_000);
  expect(clock.now()).toBe(5_000_000);
  vi.advanceTimersByTime(90_000);
  vi.setSystemTime(0);
  expect(clock.now()).toBe(5_090_000);
});

it('a leader of an earlier version does not tell its time: then it is that of the worker', () => {
  vi.setSystemTime(1_000_000);
  expect(leaderClock(undefined).now()).toBe(1_000_000);
});
