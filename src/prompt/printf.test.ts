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
  ['%+v % v', [3, 3], '3  3'],
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
  ['%03c', [65], '00A'],
  ['%s-%s', ['%d', '%s'], '%d-%s'],
  // Half of a digit goes to the even one, where it is a half in binary too.
  ['%.0f %.0f %.0f %.0f', [0.5, 1.5, 2.5, -0.5], '0 2 2 -0'],
  ['%.1f %.1f %.1f %.2f', [1.25, 1.35, 0.15, 2.675], '1.2 1.4 0.1 2.67'],
  ['%.100f', [2 ** -101], `0.${'0'.repeat(30)}3944304526105059027058642826413931148366032175545115023851394653320312`],
  ['%#.0f %.f', [2, 2], '2. 2'],
  ['%05s|%-05s|%05q|%05t|%05v', ['hé', 'hé', 'a', true, 'hi'], '000hé|hé   |00"a"|0true|000hi'],
  ['%+05d %05.2d|%.0d|%08.3x', [42, 42, 0, 42], '+0042    42||     02a'],
  ['%#08x %#08x %# x', [42, -42, 42], '0x0000002a -0x000002a  0x2a'],
  ['% x|% X|% #x|%#x|%.1x', ['hé', 'hé', 'hé', '', 'hé'], '68 c3 a9|68 C3 A9|0x68 0xc3 0xa9||68'],
  ['%+q %+q', ['é😀', 'a"'], String.raw`"\u00e9\U0001f600" "a\""`],
  ['%#q %#q %#q %#q', ['a"\t', 'a`b', 'a\n', ''], '`a"\t` "a`b" "a\\n" ``'],
  ['%#v %#v %#v %#v %#v', ['a"', 42, 1.5, true, null], String.raw`"a\"" 42 1.5 true <nil>`],
  ['%.3v %08v %v', [42, -1.5, 12345678.5], '042 -00001.5 1.23456785e+07'],
  [
    '%3v %03v',
    [
      [1, 'a'],
      [1, 'a'],
    ],
    '[  1   a] [001 00a]',
  ],
  ['%3s %x %q', [{ a: 'b' }, { a: 'b' }, { a: 'b' }], 'map[  a:  b] map[61:62] map["a":"b"]'],
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
    ['%05d', ['hi'], '%05d cannot print the string "hi"'],
    ['%.2v', [1.5], '%.2v cannot print the number "1.5"'],
    ['%#v', [['a']], '%#v cannot print the list "[a]"'],
    ['%#v', [{ a: 1 }], '%#v cannot print the map "map[a:1]"'],
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
