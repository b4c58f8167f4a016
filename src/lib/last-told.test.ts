import { describe, expect, it } from 'vitest';
import { createLastTold } from './last-told.ts';

describe('what was last told', () => {
  it('is news once, again when it changes, and again when it comes back', () => {
    const told = createLastTold<number>();
    expect([told.isNews(1, 'a'), told.isNews(1, 'a'), told.isNews(1, 'b'), told.isNews(1, 'b')]).toEqual([
      true,
      false,
      true,
      false,
    ]);
    told.forget(1);
    expect(told.isNews(1, 'b')).toBe(true);
  });

  it('lets go of what has not been seen for the longest time', () => {
    const told = createLastTold<number>(100);
    for (let vanished = 0; vanished < 1_000; vanished += 1) {
      told.isNews(-1, 'seen at every poll');
      told.isNews(vanished, 'seen once');
    }
    expect([told.isNews(-1, 'seen at every poll'), told.isNews(0, 'seen once')]).toEqual([false, true]);
  });
});
