import { describe, expect, it } from 'vitest';
import { formatPrintf } from './printf.ts';
import type { TemplateValue } from './value.ts';

const SITE = { fail: (detail: string) => new Error(detail), spend: () => {} };

/** format, arguments, what Go's Sprintf returns (nil as the empty string) */
const ROWS: readonly (readonly [string, readonly TemplateValue[], string])[] = [
  ['plain', [], 'plain'],
  ['100%%', [], '100%'],
  ['%s', ['hi'], 'hi'],
  ['%5s|%-5s|', ['hi', 'hi'], '   hi|hi   |'],
  ['%.2s', ['héllo'], 'hé'],
  ['%3s', ['😀'], '  😀'],
  ['%.1s', ['😀x'], '😀'],
  ['%s', [['a', 'b']], '[a b]'],
  ['%s', [null], ''],
  ['%s', [{ b: 1, a: 'x' }], 'map[a:x b:1]'],
  ['%d', [42], '42'],
  ['%5d|%-5d|%05d', [42, 42, -42], '   42|42   |-0042'],
  ['%+d % d', [5, 5], '+5  5'],
  ['%.3d', [5], '005'],
  ['%d', [[1, 2]], '[1 2]'],
  ['%v %v %v %v', [1, 'a', true, [1, 'a']], '1 a true [1 a]'],
  ['%v', [null], ''],
  ['%v', [[null]], '[<nil>]'],
  ['%+v', [3], '+3'],
  ['%6.2v|', ['abc'], '    ab|'],
  ['%v', [0.00001], '1e-05'],
  ['%q', ['a"b\n'], String.raw`"a\"b\n"`],
  ['%q', ['é\u0000\u0007\u200b\u{e0001}'], String.raw`"é\x00\a\u200b\U000e0001"`],
  ['%q', [['a', 'b']], '["a" "b"]'],
  ['%q', [null], '""'],
  ['%t', [true], 'true'],
  ['%6t|', [false], ' false|'],
  ['%f', [1.5], '1.500000'],
  ['%.2f', [3.14159], '3.14'],
  ['%.0f', [2], '2'],
  ['%8.2f|%-8.2f|%08.2f', [3.14159, 3.14159, -3.14159], '    3.14|3.14    |-0003.14'],
  ['%.1f', [1e21], '1000000000000000000000.0'],
  ['%x %X', [255, 255], 'ff FF'],
  ['%#x', [255], '0xff'],
  ['%x', [-255], '-ff'],
  ['%x', ['hé'], '68c3a9'],
  ['%04x', [10], '000a'],
  ['%c', [233], 'é'],
  ['%c%c', [128512, 65], '😀A'],
  ['%03c', [65], '  A'],
  ['%s-%s', ['%d', '%s'], '%d-%s'],
];

describe('formatPrintf', () => {
  it.each(ROWS)('%j %j', (format, args, expected) => {
    expect(formatPrintf(format, args, SITE)).toBe(expected);
  });

  it.each<readonly [string, readonly TemplateValue[], string]>([
    ['%d', ['hi'], '%d cannot print the string "hi"'],
    ['%d', [1.5], '%d cannot print the number "1.5"'],
    ['%d', [null], '%d cannot print nil'],
    ['%s', [1], '%s cannot print the number "1"'],
    ['%s', [true], '%s cannot print the bool "true"'],
    ['%t', ['a'], '%t cannot print the string "a"'],
    ['%f', ['a'], '%f cannot print the string "a"'],
    ['%q', [1], '%q cannot print the number "1"'],
    ['%x', [true], '%x cannot print the bool "true"'],
    ['%c', [-1], '%c cannot print the number "-1"'],
    ['%c', [0xd800], '%c cannot print the number "55296"'],
    ['%d', [['a']], '%d cannot print the string "a"'],
    ['%s %s', ['a'], '%s has no argument'],
    ['%s', ['a', 'b'], 'the format takes 1 arguments, got 2'],
    ['a%', [], 'unknown verb "%"; known are %s %d %v %q %t %f %x %X %c and %%'],
    ['%z', [1], 'unknown verb "%z"; known are %s %d %v %q %t %f %x %X %c and %%'],
    ['%*d', [1, 2], 'unknown verb "%*"; known are %s %d %v %q %t %f %x %X %c and %%'],
    ['%99999999999d', [1], 'output is larger than 1 MiB'],
    ['%1000000s%1000000s', ['a', 'b'], 'output is larger than 1 MiB'],
    ['%.999f', [1], 'the precision in "%.999f" is over 100'],
  ])('refuses %j %j', (format, args, message) => {
    expect(() => formatPrintf(format, args, SITE)).toThrow(message);
  });
});
