import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { instantOf } from './rfc3339.ts';

describe('RFC 3339', () => {
  it.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05.5-00:30', '2026-01-02T03:34:05.500Z'],
    ['2026-01-02T03:04:05.123456789Z', '2026-01-02T03:04:05.123Z'],
    ['2026-01-02t03:04:05z', '2026-01-02T03:04:05.000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(new Date(instantOf(text) ?? Number.NaN).toISOString()).toBe(expected);
  });

  it.each([
    '',
    'yesterday',
    '2026-01-02',
    '2026-01-02 03:04:05Z',
    '2026-01-02T03:04Z',
    '2026-01-02T03:04:05',
    '2026-01-02T24:00:00Z',
    '2026-01-02T03:04:60Z',
    '2026-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2100-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-02T03:04:05+25:00',
    '2026-01-02T03:04:05.Z',
    '2026-01-02T03:04:05Z\n',
    '1767323045',
    1_767_323_045,
    null,
    undefined,
    {},
  ])('%j is none', (value) => {
    expect(instantOf(value)).toBeNull();
  });

  it('reads back every time that is written, and never throws', () => {
    const years = { min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59Z'), noInvalidDate: true };
    fc.assert(fc.property(fc.date(years), (date) => instantOf(date.toISOString()) === date.getTime()));
    fc.assert(fc.property(fc.anything(), (value) => ['number', 'object'].includes(typeof instantOf(value))));
  });
});
