import type { Run } from './run.ts';

/** What several runs cost together. */
export interface CostSum {
  readonly costUsd: number;
  /** Runs that used tokens of unknown price, which the sum leaves out. */
  readonly unpricedRuns: number;
}

export const NO_COST: CostSum = { costUsd: 0, unpricedRuns: 0 };

/** What one run adds to a sum; one without tokens cost nothing. */
export function costOfRun({ tokens, costUsd }: Pick<Run, 'tokens' | 'costUsd'>): CostSum {
  return { costUsd: costUsd ?? 0, unpricedRuns: costUsd === null && tokens.totalTokens > 0 ? 1 : 0 };
}

/** To a millionth of a dollar: adding leaves fractions over that nobody paid. */
export function addCosts(a: CostSum, b: CostSum): CostSum {
  const costUsd = Math.round((a.costUsd + b.costUsd) * 1e6) / 1e6;
  return { costUsd, unpricedRuns: a.unpricedRuns + b.unpricedRuns };
}

/** A sum in which the figures of one run are replaced by newer ones. */
export function replaceCost(sum: CostSum, before: CostSum, after: CostSum): CostSum {
  const less = { costUsd: -before.costUsd, unpricedRuns: -before.unpricedRuns };
  return addCosts(addCosts(sum, less), after);
}

/** `$1.20`, `$1.20 + 2 runs without a price`, or `unknown` where none has one. */
export function costText(sum: CostSum, moneyText: (usd: number) => string): string {
  return costParts(sum, moneyText).join(' + ');
}

/** The same for two places: the amount, and what it leaves out, if anything. */
export function costParts({ costUsd, unpricedRuns }: CostSum, moneyText: (usd: number) => string): readonly [string, string?] {
  if (unpricedRuns === 0) return [moneyText(costUsd)];
  if (costUsd === 0) return ['unknown'];
  return [moneyText(costUsd), `${unpricedRuns} ${unpricedRuns === 1 ? 'run' : 'runs'} without a price`];
}
