import { expect, it } from 'vitest';
import { copyOf, shortText } from './short-text.ts';

it.each([
  ['short', 10, 'short'],
  ['longer than that', 6, 'longer'],
  ['ab🚀c', 3, 'ab'],
  ['ab🚀c', 4, 'ab🚀'],
  ['', 3, ''],
])('%s is cut at %i', (text, longest, cut) => {
  expect(shortText(text, longest)).toBe(cut);
});

it('a copy is the same text', () => {
  expect(copyOf('…ab🚀 c'.slice(1))).toBe('ab🚀 c');
});
