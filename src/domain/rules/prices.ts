import type { TokenRates } from '../model/settings.ts';

/**
 * The vendors' list prices as of November 2026, in dollars for a million tokens: input, output, cached input. The first
 * pattern that fits the model's name decides.
 */
const PRICES: readonly (readonly [model: RegExp, input: number, output: number, cached: number])[] = [
  [/claude-opus-4-[5-9]|claude-opus-[5-9]/, 5, 25, 0.5],
  [/claude-(?:3-)?opus/, 15, 75, 1.5],
  [/claude-(?:3-[57]-)?sonnet|^sonnet/, 3, 15, 0.3],
  [/claude-haiku-4|^haiku/, 1, 5, 0.1],
  [/claude-3-5-haiku/, 0.8, 4, 0.08],
  [/^opus/, 5, 25, 0.5],
  [/gpt-5(?:\.\d)?-pro/, 15, 120, 15],
  [/gpt-5(?:\.\d)?(?:-codex)?-mini/, 0.25, 2, 0.025],
  [/gpt-5(?:\.\d)?-nano/, 0.05, 0.4, 0.005],
  [/gpt-5/, 1.25, 10, 0.125],
  [/gpt-4\.1-mini/, 0.4, 1.6, 0.1],
  [/gpt-4\.1/, 2, 8, 0.5],
  [/o4-mini/, 1.1, 4.4, 0.275],
  [/\bo3\b/, 2, 8, 0.5],
  [/gemini-3(?:\.\d)?-pro/, 2, 12, 0.2],
  [/gemini-2\.5-pro/, 1.25, 10, 0.125],
  [/gemini-2\.5-flash-lite/, 0.1, 0.4, 0.01],
  [/gemini-(?:2\.5|3(?:\.\d)?)-flash/, 0.3, 2.5, 0.03],
];

/** For a model that the table does not know, where a ceiling needs some figure: that of a large one. */
export const UNKNOWN_MODEL: TokenRates = { inputPerMtok: 5, outputPerMtok: 25, cacheReadPerMtok: 0.5 };

/** What the vendor asks for a model's tokens, or null for a model that is not known. */
export function listPrice(model: string | null): TokenRates | null {
  const found = PRICES.find(([pattern]) => pattern.test(model?.toLowerCase() ?? ''));
  return found ? { inputPerMtok: found[1], outputPerMtok: found[2], cacheReadPerMtok: found[3] } : null;
}
