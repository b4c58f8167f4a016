import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { resetTimeIn } from './reset-time.ts';

const NOW = Date.parse('2026-11-15T12:00:00Z');
const iso = (text: string, now = NOW): string | undefined => {
  const at = resetTimeIn(text, now);
  return at === undefined ? undefined : new Date(at).toISOString().replace('.000', '');
};

describe('resetTimeIn', () => {
  it.each([
    ['Claude AI usage limit reached|1794747600', '2026-11-15T13:00:00Z'],
    ['Claude AI usage limit reached|1794747600000', '2026-11-15T13:00:00Z'],
    ['limit resets at 2026-11-16T01:02:03Z', '2026-11-16T01:02:03Z'],
    ['limit resets at 2026-11-16T01:02:03+02:00', '2026-11-15T23:02:03Z'],
    ["You've hit your limit · resets 2pm (UTC)", '2026-11-15T14:00:00Z'],
    ["You've hit your session limit · resets 2:45pm (Europe/Berlin)", '2026-11-15T13:45:00Z'],
    ['Your limit will reset at 3pm (America/New_York).', '2026-11-15T20:00:00Z'],
    ['resets 9am (Asia/Shanghai)', '2026-11-16T01:00:00Z'],
    ['resets 12am (UTC)', '2026-11-16T00:00:00Z'],
    ['resets 12pm (UTC)', '2026-11-15T12:01:00Z'],
    ['resets 11:55am (UTC)', '2026-11-15T12:01:00Z'],
    ['resets 11am (UTC)', '2026-11-16T11:00:00Z'],
    ['resets at 18:30 (UTC)', '2026-11-15T18:30:00Z'],
    ["You've hit your weekly limit · resets Nov 20, 1pm (UTC)", '2026-11-20T13:00:00Z'],
    ['resets November 20 at 1:05pm (Europe/Berlin)', '2026-11-20T12:05:00Z'],
    ['resets in 2 hours 5 minutes', '2026-11-15T14:05:00Z'],
    ['try again in 30m', '2026-11-15T12:30:00Z'],
    ['resets in 1 day', '2026-11-16T12:00:00Z'],
    ['Rate limited, try again in 30s', '2026-11-15T12:00:30Z'],
    ['Please try again in 1.5s.', '2026-11-15T12:00:01.500Z'],
    ['429 {"retry-after":"2"}', '2026-11-15T12:00:02Z'],
    ["You've hit your usage limit. Upgrade to Pro or try again in 3 days 1 hour.", '2026-11-18T13:00:00Z'],
    ["You've hit your usage limit. Try again at 4:30 PM (UTC).", '2026-11-15T16:30:00Z'],
    ['or try again at Nov 17th, 2026 3:00 PM (UTC).', '2026-11-17T15:00:00Z'],
  ])('%s', (text, expected) => {
    expect(iso(text)).toBe(expected);
  });

  it('knows the turn of the year', () => {
    expect(iso('resets Jan 2, 1pm (UTC)', Date.parse('2026-12-30T00:00:00Z'))).toBe('2027-01-02T13:00:00Z');
  });

  it('knows daylight saving time', () => {
    expect(iso('resets 9am (Europe/Berlin)', Date.parse('2026-10-24T20:00:00Z'))).toBe('2026-10-25T08:00:00Z');
    expect(iso('resets 9am (Europe/Berlin)', Date.parse('2026-03-28T20:00:00Z'))).toBe('2026-03-29T07:00:00Z');
  });

  it('takes our own zone where the text names none or an unknown one', () => {
    const local = new Date(NOW);
    local.setHours(local.getHours() + 2, 0, 0, 0);
    const hour = `${local.getHours() % 12 || 12}${local.getHours() < 12 ? 'am' : 'pm'}`;
    expect(resetTimeIn(`resets ${hour}`, NOW)).toBe(local.getTime());
    expect(resetTimeIn(`resets ${hour} (Nowhere/Land)`, NOW)).toBe(local.getTime());
  });

  it.each([
    'You are over your limit',
    'limit reached|12',
    'usage limit reached|1000000000',
    'usage limit reached|9999999999',
    'resets 5',
    'resets 25:00 (UTC)',
    'resets Foo 3, 1pm',
    'resets Mar 3, 1pm (UTC)',
    'resets soon',
    'try again later',
    'It took 5 minutes.',
    'or try again at Nov 2nd, 2026 3:00 PM.',
    'or try again at Nov 2nd, 2031 3:00 PM.',
  ])('does not guess from %s', (text) => {
    expect(iso(text)).toBeUndefined();
  });

  it('never throws, and never names a time in the past or far away', () => {
    const piece = fc.constantFrom(
      'resets ',
      'at ',
      '3',
      ':99',
      'pm',
      ' (',
      'UTC',
      ')',
      '|',
      '1794747600',
      'Nov ',
      '31, ',
      'in ',
      'h',
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join('')),
        (text) => {
          const at = resetTimeIn(text, NOW);
          if (at === undefined) return;
          expect(at).toBeGreaterThan(NOW);
          expect(at).toBeLessThanOrEqual(NOW + 32 * 86_400_000);
        },
      ),
    );
  });
});
