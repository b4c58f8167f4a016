import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDatabaseCheck, withinProbe } from './readiness.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it.each([
  ['answers', () => Promise.resolve(), true],
  ['refuses', () => Promise.reject(new Error('no')), false],
])('a database that %s is told as such', async (_what, ping, isReady) => {
  expect(await createDatabaseCheck(ping)()).toBe(isReady);
});

it('a database that hangs fails within a second, is asked once by all probes, and passes when it answers again', async () => {
  let answer = (): void => {};
  let asked = 0;
  const check = createDatabaseCheck(() => {
    asked += 1;
    return new Promise<void>((resolve) => (answer = resolve));
  });
  const probes = [check(), check()];
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.runAllTimersAsync();
  expect(await Promise.all(probes)).toEqual([false, false]);
  expect(asked).toBe(1);
  const late = check();
  answer();
  expect(await late).toBe(true);
  const next = check();
  answer();
  expect([await next, asked]).toEqual([true, 2]);
});

it('what takes longer than a probe waits is what it was last', async () => {
  const hanging = withinProbe<string | null>(new Promise(() => {}), 'as it was');
  await vi.advanceTimersByTimeAsync(1_000);
  await vi.runAllTimersAsync();
  expect(await hanging).toBe('as it was');
});
