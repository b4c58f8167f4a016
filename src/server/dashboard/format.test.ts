import { describe, expect, it } from 'vitest';
import { clockText, countText, durationText, moneyText, utcText, wordsOf } from './format.ts';

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

describe('durationText', () => {
  it.each([
    [-5, '0s'],
    [0, '0s'],
    [999, '0s'],
    [59 * SECOND, '59s'],
    [MINUTE, '1m 00s'],
    [3 * MINUTE + 5 * SECOND, '3m 05s'],
    [HOUR - 1, '59m 59s'],
    [2 * HOUR + 7 * MINUTE, '2h 07m'],
    [DAY - 1, '23h 59m'],
    [4 * DAY + 3 * HOUR, '4d 03h'],
  ])('%d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe('clockText', () => {
  it.each([
    ['since', -90 * SECOND, '1m 30s'],
    ['until', 12 * SECOND, 'in 12s'],
    ['until', 0, 'now'],
    ['until', -5 * SECOND, 'now'],
    ['ago', -200, 'just now'],
    ['ago', -42 * SECOND, '42s ago'],
    ['ago', -35 * MINUTE, '35m ago'],
    ['ago', -3 * HOUR - 21 * MINUTE, '3h 21m ago'],
  ] as const)('%s at %d ms reads %s', (kind, offset, text) => {
    expect(clockText(kind, 1_000_000_000 + offset, 1_000_000_000)).toBe(text);
  });
});

describe('countText', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1000, '1k'],
    [12_340, '12.3k'],
    [999_499, '999k'],
    [999_500, '1M'],
    [4_560_000, '4.56M'],
    [19_032_400, '19M'],
    [2_000_000_000_000, '2000G'],
  ])('%d is %s', (count, text) => {
    expect(countText(count)).toBe(text);
  });
});

it('moneyText has two digits and no false zero', () => {
  expect([0, 0.004, 1.5, 1234.567].map(moneyText)).toEqual(['$0.00', '< $0.01', '$1.50', '$1234.57']);
});

it('utcText and wordsOf read like prose', () => {
  expect(utcText(0)).toBe('1970-01-01 00:00:00 UTC');
  expect(wordsOf('no_global_slot')).toBe('no global slot');
});
