import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { answersGiven } from './answers.ts';
import { fuzz } from './run.ts';
import type { Target } from './target.ts';
import { TARGETS } from './targets.ts';

/** A bounded part; `npm run fuzz -- --inputs 1000000` goes on. */
const INPUTS = 100;
const SEEDS = fileURLToPath(new URL('seeds', import.meta.url));

describe.each(TARGETS)('$name', { timeout: 120_000 }, (target) => {
  it('does no harm with any input, old findings included', async () => {
    expect(await fuzz(target, { inputs: INPUTS, seed: 20_260_101, folder: SEEDS })).toBeNull();
  });
});

it('reaches the readers of remotes: their requests are answered here', () => {
  expect(answersGiven()).toBeGreaterThan(INPUTS);
});

it('lets the event loop turn between inputs, so that what they leave behind is freed', async () => {
  let turned = false;
  setImmediate(() => (turned = true));
  const seen: boolean[] = [];
  const target: Target = { name: 'none of them', make: () => '', take: () => void seen.push(turned) };
  await fuzz(target, { inputs: 200, seed: 1, folder: SEEDS });
  expect(seen.at(-1)).toBe(true);
});
