import { describe, expect, it } from 'vitest';
import { boundedWait, parseRetryAfter } from './retry-after.ts';

const NOW = Date.parse('2026-10-21T07:28:00Z');

describe('Retry-After', () => {
  it.each<[string | null, number | null]>([
    ['17', 17_000],
    [' 0 ', 0],
    ['1.5', 1500],
    ['Wed, 21 Oct 2026 07:28:17 GMT', 17_000],
    ['Wednesday, 21-Oct-26 07:28:17 GMT', 17_000],
    ['Wed Oct 21 07:28:17 2026', 17_000],
    ['Wed, 21 Oct 2026 07:00:00 GMT', 0],
    ['99999999999', 99_999_999_999_000],
    ['-5', null],
    ['soon', null],
    ['Wednesday', null],
    ['99999999999999999999', null],
    ['', null],
    [null, null],
  ])('%s means %s ms', (value, expected) => {
    expect(parseRetryAfter(value, NOW)).toBe(expected);
  });
});

it.each([
  [172_800_000, 86_400_000],
  [60_000, 60_000],
])('%d ms are asked for: %d are waited', (asked, waited) => {
  expect(boundedWait(asked)).toBe(waited);
});
