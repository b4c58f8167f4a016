import { describe, expect, it } from 'vitest';
import { forgetOldRuns } from './forget-runs.ts';

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
    stop();
    expect(left).toBe(0);
    expect(new Set(asked)).toEqual(new Set([10 * 86_400_000]));
  });
});
