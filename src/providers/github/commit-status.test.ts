import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckRun } from '../../ports/ci.ts';
import { aggregate } from '../shared/ci-aggregate.ts';
import { checkOfRun, checkOfStatus } from './commit-status.ts';
import { CHECK_RUN, COMMIT_STATUS } from './scm-schema.ts';

const run = (parts: object) => checkOfRun(CHECK_RUN.parse({ id: 1, name: 'build', status: 'completed', ...parts }));
const status = (parts: object) => checkOfStatus(COMMIT_STATUS.parse({ id: 1, context: 'ci', ...parts }));

type Row = [string, CheckRun['conclusion'], CheckRun['status'], ReturnType<typeof aggregate>['status'], boolean];

describe('check runs', () => {
  it.each<Row>([
    ['success', 'success', 'completed', 'success', true],
    ['failure', 'failure', 'completed', 'failing', true],
    ['timed_out', 'failure', 'completed', 'failing', true],
    ['action_required', 'failure', 'completed', 'failing', true],
    ['startup_failure', 'failure', 'completed', 'failing', true],
    ['neutral', 'neutral', 'completed', 'success', true],
    ['skipped', 'skipped', 'completed', 'success', true],
    ['cancelled', 'cancelled', 'completed', 'pending', true],
    ['stale', 'pending', 'in progress', 'pending', true],
    ['SUCCESS', 'success', 'completed', 'success', true],
    ['something_new', 'pending', 'in progress', 'pending', false],
    ['', 'pending', 'in progress', 'pending', false],
    ['constructor', 'pending', 'in progress', 'pending', false],
  ])('concluded with %j are %s, %s, and amount to %s', (conclusion, expected, runStatus, amount, isKnown) => {
    const check = run({ conclusion });
    expect(check.run).toMatchObject({ conclusion: expected, status: runStatus });
    expect(aggregate([check.run]).status).toBe(amount);
    expect(check.unknown === null).toBe(isKnown);
  });

  it.each<[string, CheckRun['status'], boolean]>([
    ['queued', 'queued', true],
    ['waiting', 'queued', true],
    ['requested', 'queued', true],
    ['pending', 'queued', true],
    ['in_progress', 'in progress', true],
    ['something_new', 'in progress', false],
  ])('of status %s are %s and pending, whatever they conclude', (word, expected, isKnown) => {
    const check = run({ status: word, conclusion: 'failure' });
    expect(check.run).toMatchObject({ status: expected, conclusion: 'pending' });
    expect(aggregate([check.run])).toEqual({ status: 'pending', failingCount: 0 });
    expect(check.unknown === null).toBe(isKnown);
  });

  it('have a job only where the remote runs them itself', () => {
    expect(run({ app: { slug: 'github-actions' } }).jobId).toBe('1');
    expect(run({ app: { slug: 'other' } }).jobId).toBeNull();
    expect(run({ app: null }).jobId).toBeNull();
  });

  it('tell where to look and what they say', () => {
    expect(run({ details_url: 'https://d', html_url: 'https://h' }).run.detailsUrl).toBe('https://d');
    expect(run({ details_url: null, html_url: 'https://h' }).run.detailsUrl).toBe('https://h');
    expect(run({ output: { title: 'Two faults', summary: null, text: 'a.ts:1' } }).says).toBe('Two faults\na.ts:1');
    expect(run({ output: 7 }).says).toBe('');
  });
});

describe('commit statuses', () => {
  it.each<Row>([
    ['success', 'success', 'completed', 'success', true],
    ['failure', 'failure', 'completed', 'failing', true],
    ['error', 'failure', 'completed', 'failing', true],
    ['pending', 'pending', 'in progress', 'pending', true],
    ['Failure', 'failure', 'completed', 'failing', true],
    ['expected', 'pending', 'in progress', 'pending', false],
    ['', 'pending', 'in progress', 'pending', false],
  ])('%j is %s, %s, and amounts to %s', (state, conclusion, runStatus, amount, isKnown) => {
    const check = status({ state, target_url: 'https://t', description: 'Said' });
    expect(check).toMatchObject({
      run: { name: 'ci', conclusion, status: runStatus, detailsUrl: 'https://t' },
      says: 'Said\nhttps://t',
    });
    expect(aggregate([check.run]).status).toBe(amount);
    expect(check.unknown === null).toBe(isKnown);
  });
});

it('nothing amounts to success but words that are known to be good', () => {
  const words = fc.oneof(
    fc.constantFrom('completed', 'success', 'neutral', 'skipped', 'failure', 'cancelled', 'queued'),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(fc.record({ status: words, conclusion: words }), { minLength: 1 }), (runs) => {
      const isGood = runs.every(
        (one) =>
          one.status.toLowerCase() === 'completed' && ['success', 'neutral', 'skipped'].includes(one.conclusion.toLowerCase()),
      );
      return (aggregate(runs.map((one) => run(one).run)).status === 'success') === isGood;
    }),
  );
});
