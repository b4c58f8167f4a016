import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { repeat } from './repeat.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('pauses and works in turn, whatever becomes of the work', async () => {
  const at: number[] = [];
  const begun = Date.now();
  const pauses = [100, 10];
  const repeated = repeat(
    () => {
      at.push(Date.now() - begun);
      return Promise.reject(new Error('not this time'));
    },
    () => pauses.shift() ?? 1_000,
  );
  await vi.advanceTimersByTimeAsync(1_200);
  expect(at).toEqual([100, 110, 1_110]);
  await repeated.stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(at).toHaveLength(3);
});

it('is stopped when the work under way has ended, and none begins after it', async () => {
  const work = vi.fn<() => Promise<void>>();
  let end = (): void => {};
  work.mockImplementation(() => new Promise((resolve) => (end = resolve)));
  const repeated = repeat(work, () => 10);
  await vi.advanceTimersByTimeAsync(10);
  let isStopped = false;
  const stopped = repeated.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(isStopped).toBe(false);
  end();
  await stopped;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(1);
});
