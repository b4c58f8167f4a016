import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { behind, isSame, joined, lengthOf } from './content.ts';

const content = fc.array(fc.uint8Array({ maxLength: 5 }).map((bytes) => Buffer.from(bytes)));

describe('content in parts', () => {
  it('is what its parts are in a row, however they are cut', () => {
    fc.assert(
      fc.property(content, fc.nat(30), (parts, count) => {
        const bytes = Buffer.concat(parts);
        expect(joined(parts)).toEqual(bytes);
        expect(lengthOf(parts)).toBe(bytes.length);
        expect(joined(behind(parts, count))).toEqual(bytes.subarray(count));
        expect(behind(parts, count).every(({ length }) => length > 0)).toBe(true);
        expect(isSame(parts, bytes)).toBe(true);
      }),
    );
  });

  it('is another one with any byte more, less or changed', () => {
    fc.assert(
      fc.property(content, fc.nat(), (parts, place) => {
        const bytes = Buffer.concat(parts);
        expect(isSame(parts, Buffer.concat([bytes, Buffer.from([0])]))).toBe(false);
        if (bytes.length === 0) return;
        expect(isSame(parts, bytes.subarray(1))).toBe(false);
        bytes[place % bytes.length]! ^= 1;
        expect(isSame(parts, bytes)).toBe(false);
      }),
    );
  });
});
