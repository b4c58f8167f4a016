import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elementsOf, findFault, membersOf, skipBlanks } from './json-text.ts';
import { placeOf } from './json-text.ts';

describe('findFault', () => {
  it.each([
    { text: '', place: 'line 1, column 1', why: 'the text ends too early' },
    { text: '[\n  {"a": 1},\n  {"b": }\n]', place: 'line 3, column 9', why: 'a value is expected here' },
    { text: '[1 2]', place: 'line 1, column 4', why: "',' or ']' is expected here" },
    { text: '[1,]', place: 'line 1, column 4', why: 'a value is expected here' },
    { text: '{"a": 1,}', place: 'line 1, column 9', why: 'a key in double quotes is expected here' },
    { text: '{a: 1}', place: 'line 1, column 2', why: 'a key in double quotes is expected here' },
    { text: '{"a" 1}', place: 'line 1, column 6', why: "':' is expected here" },
    { text: '[\r\n"a\nb"]', place: 'line 2, column 3', why: 'this may not stand in a string' },
    { text: String.raw`["\x"]`, place: 'line 1, column 3', why: 'this may not stand in a string' },
    { text: '["abc', place: 'line 1, column 6', why: 'the text ends inside of a string' },
    { text: '[1] x', place: 'line 1, column 5', why: 'nothing may follow the list' },
    { text: '[01]', place: 'line 1, column 3', why: "',' or ']' is expected here" },
    { text: '[tru]', place: 'line 1, column 2', why: 'a value is expected here' },
  ])('finds the fault of $text', ({ text, place, why }) => {
    const fault = findFault(text);
    expect([placeOf(text, fault?.offset ?? -1), fault?.message]).toEqual([place, why]);
  });

  it('agrees with JSON.parse about what is JSON, also when a text is damaged', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ' ', 'x', '\\', '0'), (json, at, damage) => {
        const cut = at % (json.length + 1);
        const text = json.slice(0, cut) + damage + json.slice(cut + 1);
        expect(findFault(text) === null).toBe(isJson(text));
      }),
      { numRuns: 500 },
    );
  });

  it('survives any depth', () => {
    expect(findFault('['.repeat(200_000))).toMatchObject({ name: 'JsonFault' });
  });
});

describe('spans', () => {
  it('cut lists and objects into their parts', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 2, '\t'), (list, space) => {
        const text = ` ${JSON.stringify(list, null, space)} `;
        const parts = elementsOf(text, skipBlanks(text, 0)).map(
          ({ start, end }) => JSON.parse(text.slice(start, end)) as unknown,
        );
        expect(parts).toEqual(JSON.parse(text));
      }),
    );
    const text = '{"a": [1, {"b": 2}], "\\u0063" : "x,}"}';
    expect(membersOf(text, 0).map(({ key, value }) => [key, text.slice(value.start, value.end)])).toEqual([
      ['a', '[1, {"b": 2}]'],
      ['c', '"x,}"'],
    ]);
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
