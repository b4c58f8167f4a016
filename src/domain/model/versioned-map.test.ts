import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withEntries, withEntry, withoutEntry } from './versioned-map.ts';

const step = fc.record({
  at: fc.nat(),
  key: fc.integer({ min: 0, max: 8 }),
  value: fc.option(fc.integer(), { nil: null }),
  more: fc.array(fc.integer({ min: 0, max: 8 }), { maxLength: 4 }),
});

describe('a versioned map', () => {
  it('keeps every version as it was, whichever is changed or read next', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.array(fc.nat(), { maxLength: 60 }), (steps, reads) => {
        const versions: ReadonlyMap<number, number>[] = [new Map()];
        const copies: Map<number, number>[] = [new Map()];
        for (const { at, key, value, more } of steps) {
          const index = at % versions.length;
          const copy = new Map(copies[index]);
          if (value === null) copy.delete(key);
          else copy.set(key, value);
          for (const [place, another] of more.entries()) copy.set(another, place);
          const one = value === null ? withoutEntry(versions[index]!, key) : withEntry(versions[index]!, key, value);
          versions.push(more.length === 0 ? one : withEntries(one, more, [...more.keys()]));
          copies.push(copy);
        }
        for (const read of [...reads, ...versions.keys()]) {
          const index = read % versions.length;
          expect(new Map([...versions[index]!].sort())).toEqual(new Map([...copies[index]!].sort()));
          expect(versions[index]!.size).toBe(copies[index]!.size);
        }
      }),
    );
  });

  it('walks over what was there when the walk began', () => {
    let map: ReadonlyMap<string, number> = new Map([['a', 1]]);
    for (const [key, value] of map) {
      map = withEntry(withEntry(map, key, value + 1), `${key}${key}`, 0);
    }
    expect([...map]).toEqual([
      ['a', 2],
      ['aa', 0],
    ]);
  });

  it('costs the same for one entry among ten and among a hundred thousand', () => {
    const time = (size: number): number => {
      let map: ReadonlyMap<number, number> = withEntry(new Map(Array.from({ length: size }, (_, key) => [key, key])), -1, 0);
      const startedAt = performance.now();
      for (let count = 0; count < 20_000; count += 1) map = withEntry(map, count % size, count);
      return performance.now() - startedAt;
    };
    // The best of some rounds: whatever else the machine does only adds to one.
    const best = (size: number): number => Math.min(...Array.from({ length: 5 }, () => time(size)));
    expect(best(100_000)).toBeLessThan(20 * Math.max(best(10), 1));
  });
});
