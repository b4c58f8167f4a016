import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLinkHeader } from './link.ts';

const BASE = 'https://forge.example/api/v4/projects?page=1';

describe('Link header', () => {
  it.each<[string, string | null, Record<string, string>]>([
    ['absent', null, {}],
    ['empty', '', {}],
    ['one link', '<https://h/x?page=2>; rel="next"', { next: 'https://h/x?page=2' }],
    [
      'several links',
      '<https://h/x?page=2>; rel="next", <https://h/x?page=9>; rel="last"',
      { next: 'https://h/x?page=2', last: 'https://h/x?page=9' },
    ],
    ['a rel without quotes', '<https://h/x>;rel=next', { next: 'https://h/x' }],
    ['several rels of one link', '<https://h/x>; rel="last  next"', { last: 'https://h/x', next: 'https://h/x' }],
    ['a rel in other case', '<https://h/x>; REL="Next"', { next: 'https://h/x' }],
    [
      'commas and semicolons inside of quotes',
      '<https://h/x>; title="a, b; rel=prev \\" <y>"; rel="next"',
      { next: 'https://h/x' },
    ],
    ['commas and semicolons inside of the target', '<https://h/x?a=1,2;b>; rel="next"', { next: 'https://h/x?a=1,2;b' }],
    [
      'relative targets',
      '<?page=2>; rel="next", </root>; rel="first"',
      {
        next: 'https://forge.example/api/v4/projects?page=2',
        first: 'https://forge.example/root',
      },
    ],
    ['the first link of a relation', '<https://h/1>; rel=next, <https://h/2>; rel=next', { next: 'https://h/1' }],
    ['the first rel of a link', '<https://h/1>; rel=next; rel=prev', { next: 'https://h/1' }],
    ['blanks around', '  <https://h/1>  ;  rel = "next"  ', { next: 'https://h/1' }],
    ['a link about something else', '<https://h/1>; rel=next; anchor="#foo"', {}],
    ['parameters without value', '<https://h/1>; crossorigin; rel=next', { next: 'https://h/1' }],
    ['no relation', '<https://h/1>', {}],
    ['junk before a good link', 'junk, <https://h/1>; rel=next', { next: 'https://h/1' }],
    ['a target that is none', '<http://:80>; rel=next', {}],
    ['an open target', '<https://h/1; rel=next', {}],
    ['an open quote', '<https://h/1>; rel="next', { next: 'https://h/1' }],
    [
      'an open quote after another link',
      '<https://h/1>; rel=next, <https://h/2>; rel="last',
      { next: 'https://h/1', last: 'https://h/2' },
    ],
    ['names of object members', '<https://h/1>; rel="__proto__ next"', { ['__proto__']: 'https://h/1', next: 'https://h/1' }],
  ])('reads %s', (_, value, expected) => {
    expect(parseLinkHeader(value, BASE)).toEqual(new Map(Object.entries(expected)));
  });

  it('reads back whatever is written by the rules', () => {
    const rel = fc.constantFrom('next', 'prev', 'first', 'last');
    const title = fc.string().map((text) => text.replace(/[\r\n]/g, ' '));
    const link = fc.record({
      rels: fc.uniqueArray(rel, { minLength: 1 }),
      query: fc.string({ unit: 'binary' }).map(encodeURIComponent),
      title,
    });
    fc.assert(
      fc.property(fc.array(link), (links) => {
        const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
        const target = (query: string): string => `https://h/x?${query}`;
        const header = links
          .map((one) => `<${target(one.query)}>; title=${quoted(one.title)}; rel="${one.rels.join(' ')}"`)
          .join(', ');
        const expected = new Map<string, string>();
        for (const one of links)
          for (const name of one.rels) if (!expected.has(name)) expected.set(name, new URL(target(one.query)).href);
        expect(parseLinkHeader(header, BASE)).toEqual(expected);
      }),
    );
  });

  it('survives anything', () => {
    const piece = fc.constantFrom('<', '>', ';', ',', '"', '\\', '=', ' ', 'rel', 'next', 'http://h/', '%', '[');
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string())), (pieces) => {
        for (const url of parseLinkHeader(pieces.join(''), BASE).values()) expect(URL.canParse(url)).toBe(true);
      }),
    );
  });
});
