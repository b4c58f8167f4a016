import { expect, it } from 'vitest';
import { copyOf, shortText, shownTitle } from './short-text.ts';

it.each([
  ['short', 10, 'short'],
  ['longer than that', 6, 'longer'],
  ['ab🚀c', 3, 'ab'],
  ['ab🚀c', 4, 'ab🚀'],
  ['', 3, ''],
])('%s is cut at %i', (text, longest, cut) => {
  expect(shortText(text, longest)).toBe(cut);
});

it.each([
  ['x'.repeat(500), 'x'.repeat(500)],
  ['x'.repeat(501), `${'x'.repeat(499)}…`],
  [`${'x'.repeat(498)}🚀x`, `${'x'.repeat(498)}…`],
])('a title is shown up to 500 characters (%#)', (title, shown) => {
  expect(shownTitle(title)).toBe(shown);
});

it('a copy is the same text', () => {
  expect(copyOf('…ab🚀 c'.slice(1))).toBe('ab🚀 c');
});
