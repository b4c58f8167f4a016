import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUsageBook, type UsageBook } from './usage.ts';

const times = (count: number) => ({ inputTokens: 100 * count, outputTokens: 10 * count, cachedInputTokens: 40 * count });
const report = (count: number) => ({ total: times(count), last: times(1) });

function bookOf(turns: readonly string[], freshThread: string | null = 'T'): UsageBook {
  const book = createUsageBook();
  if (freshThread !== null) book.threadBegan(freshThread);
  for (const turn of turns) book.turnStarted(turn);
  return book;
}

function inputOf(book: UsageBook): number | undefined {
  return book.event()?.tokens.inputTokens;
}

describe('the figures of a run', () => {
  it('are unknown until something is reported', () => {
    expect(bookOf(['u']).event()).toBeNull();
  });

  it('are the whole total of a thread that the run began, cached input counted inside', () => {
    const book = bookOf(['u']);
    book.add('T', 'u', report(3));
    const tokens = { inputTokens: 300, outputTokens: 30, totalTokens: 330, cacheReadTokens: 120 };
    expect(book.event()).toEqual({ type: 'usage', tokens, requests: 1 });
  });

  it('leave out what a resumed thread spent before, whether it was told or not', () => {
    const told = bookOf(['u'], null);
    told.add('T', 'turn-of-old', report(5));
    told.add('T', 'u', report(6));
    const untold = bookOf(['u'], null);
    untold.add('T', 'u', report(6));
    expect([inputOf(told), inputOf(untold)]).toEqual([100, 100]);
  });

  it('leave out the turns of others, also in between', () => {
    const book = bookOf(['u']);
    book.add('T', 'u', report(1));
    book.add('T', 'stranger', report(4));
    book.add('T', 'u', report(5));
    expect(inputOf(book)).toBe(200);
  });

  it('include the helpers that the agent started in threads of their own', () => {
    const book = bookOf(['u', 'helper-turn']);
    book.add('T', 'u', report(1));
    book.add('helper', 'helper-turn', report(1));
    book.add('helper', 'helper-turn', report(2));
    expect(inputOf(book)).toBe(300);
  });

  it('count requests by the model they were made to', () => {
    const book = bookOf(['u']);
    book.add('T', 'u', report(1));
    book.modelIs('a');
    book.add('T', 'u', report(2));
    book.modelIs('b');
    book.add('T', 'u', report(3));
    expect(book.event()).toMatchObject({ requests: 3, requestsByModel: { a: 1, b: 1 } });
  });

  it('are the highest total however reports are repeated, lost and mixed, and never go down', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50), { minLength: 1 }), (counts) => {
        const book = bookOf(['u']);
        let highest = 0;
        for (const count of counts) {
          book.add('T', 'u', report(count));
          highest = Math.max(highest, count);
          expect(inputOf(book) ?? 0).toBe(100 * highest);
        }
      }),
    );
  });

  it('stay bounded in memory whatever is printed', () => {
    const book = bookOf([]);
    for (let n = 0; n < 20_000; n += 1) {
      book.turnStarted(`turn-${n}`);
      book.add(`thread-${n}`, `turn-${n}`, report(1));
    }
    expect(inputOf(book)).toBe(100 * 999);
  });
});
