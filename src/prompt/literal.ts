/** Longer than any number worth writing; keeps the patterns below from reading megabytes. */
const LONGEST_NUMBER = 100;

const WHOLE_NUMBERS: readonly (readonly [RegExp, number])[] = [
  [/^0[xX]([0-9a-fA-F]+)$/, 16],
  [/^0[oO]?([0-7]+)$/, 8],
  [/^0[bB]([01]+)$/, 2],
  [/^(0|[1-9][0-9]*)$/, 10],
];
const FRACTION = /^(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** Reads a number as Go writes it, or undefined when it is none or does not fit. */
export function readGoNumber(text: string): number | undefined {
  if (text.length > LONGEST_NUMBER || /__|_$|^[+-]?_/.test(text)) return undefined;
  const sign = text.startsWith('-') ? -1 : 1;
  const digits = text.replace(/^[+-]/, '').replaceAll('_', '');
  for (const [pattern, base] of WHOLE_NUMBERS) {
    const match = pattern.exec(digits);
    if (match) return ifUsable(Number.parseInt(match[1] ?? '', base), Number.isSafeInteger, sign);
  }
  return FRACTION.test(digits) && /[.eE]/.test(digits) ? ifUsable(Number(digits), Number.isFinite, sign) : undefined;
}

/** A zero stays a plain zero: there is no negative one to print. */
function ifUsable(value: number, usable: (value: number) => boolean, sign: number): number | undefined {
  if (!usable(value)) return undefined;
  return value === 0 ? 0 : sign * value;
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
};

const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** The text of a string or character literal with its quotes, or undefined when an escape in it is wrong. */
export function readString(literal: string): string | undefined {
  const quote = literal[0] ?? '';
  const body = literal.slice(1, -1);
  // Go leaves carriage returns out of raw strings, so that a file with Windows line ends renders the same.
  if (quote === '`') return body.replaceAll('\r', '');
  if (!body.includes('\\')) return body;
  const bytes: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const escape = body.indexOf('\\', at);
    const plainEnd = escape < 0 ? body.length : escape;
    if (plainEnd > at) bytes.push(Buffer.from(body.slice(at, plainEnd)));
    if (escape < 0) break;
    const read = readEscape(body, escape + 1, quote);
    if (!read) return undefined;
    bytes.push(read.bytes);
    at = read.end;
  }
  // Bytes, because \xc3\xa9 spells one character.
  return Buffer.concat(bytes).toString('utf8');
}

/** The code point of a character literal, or undefined when it does not hold exactly one. */
export function readRune(literal: string): number | undefined {
  const characters = Array.from(readString(literal) ?? '');
  return characters.length === 1 ? characters[0]?.codePointAt(0) : undefined;
}

function readEscape(body: string, at: number, quote: string): { bytes: Buffer; end: number } | undefined {
  const letter = body[at] ?? '';
  const simple = letter === quote ? quote : Object.hasOwn(SIMPLE_ESCAPES, letter) ? SIMPLE_ESCAPES[letter] : undefined;
  if (simple !== undefined) return { bytes: Buffer.from(simple), end: at + 1 };
  if (letter >= '0' && letter <= '7') return byteEscape(body.slice(at, at + 3), /^[0-7]{3}$/, 8, at + 3);
  const length = HEX_ESCAPES[letter];
  if (length === undefined) return undefined;
  const digits = body.slice(at + 1, at + 1 + length);
  const end = at + 1 + length;
  if (letter === 'x') return byteEscape(digits, /^[0-9a-fA-F]{2}$/, 16, end);
  const code = digits.length === length && /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : Infinity;
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? { bytes: Buffer.from(String.fromCodePoint(code)), end } : undefined;
}

function byteEscape(digits: string, pattern: RegExp, base: number, end: number): { bytes: Buffer; end: number } | undefined {
  const value = pattern.test(digits) ? Number.parseInt(digits, base) : Infinity;
  return value <= 0xff ? { bytes: Buffer.from([value]), end } : undefined;
}
