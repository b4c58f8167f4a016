import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { crashAt, formatOutcome, SCENARIOS, stepsOf, unexpectedlyMissed, type CrashOutcome } from './crash-matrix.ts';
import { buildCrashing } from './crashing-command.ts';
import { CLI } from '../support/daemon.ts';
import path from 'node:path';
import { readdirSync } from 'node:fs';

/** All of it by `npm run test:faults`; in the whole suite only steps that no other test kills at. */
const FULL = process.env['FORAY_FAULTS'] === 'full';
/** `FORAY_FAULTS_ONLY=handoff npm run test:faults -- -t life`: only the steps that hold it. */
const ONLY = process.env['FORAY_FAULTS_ONLY'] ?? '';
/** More than so many that chance may account for are no chance. */
const MOST_MISSED = 6;

/** Which writes are stored together is chance: such a step may come the next time. */
const TRIES = 3;

const cli = await buildCrashing();

/** The first that met its step, or the last. */
async function crashWithin(tries: number, crash: () => Promise<CrashOutcome>): Promise<CrashOutcome> {
  const outcome = await crash();
  return outcome.crashed || tries === 1 ? outcome : crashWithin(tries - 1, crash);
}

describe.each(SCENARIOS.filter(({ bounded }) => FULL || bounded.length > 0))(
  'kill -9 at every step of $name',
  { timeout: 1_800_000 },
  (scenario) => {
    it('loses nothing and does nothing twice', async () => {
      const steps = FULL ? await stepsOf(scenario, cli) : scenario.bounded;
      if (FULL) expect(steps).toEqual(expect.arrayContaining([...scenario.bounded]));
      const outcomes: CrashOutcome[] = [];
      for (const step of steps.filter((one) => one.match(ONLY))) {
        const outcome = await crashWithin(FULL ? TRIES : 1, () => crashAt(step, scenario, cli));
        if (FULL) console.log(formatOutcome(scenario.name, outcome));
        outcomes.push(outcome);
      }
      expect(outcomes.filter(({ faults }) => faults.length > 0)).toEqual([]);
      const missed = outcomes.filter(({ crashed }) => !crashed).map(({ step }) => step);
      if (!FULL) expect(missed).toEqual([]);
      if (ONLY === '') expect(unexpectedlyMissed(outcomes)).toEqual([]);
      expect(missed.length).toBeLessThanOrEqual(MOST_MISSED);
    });
  },
);

it('a step that no kill met is a fault, unless other steps stand for what was stored', () => {
  const outcomes = [
    { step: 'before hand-off', crashed: false },
    { step: 'before storing claim+run', crashed: false },
    { step: 'after storing claim+outbox', crashed: false },
    { step: 'before storing claim', crashed: true },
    { step: 'before storing run+spent', crashed: true },
  ];
  const missed = unexpectedlyMissed(outcomes.map((one) => ({ ...one, faults: [] })));
  expect(missed).toEqual(['before hand-off', 'after storing claim+outbox']);
});

it('the command that users run has no place to crash at', () => {
  const folder = path.dirname(CLI);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[cm]?js$/.test(name));
  const holding = files.filter((name) => readFileSync(path.join(folder, name), 'utf8').includes('FORAY_TEST_'));
  expect(holding).toEqual([]);
});
