import { expect } from 'vitest';
import { priceOf } from '../../src/domain/rules/budget.ts';
import { listPrice } from '../../src/domain/rules/prices.ts';
import { THOUGHTS } from './dialects/dialect.ts';
import type { Exchange } from './model-api.ts';
import { OPEN_CODE_PRICE, type Program } from './programs.ts';
import type { RunView } from './stage.ts';

/** The tokens that a program passes on of what the model counted. */
export function toldBy(program: Program, asked: readonly Exchange[]): NonNullable<RunView['tokens']> {
  const isLast = (exchange: Exchange, index: number): boolean => exchange.cues.length !== asked[index + 1]?.cues.length;
  const counted = program.tellsTokensOf === 'every request' ? asked : asked.filter(isLast);
  const figures = counted.flatMap((exchange) => exchange.figures ?? []);
  const input_tokens = sum(figures.map(({ input }) => input));
  const output_tokens = sum(figures.map(({ output }) => (program.tellsThoughts ? output : output - THOUGHTS)));
  const cache_read_tokens = program.tellsCached ? sum(figures.map(({ cached }) => cached)) : 0;
  return { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens, cache_read_tokens };
}

/** The price of a run is counted once, whoever tells it. */
export function expectCost(program: Program, asked: readonly Exchange[], costUsd: number | null): void {
  const rates = program.cost === 'its own' ? OPEN_CODE_PRICE : listPrice(program.model);
  if (rates === null) return expect(costUsd).toBeNull();
  const told = toldBy(program.cost === 'by list' ? program : { ...program, tellsTokensOf: 'every request' }, asked);
  const { input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: cacheReadTokens } = told;
  const price = priceOf({ inputTokens, outputTokens, cacheReadTokens }, rates);
  if (program.cost !== 'its own, with requests beside the turn') return expect(costUsd).toBeCloseTo(price, 9);
  // Among them a request for a title; what is counted twice would be beyond that.
  expect(costUsd).toBeGreaterThanOrEqual(price);
  return expect(costUsd).toBeLessThan(1.9 * price);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
