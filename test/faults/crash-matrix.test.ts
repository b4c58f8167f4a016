import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { crashAt, formatOutcome, SCENARIOS, stepsOf, type CrashOutcome } from './crash-matrix.ts';
import { buildCrashing } from './crashing-command.ts';
import { CLI } from '../support/daemon.ts';
import path from 'node:path';
import { readdirSync } from 'node:fs';

/** All of it by `npm run test:faults`; in the whole suite only steps that no other test kills at. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
const BOUNDED: readonly string[] = [
  'before committing migration 1',
  'before hand-off',
  'answered by handoff-answered',
  'answered by merge-answered',
];
/** `FORAY_FAULTS_ONLY=handoff npm run test:faults -- -t life`: only the steps that hold it. */
const ONLY = new RegExp(process.env['FORAY_FAULTS_ONLY'] ?? '');
/** Walked by `npm run test:faults` only: the same on other forges or with one more turn, or killed once by a test of its own. */
const FULL_ONLY = /^(?:merge (?!nsproject)|reaction|notifications)/;

const cli = await buildCrashing();

describe.each(SCENARIOS.filter(({ name }) => FULL || !FULL_ONLY.test(name)))(
  'kill -9 at every step of $name',
  { timeout: 1_800_000 },
  (scenario) => {
    it('loses nothing and does nothing twice', async () => {
      const own = FULL ? undefined : scenario.bounded;
      const steps = own ?? (await stepsOf(scenario, cli));
      if (own === undefined) expect(steps.length).toBeGreaterThan(10);
      const chosen = FULL ? steps.filter((step) => ONLY.test(step)) : (own ?? steps.filter((step) => BOUNDED.includes(step)));
      const outcomes: CrashOutcome[] = [];
      for (const step of chosen) {
        const outcome = await crashAt(step, scenario, cli);
        if (FULL) console.log(formatOutcome(scenario.name, outcome));
        outcomes.push(outcome);
      }
      expect(outcomes.filter(({ faults }) => faults.length > 0)).toEqual([]);
      if (own) expect(outcomes.map(({ crashed }) => crashed)).toEqual(own.map(() => true));
    });
  },
);

it('the command that users run has no place to crash at', () => {
  const folder = path.dirname(CLI);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[cm]?js$/.test(name));
  const holding = files.filter((name) => readFileSync(path.join(folder, name), 'utf8').includes('FORAY_TEST_'));
  expect(holding).toEqual([]);
});
