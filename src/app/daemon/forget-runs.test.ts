import { afterEach, describe, expect, it, vi } from 'vitest';
import { forgetOldRuns } from './forget-runs.ts';

afterEach(() => void vi.useRealTimers());

describe('old runs', () => {
  it('are forgotten a few at a time until none is left, and again later', async () => {
    const asked: number[] = [];
    let left = 500;
    const stop = forgetOldRuns({
      store: {
        forgetRuns(endedBefore, limit) {
          asked.push(endedBefore);
          const count = Math.min(left, limit);
          left -= count;
          return Promise.resolve(left > 0);
        },
      },
      now: () => 100 * 86_400_000,
      days: () => 90,
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      everyMs: 5,
    });
    await expect.poll(() => asked.length).toBeGreaterThan(3);
    await stop();
    expect(left).toBe(0);
    expect(new Set(asked)).toEqual(new Set([10 * 86_400_000]));
  });

  it('are left alone for good when it stops during a look, which it waits for', async () => {
    let looks = 0;
    let fail = (_why: Error): void => {};
    const warn = vi.fn<(message: string) => void>();
    const stop = forgetOldRuns({
      store: {
        forgetRuns() {
          looks += 1;
          return new Promise((_resolve, reject) => (fail = reject));
        },
      },
      now: () => 0,
      days: () => 90,
      logger: { debug() {}, info() {}, warn, error() {} },
      everyMs: 5,
    });
    await expect.poll(() => looks).toBe(1);
    vi.useFakeTimers();
    let isStopped = false;
    const stopped = Promise.resolve(stop()).then(() => (isStopped = true));
    await vi.advanceTimersByTimeAsync(100);
    expect(isStopped).toBe(false);
    fail(new Error('another one leads'));
    await stopped;
    await vi.advanceTimersByTimeAsync(1_000);
    vi.useRealTimers();
    expect(looks).toBe(1);
  });
});
