import type { Chance } from '../support/random.ts';

/** Pieces that parsers stumble over. */
const PIECES = [
  '',
  '\0',
  '\n',
  '\r\n',
  '\u2028',
  '\u202e',
  '\ufeff',
  '\ud800',
  '💥',
  '"',
  "'",
  '\\',
  '`',
  '{{',
  '}}',
  '{{-',
  '-}}',
  '---',
  '---\n',
  ': ',
  '- ',
  '# ',
  '&a ',
  '*a',
  '<<: ',
  '!!js/function ',
  '|',
  '>',
  '[',
  ']',
  '{',
  '}',
  ',',
  '$HOME',
  '${X}',
  '$',
  '%00',
  '%2e%2e%2f',
  '../',
  '..\\',
  '/etc/passwd',
  '<script>',
  '</script>',
  'true',
  'null',
  '~',
  '0',
  '-1',
  '1e999',
  '9007199254740993',
  'NaN',
  '0x10',
  '__proto__',
  'constructor',
  'toString',
  'level=ERROR msg=x',
  '=',
  ' ',
  '\t',
  'a'.repeat(5_000),
] as const;

/** A text made of another by a few small changes. */
export function mutateText(text: string, chance: Chance): string {
  let changed = text;
  for (let count = 1 + chance.below(4); count > 0; count -= 1) changed = changeOnce(changed, chance);
  return changed;
}

function changeOnce(text: string, chance: Chance): string {
  const at = chance.below(text.length + 1);
  const end = Math.min(text.length, at + chance.below(12));
  switch (chance.below(5)) {
    case 0:
      return text.slice(0, at) + chance.pick(PIECES) + text.slice(at);
    case 1:
      return text.slice(0, at) + text.slice(end);
    case 2:
      return text.slice(0, at) + text.slice(at, end).repeat(1 + chance.below(4)) + text.slice(end);
    case 3:
      return text.slice(0, at) + String.fromCharCode(chance.below(chance.happens(0.7) ? 128 : 65_536)) + text.slice(at + 1);
    default:
      return text.slice(0, at);
  }
}

const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  'x',
  '\0',
  '\ud800',
  '2026-13-45T99:99:99Z',
  '../..',
  'a'.repeat(10_000),
  [],
  {},
  [null],
  [[]],
  { name: null },
];

/** A value like another, with some of its parts replaced, removed, repeated or nested. */
export function mutateJson(value: unknown, chance: Chance, rate = 0.08): unknown {
  if (chance.happens(rate)) return chance.happens(0.8) ? chance.pick(VALUES) : [value];
  if (typeof value === 'string') return chance.happens(rate) ? mutateText(value, chance) : value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mutateJson(item, chance, rate));
    return chance.happens(rate) ? [...items, ...items] : items;
  }
  if (value === null || typeof value !== 'object') return value;
  const kept = Object.entries(value).filter(() => !chance.happens(rate / 2));
  return Object.fromEntries(kept.map(([key, part]) => [key, mutateJson(part, chance, rate)]));
}
