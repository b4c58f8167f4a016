import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asRead, bytesOf, wholeTextOf } from './whole-text.ts';

const odd = fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes));
const valid = fc.string({ unit: 'grapheme', maxLength: 6 }).map((text) => Buffer.from(text, 'utf8'));
const mixed = fc.array(fc.oneof(odd, valid), { maxLength: 6 }).map((parts) => Buffer.concat(parts));

it('gives every byte back, and reads as it always did', () => {
  fc.assert(
    fc.property(mixed, (bytes) => {
      const text = wholeTextOf(bytes);
      expect(bytesOf(text)).toEqual(bytes);
      expect(asRead(text)).toBe(bytes.toString('utf8'));
    }),
    { numRuns: 1000 },
  );
});
