import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WireStep } from './scm-schema.ts';
import { failingStep, failingStepLog } from './job-log.ts';

const at = (second: string): string => `2026-01-01T10:00:${second}Z`;
const step = (number: number, conclusion: string, from: string, to: string, name = `Step ${number}`): WireStep => ({
  number,
  name,
  conclusion,
  started_at: at(from),
  completed_at: at(to),
});
const log = (...lines: readonly [string, string][]): string =>
  lines.map(([second, text]) => `${at(`${second}000000`)} ${text}`).join('\n');

const STEPS = [
  step(1, 'success', '00', '01', 'Set up job'),
  step(2, 'success', '02', '04', 'Run actions/checkout@v5'),
  step(3, 'failure', '05', '09', 'Tests'),
  step(4, 'success', '10', '11', 'Upload'),
  step(5, 'success', '12', '12', 'Post Run actions/checkout@v5'),
];

const LOG = log(
  ['00.1', 'Current runner version'],
  ['02.1', '##[group]Run actions/checkout@v5'],
  ['03.0', 'Syncing repository'],
  ['05.2', '##[group]Run npm test'],
  ['05.3', '##[endgroup]'],
  ['06.0', 'expected 1 to be 2'],
  ['09.1', '##[error]Process completed with exit code 1.'],
  ['10.1', '##[group]Run actions/upload-artifact@v5'],
  ['11.0', 'Artifact has been uploaded'],
  ['12.0', 'Post job cleanup.'],
);

describe('the log of the failing step', () => {
  it('is cut out by its times, without them, up to the error', () => {
    expect(failingStepLog(LOG, STEPS).split('\n')).toEqual([
      '##[group]Run npm test',
      '##[endgroup]',
      'expected 1 to be 2',
      '##[error]Process completed with exit code 1.',
    ]);
  });

  it('survives a byte order mark, other line ends and lines without a time', () => {
    const odd = `\uFEFF${LOG.replace('expected 1 to be 2', 'expected 1\n  to be 2').replaceAll('\n', '\r\n')}`;
    expect(failingStepLog(odd, STEPS)).toContain('expected 1\n  to be 2\n##[error]');
  });

  it('is told from the steps that share its first and last second', () => {
    const steps = [
      step(1, 'success', '00', '01'),
      step(2, 'success', '01', '05'),
      step(3, 'success', '05', '05'),
      step(4, 'failure', '05', '05'),
      step(5, 'failure', '05', '06'),
      step(6, 'skipped', '06', '06'),
    ];
    const text = log(
      ['05.0', 'end of the second'],
      ['05.1', '##[group]Run third'],
      ['05.2', 'third'],
      ['05.3', '##[group]Run fourth'],
      ['05.4', 'fourth'],
      ['05.5', '##[error]Process completed with exit code 1.'],
      ['05.6', '##[group]Run always'],
      ['05.7', '##[error]Process completed with exit code 2.'],
      ['06.1', 'Post job cleanup.'],
    );
    expect(failingStepLog(text, steps).split('\n')).toEqual([
      '##[group]Run fourth',
      'fourth',
      '##[error]Process completed with exit code 1.',
    ]);
  });

  it('is found by its name where the log has it', () => {
    const steps = [
      step(1, 'success', '00', '05'),
      step(2, 'success', '05', '05', 'Composite'),
      step(3, 'failure', '05', '07', 'Run npm test'),
    ];
    const text = log(
      ['05.0', '##[group]Run inner one'],
      ['05.1', '##[group]Run inner two'],
      ['05.2', '##[group]Run npm test'],
      ['06.2', 'no'],
    );
    expect(failingStepLog(text, steps)).toBe('##[group]Run npm test\nno');
  });

  it('of a job that ran out of time is that of the cancelled step', () => {
    const steps = [step(1, 'success', '00', '01'), step(2, 'cancelled', '02', '08'), step(3, 'skipped', '08', '08')];
    const text = log(
      ['00.5', 'setting up'],
      ['03.0', 'waiting'],
      ['08.0', '##[error]The operation was canceled.'],
      ['08.5', 'Cleaning up orphan processes'],
    );
    expect(failingStepLog(text, steps)).toBe('waiting\n##[error]The operation was canceled.');
  });

  it.each<[string, WireStep[]]>([
    ['no steps', []],
    ['no failed step', [step(1, 'success', '00', '01')]],
    ['a failed step without times', [{ ...step(1, 'failure', '00', '01'), started_at: '', completed_at: '' }]],
    [
      'a failed step of another day',
      [{ ...step(1, 'failure', '00', '01'), started_at: '2025-01-01T00:00:00Z', completed_at: '2025-01-01T00:00:05Z' }],
    ],
  ])('is all up to the last error with %s', (_, steps) => {
    const lines = failingStepLog(LOG, steps).split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['Current runner version', '##[error]Process completed with exit code 1.']);
  });

  it('is the whole log where there is no error in it', () => {
    expect(failingStepLog('one\ntwo', [])).toBe('one\ntwo');
    expect(failingStepLog('', STEPS)).toBe('');
  });

  it('never breaks, and only holds lines of the log', () => {
    const text = fc.array(fc.oneof(fc.string(), fc.constantFrom(...LOG.split('\n')))).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(text, fc.subarray(STEPS), (any, steps) => {
        const lines = new Set(any.split(/\r?\n/).map((line) => line.replace(/^\uFEFF/, '').replace(/^[\d-]+T[\d:.]+Z ?/, '')));
        return failingStepLog(any, steps)
          .split('\n')
          .every((line) => lines.has(line));
      }),
    );
  });
});

describe('which step failed', () => {
  it.each<[string, WireStep[], number | undefined]>([
    ['the first failure, by number', [step(3, 'failure', '0', '0'), step(2, 'failure', '0', '0')], 2],
    ['a failure before a cancelled one', [step(1, 'cancelled', '0', '0'), step(2, 'failure', '0', '0')], 2],
    ['none', [step(1, 'success', '0', '0')], undefined],
  ])('%s', (_, steps, number) => {
    expect(failingStep(steps)?.number).toBe(number);
  });
});
