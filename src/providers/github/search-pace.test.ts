import { describe, expect, it } from 'vitest';
import { createSearchPace } from './search-pace.ts';

const SEARCH = { path: '/search/issues' };
const never = new AbortController().signal;

function aPace(now = 1_000_000) {
  const waits: unknown[] = [];
  const silent = { debug() {}, warn() {}, error() {}, info: (_: string, facts?: object) => void waits.push(facts) };
  const pace = createSearchPace({ clock: { now: () => now }, logger: silent });
  const left = (remaining: number, resetAt: number | null) =>
    pace.heard([{ kind: 'repoissues', resource: 'search', rule: 'hold', limit: 30, remaining, resetAt, cost: 1 }]);
  return { pace, waits, left };
}

describe('searches', () => {
  it('wait for their reset when nothing is left, and say so', async () => {
    const { pace, waits, left } = aPace();
    left(0, 1_000_040);
    const before = performance.now();
    await pace.before(SEARCH, never);
    expect(performance.now() - before).toBeGreaterThanOrEqual(35);
    expect(waits).toEqual([{ tracker_kind: 'repoissues', wait_ms: 40 }]);
    await pace.before({ url: 'https://api.example/search/issues?page=2' }, never);
    expect(waits).toHaveLength(1);
  });

  it.each([
    ['some are left', 1, 2_000_000],
    ['the reset is not told', 0, null],
    ['the reset has passed', 0, 999_999],
  ] as const)('go at once when %s', async (_, remaining, resetAt) => {
    const { pace, waits, left } = aPace();
    left(remaining, resetAt);
    await pace.before(SEARCH, never);
    expect(waits).toEqual([]);
  });

  it('do not hold other requests up', async () => {
    const { pace, waits, left } = aPace();
    left(0, 1_059_000);
    await pace.before({ path: '/repos/a/b/issues' }, never);
    expect(waits).toEqual([]);
  });

  it('end with the reason of an abort', async () => {
    const { pace, left } = aPace();
    left(0, 1_059_000);
    const reason = new Error('stopped');
    await expect(pace.before(SEARCH, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
