import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../test/support/processor-time.ts';
import { listOf, mapOfList, withEntry, withoutEntry } from './versioned-map.ts';

const step = fc.record({
  at: fc.nat(),
  key: fc.integer({ min: 0, max: 8 }),
  value: fc.option(fc.integer(), { nil: null }),
  isListed: fc.boolean(),
});

/** Values of a list, each under itself. */
const firsts = fc.uniqueArray(fc.integer({ min: 0, max: 8 }), { maxLength: 6 });

describe('a versioned map', () => {
  it('keeps every version as it was, whichever is changed or read next', () => {
    fc.assert(
      fc.property(firsts, fc.array(step, { maxLength: 60 }), fc.array(fc.nat(), { maxLength: 60 }), (list, steps, reads) => {
        const versions: ReadonlyMap<number, number>[] = [mapOfList(list, (value) => value)];
        const copies: Map<number, number>[] = [new Map(list.map((value) => [value, value]))];
        for (const { at, key, value, isListed } of steps) {
          const index = at % versions.length;
          const copy = new Map(copies[index]);
          if (value === null) copy.delete(key);
          else copy.set(key, value);
          if (isListed) listOf(versions[index]!);
          versions.push(value === null ? withoutEntry(versions[index]!, key) : withEntry(versions[index]!, key, value));
          copies.push(copy);
        }
        for (const read of [...reads, ...versions.keys()]) {
          const index = read % versions.length;
          expect(new Map([...versions[index]!].sort())).toEqual(new Map([...copies[index]!].sort()));
          expect(listOf(versions[index]!).toSorted()).toEqual([...copies[index]!.values()].toSorted());
          expect(versions[index]!.size).toBe(copies[index]!.size);
        }
      }),
    );
  });

  it('that is made of a list has its values in their order, and each once when it was looked up', () => {
    const map = mapOfList(['b', 'a', 'b'], (value) => value);
    expect(map.get('a')).toBe('a');
    expect([...map.values()]).toEqual(['b', 'a']);
    const list = ['c', 'a', 'b'];
    expect(listOf(mapOfList(list, (value) => value))).toBe(list);
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
      return processorMs(() => {
        for (let count = 0; count < 20_000; count += 1) map = withEntry(map, count % size, count);
      });
    };
    // The best of some rounds: what the garbage of others costs only adds to one.
    const best = (size: number): number => Math.min(...Array.from({ length: 5 }, () => time(size)));
    expect(best(100_000)).toBeLessThan(20 * Math.max(best(10), 1));
  });
});
