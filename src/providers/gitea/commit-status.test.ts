import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregate } from '../shared/ci-aggregate.ts';
import { reportOf } from './ci.ts';
import type { WireStatus } from './scm-schema.ts';
import { COMMIT_STATUS } from './scm-schema.ts';
import { COMMIT_STATUSES, toCheckRun } from './commit-status.ts';

const entry = (status: unknown, more: object = {}): WireStatus => COMMIT_STATUS.parse({ status, context: 'ci', ...more });
const report = (statuses: readonly WireStatus[], maxLogLines = 50) => reportOf(statuses, { ref: 'main', maxLogLines });

describe('gitea commit status', () => {
  it.each([
    ['success', 'completed', 'success'],
    ['warning', 'completed', 'neutral'],
    ['pending', 'in progress', 'pending'],
    ['failure', 'completed', 'failure'],
    ['error', 'completed', 'failure'],
    ['skipped', 'in progress', 'pending'],
    ['SUCCESS', 'completed', 'success'],
    ['Failure', 'completed', 'failure'],
    ['', 'in progress', 'pending'],
    ['constructor', 'in progress', 'pending'],
    [null, 'in progress', 'pending'],
    [7, 'in progress', 'pending'],
  ])('%s is a run that is %s: %s', (value, status, conclusion) => {
    const run = toCheckRun(entry(value, { context: 'ci/test', target_url: 'https://ci/1' }));
    expect(run).toEqual({ name: 'ci/test', status, conclusion, detailsUrl: 'https://ci/1' });
  });

  it('the table lists what the specification lists', () => {
    expect(Object.keys(COMMIT_STATUSES)).toEqual(['success', 'warning', 'pending', 'failure', 'error']);
  });

  it.each<[string, unknown[], string]>([
    ['any failing entry gives failing', ['success', 'pending', 'failure'], 'failing'],
    ['error is failing', ['error', 'pending'], 'failing'],
    ['else any pending gives pending', ['success', 'pending', 'warning'], 'pending'],
    ['an unknown one is pending', ['success', 'skipped'], 'pending'],
    ['one that cannot be read is pending', ['success', {}], 'pending'],
    ['else success', ['success', 'warning'], 'success'],
  ])('%s', (_, values, expected) => {
    expect(report(values.map((value) => entry(value))).status).toBe(expected);
  });

  it('an entry that is no record holds as well', () => {
    expect(toCheckRun(COMMIT_STATUS.parse('nonsense'))).toMatchObject({ status: 'in progress', conclusion: 'pending' });
  });
});

describe('gitea CI report', () => {
  it('of no statuses is pending, with an empty list', () => {
    expect(report([])).toEqual({ status: 'pending', failingCount: 0, checkRuns: [], logExcerpt: '', ref: 'main' });
  });

  it.each<[string, object, number, string]>([
    [
      'description and address of the first failing entry',
      { description: 'two\ntests', target_url: 'https://ci/2' },
      50,
      'two\ntests\nhttps://ci/2',
    ],
    ['the last lines', { description: 'two\ntests', target_url: 'https://ci/2' }, 2, 'tests\nhttps://ci/2'],
    ['only a description', { description: 'broken' }, 50, 'broken'],
    ['only an address', { target_url: 'https://ci/2' }, 50, 'https://ci/2'],
    ['neither', {}, 50, ''],
    ['empty ones', { description: '', target_url: '' }, 50, ''],
    ['zero lines', { description: 'broken' }, 0, ''],
    ['fewer than zero lines', { description: 'broken' }, -1, ''],
    ['cleaned lines', { description: '\u001b[31mred\u001b[0m\r\n\n  \nnext\u0007' }, 50, 'red\nnext'],
  ])('excerpt: %s', (_, fields, lines, expected) => {
    const statuses = [
      entry('success', { description: 'fine' }),
      entry('failure', fields),
      entry('error', { description: 'later' }),
    ];
    expect(report(statuses, lines).logExcerpt).toBe(expected);
  });

  it('has no excerpt unless it is failing', () => {
    expect(report([entry('pending', { description: 'x' }), entry('warning', { description: 'y' })]).logExcerpt).toBe('');
  });

  it('status and count follow from the runs it gives', () => {
    const any = fc.constantFrom('success', 'warning', 'pending', 'failure', 'error', 'skipped', '', null, 5);
    fc.assert(
      fc.property(fc.array(any), fc.integer({ min: -1, max: 3 }), (values, lines) => {
        const given = report(
          values.map((value) => entry(value, { description: 'd' })),
          lines,
        );
        expect(given).toMatchObject(aggregate(given.checkRuns));
        expect(given.logExcerpt !== '').toBe(given.failingCount > 0 && lines > 0);
        expect(given.checkRuns).toHaveLength(values.length);
      }),
    );
  });
});
