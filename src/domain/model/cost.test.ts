import { describe, expect, it } from 'vitest';
import { NO_TOKENS } from './agent-event.ts';
import { addCosts, costOfRun, costText, replaceCost } from './cost.ts';

const SOME_TOKENS = { ...NO_TOKENS, totalTokens: 7 };
const usd = (value: number) => `$${value.toFixed(2)}`;

describe('what runs cost together', () => {
  it.each([
    ['with a price', { tokens: SOME_TOKENS, costUsd: 1.5 }, { costUsd: 1.5, unpricedRuns: 0 }],
    ['free of charge', { tokens: SOME_TOKENS, costUsd: 0 }, { costUsd: 0, unpricedRuns: 0 }],
    ['without a price', { tokens: SOME_TOKENS, costUsd: null }, { costUsd: 0, unpricedRuns: 1 }],
    ['without tokens', { tokens: NO_TOKENS, costUsd: null }, { costUsd: 0, unpricedRuns: 0 }],
  ])('a run %s', (_, run, expected) => {
    expect(costOfRun(run)).toEqual(expected);
  });

  it('adds up without the dust of floating point', () => {
    const dime = { costUsd: 0.1, unpricedRuns: 1 };
    expect([dime, dime, dime].reduce(addCosts)).toEqual({ costUsd: 0.3, unpricedRuns: 3 });
    expect(replaceCost({ costUsd: 0.3, unpricedRuns: 3 }, dime, { costUsd: 0.5, unpricedRuns: 0 })).toEqual({
      costUsd: 0.7,
      unpricedRuns: 2,
    });
  });

  it.each([
    [{ costUsd: 0, unpricedRuns: 0 }, '$0.00'],
    [{ costUsd: 1.2, unpricedRuns: 0 }, '$1.20'],
    [{ costUsd: 1.2, unpricedRuns: 1 }, '$1.20 + 1 run without a price'],
    [{ costUsd: 1.2, unpricedRuns: 2 }, '$1.20 + 2 runs without a price'],
    [{ costUsd: 0, unpricedRuns: 2 }, 'unknown'],
  ])('%j reads %s', (sum, text) => {
    expect(costText(sum, usd)).toBe(text);
  });
});
