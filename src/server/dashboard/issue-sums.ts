import { costOfRun, NO_COST, replaceCost, type CostSum } from '../../domain/model/cost.ts';
import type { Snapshot } from '../../domain/views/snapshot.ts';
import type { IssueRecord } from '../issue-record.ts';
import { currentRun } from './history.ts';

interface Sums {
  readonly runs: number;
  readonly tokens: number;
  readonly cost: CostSum;
}

/** What all its runs come to, with the figures of a session under way as they are now. */
export function currentSums({ sums, runs }: IssueRecord, snapshot: Snapshot): Sums {
  const stored: Sums = { runs: sums?.runs ?? 0, tokens: sums?.tokens.totalTokens ?? 0, cost: sums ?? NO_COST };
  return runs.reduce((sum, run) => {
    const current = currentRun(run, snapshot);
    return {
      runs: sum.runs,
      tokens: sum.tokens - run.tokens.totalTokens + current.tokens.totalTokens,
      cost: replaceCost(sum.cost, costOfRun(run), costOfRun(current)),
    };
  }, stored);
}
