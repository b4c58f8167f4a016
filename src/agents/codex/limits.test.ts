import { describe, expect, it } from 'vitest';
import { createLimitBook, resetTimeIn } from './limits.ts';

// A Tuesday afternoon, in whatever zone the machine is.
const NOW = new Date(2027, 0, 5, 15, 0, 0).getTime();
const HOUR = 3_600_000;
const inSeconds = (ms: number): number => (NOW + ms) / 1000;

describe('when a limit lifts', () => {
  const texts: [string, number | undefined][] = [
    ["You've hit your usage limit. Try again in 2 hours 5 minutes.", NOW + 2 * HOUR + 5 * 60_000],
    ["You've hit your usage limit. Upgrade to Pro or try again in 3 days 1 hour.", NOW + 73 * HOUR],
    ['Rate limited, try again in 30s', NOW + 30_000],
    ["You've hit your usage limit. Try again at 4:30 PM.", NOW + 1.5 * HOUR],
    ["You've hit your usage limit. Try again at 9:00 AM.", NOW + 18 * HOUR],
    ['or try again at Jan 7th, 2027 3:00 PM.', NOW + 48 * HOUR],
    ['or try again at Jan 2nd, 2027 3:00 PM.', undefined],
    ['or try again at Jan 2nd, 2031 3:00 PM.', undefined],
    ['try again later', undefined],
    ['It took 5 minutes.', undefined],
    ['', undefined],
  ];
  it.each(texts)('by the text %j', (text, at) => {
    expect(resetTimeIn(text, NOW)).toBe(at);
  });

  it('is when the last spent window does, whatever the text says', () => {
    const limits = createLimitBook();
    limits.add({
      limitId: 'codex',
      primary: { usedPercent: 100, resetsAt: inSeconds(HOUR) },
      secondary: { usedPercent: 100, resetsAt: inSeconds(5 * HOUR) },
    });
    limits.add({ limitId: 'other', primary: { usedPercent: 20, resetsAt: inSeconds(9 * HOUR) } });
    expect(limits.resetsAt('Try again in 1 minute', NOW)).toBe(NOW + 5 * HOUR);
  });

  it('is taken from the text when no window is spent, or its time has passed', () => {
    const limits = createLimitBook();
    limits.add({
      primary: { usedPercent: 100, resetsAt: inSeconds(-HOUR) },
      secondary: { usedPercent: 99, resetsAt: inSeconds(HOUR) },
    });
    expect(limits.resetsAt('Try again in 1 minute', NOW)).toBe(NOW + 60_000);
    expect(createLimitBook().resetsAt('no idea', NOW)).toBeUndefined();
  });

  it('remembers a window that a later report leaves out', () => {
    const limits = createLimitBook();
    limits.add({ limitId: 'codex', primary: { usedPercent: 100, resetsAt: inSeconds(HOUR) } });
    limits.add({ limitId: 'codex', primary: null, secondary: null });
    expect(limits.resetsAt('', NOW)).toBe(NOW + HOUR);
  });
});
