import { createText, type CallSite } from './call-site.ts';
import { MAX_OUTPUT_BYTES, TOO_LARGE } from './limits.ts';
import { quotedText } from './spelling.ts';
import { formatNested, formatValue, isList, isMap, valueKindOf, type TemplateValue } from './value.ts';

interface Directive {
  readonly verb: string;
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  /** Offset after the verb. */
  readonly end: number;
}

/**
 * Go's Sprintf for the verbs a prompt needs. Where Go prints a marker such as `%!d(string=hi)`, this throws: a broken
 * prompt must not reach an agent.
 */
export function formatPrintf(format: string, args: readonly TemplateValue[], site: CallSite): string {
  const out = createText(site);
  let used = 0;
  let at = 0;
  for (let percent = format.indexOf('%'); percent >= 0; percent = format.indexOf('%', at)) {
    out.add(format.slice(at, percent));
    const directive = readDirective(format, percent, site);
    at = directive.end;
    if (directive.verb === '%') {
      out.add('%');
      continue;
    }
    const value = args[used];
    if (value === undefined) throw site.fail(`%${directive.verb} has no argument`);
    used += 1;
    out.add(formatDirective(directive, value, site, formatValue));
  }
  out.add(format.slice(at));
  if (used < args.length) throw site.fail(`the format takes ${used} arguments, got ${args.length}`);
  return out.text();
}

const HIGHEST_PRECISION = 100;

function readDirective(format: string, percent: number, site: CallSite): Directive {
  // Every part is optional, so the pattern matches at once wherever it is tried.
  const pattern = /%([-+# 0]*)([0-9]*)(\.[0-9]*)?(.?)/suy;
  pattern.lastIndex = percent;
  const [whole = '', flags = '', width = '', precision, verb = ''] = pattern.exec(format) ?? [];
  if (verb !== '%' && !Object.hasOwn(VERBS, verb)) {
    throw site.fail(
      `unknown verb ${quotedText(whole)}; known are ${Object.keys(VERBS)
        .map((name) => `%${name}`)
        .join(' ')} and %%`,
    );
  }
  if (Number(width) > MAX_OUTPUT_BYTES) throw site.fail(TOO_LARGE);
  if (precision && Number(precision.slice(1)) > HIGHEST_PRECISION)
    throw site.fail(`the precision in ${quotedText(whole)} is over ${HIGHEST_PRECISION}`);
  const end = percent + whole.length;
  return { verb, flags, width: Number(width), precision: precision ? Number(precision.slice(1)) : undefined, end };
}

type Nil = (value: null) => string;

/** One value under one directive; a list is printed element by element, as in Go. */
function formatDirective(directive: Directive, value: TemplateValue, site: CallSite, nil: Nil): string {
  if (isList(value)) {
    const list = createText(site);
    value.forEach((item, index) => list.add((index > 0 ? ' ' : '') + formatDirective(directive, item, site, formatNested)));
    return `[${list.text()}]`;
  }
  const text = value === null ? formatNil(directive.verb, nil) : VERBS[directive.verb]?.(value, directive);
  if (text === undefined)
    throw site.fail(
      `%${directive.verb} cannot print ${value === null ? 'nil' : `the ${valueKindOf(value)} ${quotedText(formatValue(value))}`}`,
    );
  return pad(text, directive, typeof value === 'number');
}

/** Nil has a text, but no number, truth or character. */
function formatNil(verb: string, nil: Nil): string | undefined {
  if (verb === 'q') return '""';
  return verb === 'v' || verb === 's' ? nil(null) : undefined;
}

type Verb = (value: Exclude<TemplateValue, null>, directive: Directive) => string | undefined;

/** What each verb makes of a value; undefined where it cannot print it. */
const VERBS: Readonly<Record<string, Verb>> = {
  s: (value, { precision }) =>
    typeof value === 'string' ? cut(value, precision) : isMap(value) ? formatValue(value) : undefined,
  d: (value, directive) =>
    isWhole(value) ? signed(value, minimumDigits(Math.abs(value).toString(), directive), directive) : undefined,
  v: (value, directive) => {
    if (typeof value === 'number') return signed(value, formatValue(Math.abs(value)), directive);
    return typeof value === 'string' ? cut(value, directive.precision) : formatValue(value);
  },
  q: (value, { precision }) => (typeof value === 'string' ? quoteGo(cut(value, precision)) : undefined),
  t: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  f: (value, directive) =>
    typeof value === 'number' ? signed(value, fixed(Math.abs(value), directive.precision ?? 6), directive) : undefined,
  x: (value, directive) => hexadecimal(value, directive),
  X: (value, directive) => hexadecimal(value, directive)?.toUpperCase(),
  c: (value) => (isWhole(value) && isCharacter(value) ? String.fromCodePoint(value) : undefined),
};

function isWhole(value: TemplateValue): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

function isCharacter(code: number): boolean {
  return code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

/** The first characters of a text, where a precision asks for a cut. */
function cut(text: string, precision: number | undefined): string {
  // Two units hold at least one character, so this much is always enough.
  return precision === undefined
    ? text
    : Array.from(text.slice(0, precision * 2))
        .slice(0, precision)
        .join('');
}

function signed(value: number, digits: string, { flags }: Directive): string {
  const sign = value < 0 ? '-' : flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '';
  return sign + digits;
}

function minimumDigits(digits: string, { precision }: Directive): string {
  return digits.padStart(precision ?? 0, '0');
}

/** Numbers of 1e21 and more are whole, and toFixed would give them an exponent. */
function fixed(value: number, precision: number): string {
  if (value < 1e21) return value.toFixed(precision);
  return precision > 0 ? `${BigInt(value)}.${'0'.repeat(precision)}` : `${BigInt(value)}`;
}

function hexadecimal(value: TemplateValue, directive: Directive): string | undefined {
  const prefix = directive.flags.includes('#') ? '0x' : '';
  if (typeof value === 'string') return prefix + Buffer.from(cut(value, directive.precision)).toString('hex');
  if (!isWhole(value)) return undefined;
  return signed(value, prefix + minimumDigits(Math.abs(value).toString(16), directive), directive);
}

/** Widths count characters. Zeros go between the sign and the digits of a number; text is never padded with them. */
function pad(text: string, { flags, width, verb }: Directive, isNumber: boolean): string {
  const missing = width > 0 ? width - Array.from(text).length : 0;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  if (!flags.includes('0') || !isNumber || verb === 'c') return ' '.repeat(missing) + text;
  const sign = /^[-+ ]/.exec(text)?.[0] ?? '';
  return sign + '0'.repeat(missing) + text.slice(sign.length);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** A string literal as Go writes it: printable characters stay, the others become escapes. */
function quoteGo(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escapeCharacter)}"`;
}

function escapeCharacter(character: string): string {
  const escape = ESCAPES[character];
  if (escape !== undefined) return escape;
  const code = character.codePointAt(0) ?? 0;
  // Half a surrogate pair is no character; Go would hold the replacement character in its place.
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd';
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
