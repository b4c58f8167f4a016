import { describe, expect, it } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { simulate, Violation } from './simulate.ts';

/** Many more by `npm run simulate`. */
const WALKED = Array.from({ length: 20 }, (_, index) => index + 1);
const EVENTS_PER_SEED = 5_000;

type Life = readonly [seed: number, events: number];

/** Lives in one of which every broken rule is met. */
const BREAKING: readonly Life[] = Array.from({ length: 40 }, (_, index) => [index + 42, 3_000]);
/** What breaks a rule in one place only is met late in most lives: here it was met soon, so these are lived first. */
const MET_SOON: Readonly<Record<string, readonly Life[]>> = {
  'a due retry is forgotten': [[1, 100]],
  'an unknown mergeability counts as clean': [[13, 3_000]],
  'the budget of a reaction is not counted': [[4, 3_000]],
  'a request from a fork is taken for our own': [[35, 3_000]],
  'the branch that an agent names is believed': [[125, 3_000]],
  'every project is ours': [[7, 3_000]],
  'a look under older settings is acted upon': [[11, 3_000]],
  'a queued turn begins under settings that it was not judged under': [[8, 3_000]],
  'a pause is not told to the tracker that was left': [[22, 3_000]],
};

describe('the core lives through months of random operation', () => {
  it(`keeps its promises over ${WALKED.length * EVENTS_PER_SEED} events`, { timeout: 240_000 }, () => {
    const results = WALKED.map((seed) => simulate(seed, EVENTS_PER_SEED));
    expect(results.reduce((sum, result) => sum + result.events, 0)).toBeGreaterThanOrEqual(100_000);
    expect(results.reduce((sum, result) => sum + result.crashes, 0)).toBeGreaterThan(50);
    expect(results.every((result) => result.handoffs > 0)).toBe(true);
    const total = (name: string): number => results.reduce((sum, result) => sum + (result.done.get(name) ?? 0), 0);
    for (const name of [
      'ci_failure',
      'review_comments',
      'merge_conflicts',
      'label_commands',
      'merge',
      'delete-branch',
      'complete',
      'write-out',
      'edit',
      'swap',
      'swap back',
      'retire',
      'suspend',
      'clock set',
    ]) {
      // The rarest comes about fifteen times, by chance more or less often.
      expect(total(name), name).toBeGreaterThan(5);
    }
  });
});

describe('a broken rule is caught', () => {
  it.each(Object.entries(MUTANTS))('%s', (name, mutant) => {
    const soon = MET_SOON[name] ?? [];
    expect(() => [...soon, ...BREAKING].forEach(([seed, events]) => simulate(seed, events, mutant))).toThrow(Violation);
  });
});
