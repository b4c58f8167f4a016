import { expect, it } from 'vitest';
import { percentEncoded } from './percent-encoded.ts';

it.each([
  ['a b/c', 'a%20b%2Fc'],
  [7, '7'],
  ['😀', '%F0%9F%98%80'],
  ['half \ud83d of a pair', 'half%20%EF%BF%BD%20of%20a%20pair'],
])('%s becomes %s', (text, encoded) => {
  expect(percentEncoded(text)).toBe(encoded);
});
