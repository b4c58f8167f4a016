import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CheckRun } from '../../ports/ci.ts';
import { aggregate } from '../shared/ci-aggregate.ts';
import { STATUS_MEANINGS, toCheckRun, unrecognizedStatuses } from './commit-status.ts';
import { COMMIT_STATUS } from './scm-schema.ts';

type Row = [status: string, allowFailure: boolean, conclusion: CheckRun['conclusion'], run: CheckRun['status']];

const ROWS: readonly Row[] = [
  ['success', false, 'success', 'completed'],
  ['failed', false, 'failure', 'completed'],
  ['failed', true, 'neutral', 'completed'],
  ['canceled', false, 'cancelled', 'completed'],
  ['skipped', false, 'skipped', 'completed'],
  ['manual', false, 'neutral', 'completed'],
  ['created', false, 'pending', 'queued'],
  ['pending', false, 'pending', 'queued'],
  ['waiting_for_resource', false, 'pending', 'queued'],
  ['waiting_for_callback', false, 'pending', 'queued'],
  ['preparing', false, 'pending', 'queued'],
  ['scheduled', false, 'pending', 'queued'],
  ['running', false, 'pending', 'in progress'],
  ['canceling', false, 'pending', 'in progress'],
];

describe('commit-status entries', () => {
  it.each(ROWS)('%s (allow_failure: %s) is %s, %s', (status, allow_failure, conclusion, run) => {
    const entry = { name: 'lint', status, allow_failure, target_url: 'https://ci/1' };
    expect(toCheckRun(entry)).toEqual({ name: 'lint', status: run, conclusion, detailsUrl: 'https://ci/1' });
    expect(unrecognizedStatuses([entry]).size).toBe(0);
  });

  it('every word of the table has a row here', () => {
    expect([...STATUS_MEANINGS.keys()]).toEqual([...new Set(ROWS.map(([status]) => status))]);
  });

  it.each(['', 'Success', 'constructor', 'brand_new'])('any other value (%j) is pending, in progress, and told', (status) => {
    expect(toCheckRun({ status })).toMatchObject({ conclusion: 'pending', status: 'in progress' });
    expect([...unrecognizedStatuses([{ status }, { status: 'success' }, { status }])]).toEqual([[status, 2]]);
  });

  it('a failure that does not say whether it is allowed is one', () => {
    expect(toCheckRun({ status: 'failed', allow_failure: null }).conclusion).toBe('failure');
  });
});

describe('what a set of entries amounts to', () => {
  const fold = (...entries: [string, boolean?][]) =>
    aggregate(entries.map(([status, allow_failure = false]) => toCheckRun({ status, allow_failure }))).status;

  it.each<[string, [string, boolean?][], string]>([
    ['every job completed', [['success'], ['skipped']], 'success'],
    ['an untriggered manual job counts as completed', [['success'], ['manual']], 'success'],
    ['a failure that is allowed counts as non-failing', [['success'], ['failed', true]], 'success'],
    ['a job failed and may not fail', [['success'], ['failed'], ['running']], 'failing'],
    ['a job is queued', [['success'], ['pending']], 'pending'],
    ['a job is running', [['success'], ['running']], 'pending'],
    ['a completed job was canceled', [['success'], ['canceled']], 'pending'],
    ['an unrecognized status folds like one in progress', [['success'], ['brand_new']], 'pending'],
    ['no jobs', [], 'pending'],
  ])('%s', (_, entries, verdict) => {
    expect(fold(...entries)).toBe(verdict);
  });

  it('is success only when every entry is known to be fine', () => {
    const entry = fc.record({
      status: fc.oneof(fc.constantFrom(...STATUS_MEANINGS.keys()), fc.string()),
      allow_failure: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(entry, { minLength: 1 }), (entries) => {
        const runs = entries.map((value) => toCheckRun(COMMIT_STATUS.parse(value)));
        const { status, failingCount } = aggregate(runs);
        expect(failingCount).toBe(entries.filter((one) => one.status === 'failed' && !one.allow_failure).length);
        const fine = entries.every(
          ({ status: word, allow_failure }) =>
            ['success', 'skipped', 'manual'].includes(word) || (word === 'failed' && allow_failure),
        );
        expect(status === 'success').toBe(fine);
      }),
    );
  });
});
