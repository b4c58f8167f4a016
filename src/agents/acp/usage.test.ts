import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUsageBook, tokensOf, type UsageStart } from './usage.ts';
import { promptResult } from './wire.ts';

const answer = (usage: object) => promptResult.parse({ stopReason: 'end_turn', usage });
const tokens = (inputTokens: number, outputTokens = 0) =>
  answer({ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens });

function bookOf(covers: Partial<UsageStart['covers']>, costBefore: number | null = 0) {
  const costs: number[] = [];
  const book = createUsageBook({
    covers: { tokens: 'turn', cost: 'conversation', ...covers },
    costBefore,
    onCost: (amount) => costs.push(amount),
  });
  return { ...book, costs, total: () => book.news(true)?.tokens.totalTokens, costUsd: () => book.news(true)?.costUsd };
}

describe('tokensOf', () => {
  it.each([
    {
      name: 'everything inside',
      usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 20, thoughtTokens: 5, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    {
      name: 'cached input beside',
      usage: { inputTokens: 60, cachedReadTokens: 30, cachedWriteTokens: 10, outputTokens: 20, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    {
      name: 'cached input and thoughts beside',
      usage: { inputTokens: 60, cachedReadTokens: 40, outputTokens: 15, thoughtTokens: 5, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    {
      name: 'thoughts beside',
      usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 15, thoughtTokens: 5, totalTokens: 120 },
      input: 100,
      output: 20,
    },
    { name: 'no total', usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 20 }, input: 100, output: 20 },
    {
      name: 'a total that fits nothing',
      usage: { inputTokens: 100, cachedReadTokens: 40, outputTokens: 20, totalTokens: 999 },
      input: 100,
      output: 20,
    },
    {
      name: 'no total and more cached than all',
      usage: { inputTokens: 10, cachedReadTokens: 40, outputTokens: 20 },
      input: 50,
      output: 20,
    },
  ])('$name', ({ usage, input, output }) => {
    expect(tokensOf(answer(usage))).toMatchObject({ inputTokens: input, outputTokens: output, totalTokens: input + output });
  });

  it.each([
    ['nothing', {}],
    ['null', { usage: null }],
    ['zeros', { usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } }],
    ['words', { usage: { inputTokens: 'many', outputTokens: 1 } }],
    ['negative counts', { usage: { inputTokens: -5, outputTokens: 1 } }],
    ['an empty quota', { _meta: { quota: { token_count: null } } }],
  ])('is unknown where the agent tells %s', (_name, members) => {
    expect(tokensOf(promptResult.parse({ stopReason: 'end_turn', ...members }))).toBeNull();
  });
});

describe('a usage book', () => {
  it('is silent while nothing is known and when nothing is new', () => {
    const book = bookOf({});
    expect(book.news(true)).toBeNull();
    book.answered(tokens(10));
    expect(book.news(false)).toEqual({
      type: 'usage',
      tokens: { inputTokens: 10, outputTokens: 0, totalTokens: 10, cacheReadTokens: 0 },
    });
    expect(book.news(true)).toBeNull();
  });

  it('adds up what turns report', () => {
    const book = bookOf({ tokens: 'turn' });
    for (const spent of [10, 5, 20]) book.answered(tokens(spent));
    expect(book.total()).toBe(35);
  });

  it('takes the highest of reports since the start', () => {
    const book = bookOf({ tokens: 'process' });
    for (const spent of [10, 10, 25]) book.answered(tokens(spent));
    expect(book.total()).toBe(25);
  });

  it('of an unknown agent takes reports as cumulative until one is lower, then adds up all of them', () => {
    const book = bookOf({ tokens: 'unknown' });
    book.answered(tokens(10));
    book.answered(tokens(25));
    expect(book.total()).toBe(25);
    book.answered(tokens(5));
    expect(book.total()).toBe(40);
  });

  it('holds a cost back until tokens are known, but not beyond the turn', () => {
    const book = bookOf({});
    book.cost(0.5, 'USD');
    expect(book.news(false)).toBeNull();
    expect(book.news(true)).toEqual({
      type: 'usage',
      tokens: { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 },
      costUsd: 0.5,
    });
  });

  it.each([
    { name: 'a new conversation', covers: 'conversation', before: 0, told: [0.1, 0.3], cost: 0.3 },
    { name: 'a conversation that goes on', covers: 'conversation', before: 0.5, told: [0.6, 0.9], cost: 0.4 },
    { name: 'a conversation whose earlier cost is not known', covers: 'conversation', before: null, told: [0.6, 0.9], cost: 0.3 },
    { name: 'a count that began anew', covers: 'conversation', before: 0.5, told: [0.2, 0.7], cost: 0.7 },
    { name: 'a count of the process', covers: 'process', before: 0.5, told: [0.6, 0.9], cost: 0.9 },
    { name: 'a lower figure later', covers: 'process', before: 0, told: [0.6, 0], cost: 0.6 },
  ] as const)('counts the cost of $name', ({ covers, before, told, cost }) => {
    const book = bookOf({ cost: covers }, before);
    book.answered(tokens(1));
    for (const amount of told) book.cost(amount, 'usd');
    expect(book.costs).toEqual(told);
    expect(book.costUsd()).toBeCloseTo(cost);
  });

  it.each([
    ['another currency', 1, 'EUR'],
    ['credits', 1, 'credits'],
    ['a negative amount', -1, 'USD'],
    ['no number', Number.NaN, 'USD'],
  ])('leaves out %s', (_name, amount, currency) => {
    const book = bookOf({});
    book.cost(amount, currency);
    expect(book.news(true)).toBeNull();
  });

  it('never goes down', () => {
    const step = fc.oneof(fc.record({ tokens: fc.nat(1000) }), fc.record({ cost: fc.double({ min: 0, max: 10, noNaN: true }) }));
    const covers = fc.record({
      tokens: fc.constantFrom('turn' as const, 'process' as const, 'unknown' as const),
      cost: fc.constantFrom('process' as const, 'conversation' as const),
    });
    fc.assert(
      fc.property(covers, fc.option(fc.constant(1)), fc.array(step), (scope, before, steps) => {
        const book = createUsageBook({ covers: scope, costBefore: before });
        let last = { tokens: 0, cost: 0 };
        for (const one of steps) {
          if ('tokens' in one) book.answered(tokens(one.tokens));
          else book.cost(one.cost, 'USD');
          const news = book.news(true);
          if (!news) continue;
          expect(news.tokens.totalTokens).toBeGreaterThanOrEqual(last.tokens);
          expect(news.costUsd ?? 0).toBeGreaterThanOrEqual(last.cost);
          last = { tokens: news.tokens.totalTokens, cost: news.costUsd ?? 0 };
        }
      }),
    );
  });
});
