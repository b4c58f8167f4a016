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
  [],
  {},
  [null],
  [[]],
  { name: null },
];

/** Rare: reading such a text takes longer than all the rest. */
const LONG = 'a'.repeat(10_000);
const ODD_KEYS = ['__proto__', 'constructor', 'toString', 'length', '', '0', '\ud800'] as const;

/** A value like another, with some of its parts replaced, removed, repeated, nested or put beside odd ones. The original stays. */
export function mutateJson(value: unknown, chance: Chance, rate = 0.08): unknown {
  // How many parts stay as they are before the next one changes: one draw instead of one for each part.
  const gap = (): number => Math.floor(Math.log(1 - chance.next()) / Math.log(1 - rate));
  let left = gap();
  const strikes = (): boolean => {
    if (left > 0) {
      left -= 1;
      return false;
    }
    left = gap();
    return true;
  };

  function changed(part: unknown): unknown {
    if (strikes()) return replacement(part, chance);
    if (typeof part === 'string') return strikes() ? mutateText(part, chance) : part;
    if (Array.isArray(part)) return changedList(part);
    return part === null || typeof part !== 'object' ? part : changedMap(part as Readonly<Record<string, unknown>>);
  }

  function changedList(list: readonly unknown[]): unknown {
    const items = list.map(changed);
    return strikes() ? [...items, ...items] : items;
  }

  function changedMap(map: Readonly<Record<string, unknown>>): unknown {
    let copy: Record<string, unknown> | null = null;
    for (const key of Object.keys(map)) {
      const part = changed(map[key]);
      if (part === map[key]) continue;
      copy ??= { ...map };
      copy[key] = part;
    }
    return strikes() ? withOddKeys(copy ?? map, chance) : (copy ?? map);
  }

  return changed(value) ?? null;
}

function replacement(part: unknown, chance: Chance): unknown {
  if (chance.happens(0.2)) return [part];
  // A key whose value is undefined is not written.
  if (chance.happens(0.2)) return undefined;
  return chance.happens(0.005) ? LONG : chance.pick(VALUES);
}

function withOddKeys(map: Readonly<Record<string, unknown>>, chance: Chance): unknown {
  const entries = [...Object.entries(map), [chance.pick(ODD_KEYS), chance.pick(VALUES)] as const];
  return Object.fromEntries(chance.happens(0.2) ? entries.toReversed() : entries);
}
