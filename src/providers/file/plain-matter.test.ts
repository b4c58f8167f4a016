import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isMap, isScalar, parseDocument, stringify, type Node, type Pair, type Scalar } from 'yaml';
import { isPlain, readPlain } from './plain-matter.ts';

/** The same as a parser of YAML finds it. */
function readByYaml(matter: string) {
  const { contents, errors } = parseDocument(matter);
  if (errors.length > 0 || !isMap(contents)) return null;
  return (contents.items as Pair<Scalar, Node>[]).map(({ key, value }) => ({
    key: key.value === null ? null : key.source,
    text: isScalar(value) && value.value !== null ? value.source : null,
    start: value?.range?.[0],
    end: value?.range?.[1],
    quoted: isScalar(value) && value.type === 'QUOTE_DOUBLE',
  }));
}

const plain = fc.string({ unit: fc.constantFrom(...'aZ09 _.,/-'), minLength: 1 });
const word = fc.oneof(
  { arbitrary: plain, weight: 4 },
  { arbitrary: plain.map((text) => `"${text}"`), weight: 2 },
  fc.constantFrom(
    'null',
    'Null',
    'true',
    'no',
    '~',
    '007',
    '1e5',
    '0x1F',
    '.inf',
    'a: b',
    'a #b',
    '- a',
    '[a]',
    '*a',
    '&a b',
    '!!str a',
  ),
  fc.constantFrom(
    '"a"',
    '"a b" ',
    "'a'",
    '"a\\n"',
    '""',
    '"a": b',
    '"ü"',
    'ü',
    'a ',
    ' a',
    '|',
    '>',
    '?',
    '@a',
    '%a',
    '`a',
    'a\tb',
  ),
  fc.string({ unit: fc.constantFrom(...'aZ09 _.,/-:#"\\\'[]{}&*!|>%@`?') }),
);
/** Mostly the first, sometimes another. */
const mostly = (first: fc.Arbitrary<string>, ...others: string[]) =>
  fc.oneof({ arbitrary: first, weight: 20 }, { arbitrary: fc.constantFrom(...others), weight: 1 });
const key = mostly(
  fc.string({ unit: fc.constantFrom(...'aid_'), minLength: 1 }),
  'null',
  '__proto__',
  'Key',
  'a b',
  '"id"',
  '- id',
  '?',
  '<<',
);
const line = fc.tuple(key, mostly(fc.constant(': '), ':', ' : ', ':  '), word, mostly(fc.constant('\n'), '\r\n', '\n\n', '\n  '));
const matter = fc.array(line, { maxLength: 4 }).map((lines) => lines.flat().join(''));

describe('readPlain', () => {
  it('reads lines of a key and its text', () => {
    const found = readPlain('id: "007"\nstate: In Review\nempty: ""\n');
    expect([...(found ?? [])]).toEqual([
      ['id', { text: '007', start: 4, end: 9, quoted: true }],
      ['state', { text: 'In Review', start: 17, end: 26, quoted: false }],
      ['empty', { text: '', start: 34, end: 36, quoted: true }],
    ]);
  });

  it('finds what a parser of YAML finds, or nothing', () => {
    let read = 0;
    fc.assert(
      fc.property(matter, (text) => {
        const found = readPlain(text);
        if (found === null) return;
        read += 1;
        expect([...found].map(([name, value]) => ({ key: name, ...value }))).toEqual(readByYaml(text));
      }),
      { numRuns: 5_000 },
    );
    expect(read).toBeGreaterThan(100);
  });

  it.each(['', 'a', 'a: b', 'a: b\na: c\n', 'a: b\r\n', 'a:\n', 'a: b # c\n', 'a: [b]\n', '__proto__: a\n'])(
    'leaves %j to it',
    (text) => {
      expect(readPlain(text)).toBeNull();
    },
  );

  it('takes no longer than the text is long', () => {
    const begun = performance.now();
    expect(readPlain(`a: ${'a '.repeat(200_000)}\n`)).toBeNull();
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});

describe('isPlain', () => {
  it('agrees with YAML on what needs no quotes', () => {
    fc.assert(
      fc.property(word, (text) => {
        if (isPlain(text)) expect(stringify(text, { lineWidth: 0 })).toBe(`${text}\n`);
      }),
      { numRuns: 5_000 },
    );
  });
});
