import { createText, type CallSite } from './call-site.ts';
import { MAX_OUTPUT_BYTES, TOO_LARGE } from './limits.ts';
import { quoted, quoteGo } from './quote-go.ts';
import { quotedText } from './spelling.ts';
import { formatNested, formatValue, isList, isMap, sortedKeys, valueKindOf, type TemplateValue } from './value.ts';

interface Directive {
  /** As it is written. */
  readonly text: string;
  readonly verb: string;
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
}

/**
 * Go's Sprintf for the verbs a prompt needs. Where Go prints a marker such as `%!d(string=hi)`, this throws: a broken
 * prompt must not reach an agent.
 */
export function formatPrintf(format: string, args: readonly TemplateValue[], site: CallSite): string {
  const out = createText(site);
  let used = 0;
  for (const part of partsOf(format, site)) {
    if (typeof part === 'string') {
      out.add(part);
      continue;
    }
    const value = args[used];
    if (value === undefined) throw site.fail(missingArgument(part));
    used += 1;
    out.add(formatDirective(part, value, site, formatValue));
  }
  if (used < args.length) throw site.fail(surplusArguments(used, args.length));
  return out.text();
}

/** What fails whatever the arguments are, where their number is known; undefined when nothing does. */
export function findFormatFault(format: string, args: number): string | undefined {
  const site: CallSite = { fail: (detail) => new FormatFault(detail), spend: () => {} };
  try {
    const directives = [...partsOf(format, site)].filter((part) => typeof part !== 'string');
    const first = directives[args];
    if (first !== undefined) return missingArgument(first);
    return directives.length < args ? surplusArguments(directives.length, args) : undefined;
  } catch (error) {
    if (!(error instanceof FormatFault)) throw error;
    return error.message;
  }
}

class FormatFault extends Error {}

function missingArgument({ verb }: Directive): string {
  return `%${verb} has no argument`;
}

function surplusArguments(used: number, given: number): string {
  return `the format takes ${used} arguments, got ${given}`;
}

/** The directives of a format, and the text between them. */
function* partsOf(format: string, site: CallSite): Generator<Directive | string> {
  let at = 0;
  for (let percent = format.indexOf('%'); percent >= 0; percent = format.indexOf('%', at)) {
    yield format.slice(at, percent);
    const directive = readDirective(format, percent, site);
    at = percent + directive.text.length;
    yield directive.verb === '%' ? '%' : directive;
  }
  yield format.slice(at);
}

const HIGHEST_PRECISION = 100;

function readDirective(format: string, percent: number, site: CallSite): Directive {
  // Every part is optional, so the pattern matches at once wherever it is tried.
  const pattern = /%([-+# 0]*)([0-9]*)(\.[0-9]*)?(.?)/suy;
  pattern.lastIndex = percent;
  const [text = '', flags = '', width = '', precision, verb = ''] = pattern.exec(format) ?? [];
  if (verb !== '%' && !Object.hasOwn(VERBS, verb)) {
    throw site.fail(
      `unknown verb ${quotedText(text)}; known are ${Object.keys(VERBS)
        .map((name) => `%${name}`)
        .join(' ')} and %%`,
    );
  }
  if (Number(width) > MAX_OUTPUT_BYTES) throw site.fail(TOO_LARGE);
  if (precision && Number(precision.slice(1)) > HIGHEST_PRECISION)
    throw site.fail(`the precision in ${quotedText(text)} is over ${HIGHEST_PRECISION}`);
  return { text, verb, flags, width: Number(width), precision: precision ? Number(precision.slice(1)) : undefined };
}

type Nil = (value: null) => string;

/** One value under one directive; a list or map is printed element by element, as in Go. */
function formatDirective(directive: Directive, value: TemplateValue, site: CallSite, nil: Nil): string {
  if (isList(value) && !isGoSyntax(directive)) return `[${formatEach(directive, value, site)}]`;
  if (isMap(value) && !isGoSyntax(directive) && !isBare(directive)) {
    const entries = sortedKeys(value).map((key) => [key, value[key] ?? null] as const);
    return `map[${entries.map((entry) => formatEach(directive, entry, site, ':')).join(' ')}]`;
  }
  const text = value === null ? formatNil(directive, nil) : VERBS[directive.verb]?.(value, directive);
  if (text === undefined)
    throw site.fail(
      `${directive.text} cannot print ${value === null ? 'nil' : `the ${valueKindOf(value)} ${quotedText(formatValue(value))}`}`,
    );
  return pad(text, directive, typeof value === 'number');
}

function formatEach(directive: Directive, values: readonly TemplateValue[], site: CallSite, between = ' '): string {
  const list = createText(site);
  values.forEach((item, index) => list.add((index > 0 ? between : '') + formatDirective(directive, item, site, formatNested)));
  return list.text();
}

/** `%#v`: a list or map would be spelled with the types that Go has for it. */
function isGoSyntax({ verb, flags }: Directive): boolean {
  return verb === 'v' && flags.includes('#');
}

/** A map is printed as a text whatever is in it, where nothing is asked of its entries. */
function isBare({ text }: Directive): boolean {
  return text === '%v' || text === '%s';
}

/** Nil has a text, but no number, truth or character. */
function formatNil(directive: Directive, nil: Nil): string | undefined {
  if (isGoSyntax(directive)) return formatNested(null);
  if (directive.verb === 'q') return '""';
  return directive.verb === 'v' || directive.verb === 's' ? nil(null) : undefined;
}

type Verb = (value: Exclude<TemplateValue, null>, directive: Directive) => string | undefined;

/** What each verb makes of a value; undefined where it cannot print it. */
const VERBS: Readonly<Record<string, Verb>> = {
  s: (value, { precision }) =>
    typeof value === 'string' ? cut(value, precision) : isMap(value) ? formatValue(value) : undefined,
  d: (value, directive) => (isWhole(value) ? integer(value, 10, directive) : undefined),
  v: plainly,
  q: (value, { precision, flags }) => (typeof value === 'string' ? quoted(cut(value, precision), flags) : undefined),
  t: (value) => (typeof value === 'boolean' ? String(value) : undefined),
  f: (value, directive) => (typeof value === 'number' ? signed(value, fixed(Math.abs(value), directive), directive) : undefined),
  x: hexadecimal,
  X: (value, directive) => hexadecimal(value, directive)?.toUpperCase(),
  c: (value) => (isWhole(value) && isCharacter(value) ? String.fromCodePoint(value) : undefined),
};

function isWhole(value: TemplateValue): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value);
}

function isCharacter(code: number): boolean {
  return code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

/** `%v`. Its `+` and `#` mean the names and types of what is printed, not its signs and prefixes. */
function plainly(value: Exclude<TemplateValue, null>, directive: Directive): string | undefined {
  const plain = { ...directive, flags: directive.flags.replaceAll(/[+#]/g, '') };
  if (typeof value === 'string') {
    const text = cut(value, directive.precision);
    return isGoSyntax(directive) ? quoteGo(text) : text;
  }
  if (isWhole(value)) return integer(value, 10, plain);
  // With a precision Go counts the digits of all of it, which nobody expects who asks for some behind the point.
  if (typeof value === 'number')
    return directive.precision === undefined ? signed(value, formatValue(Math.abs(value)), plain) : undefined;
  return isGoSyntax(directive) && typeof value !== 'boolean' ? undefined : formatValue(value);
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

/** A precision is the least number of digits; without one, zeros up to the width are digits too, and a prefix comes before them. */
function integer(value: number, base: 10 | 16, directive: Directive): string {
  const { width, precision } = directive;
  const sign = signed(value, '', directive);
  const least = precision ?? (padsWithZeros(directive) ? width - sign.length : 0);
  const digits = value === 0 && precision === 0 ? '' : Math.abs(value).toString(base).padStart(least, '0');
  return digits === '' ? '' : sign + (base === 16 && directive.flags.includes('#') ? '0x' : '') + digits;
}

/** Rounds the number that is really there, and half of a digit to the even one, as Go does; toFixed rounds that up. */
function fixed(value: number, { precision = 6, flags }: Directive): string {
  let [whole, halvings] = [value, 0n];
  for (; !Number.isInteger(whole); halvings += 1n) whole *= 2;
  const digits = String(divideToEven(BigInt(whole) * 10n ** BigInt(precision), 1n << halvings)).padStart(precision + 1, '0');
  const point = digits.length - precision;
  return precision === 0 && !flags.includes('#') ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
}

function divideToEven(dividend: bigint, divisor: bigint): bigint {
  const [quotient, twice] = [dividend / divisor, (dividend % divisor) * 2n];
  const isUp = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return isUp ? quotient + 1n : quotient;
}

/** Of a text the bytes, apart where a blank asks for it. */
function hexadecimal(value: TemplateValue, directive: Directive): string | undefined {
  if (isWhole(value)) return integer(value, 16, directive);
  if (typeof value !== 'string') return undefined;
  const bytes = Buffer.from(value).subarray(0, directive.precision).toString('hex');
  const words = directive.flags.includes(' ') ? (bytes.match(/../g) ?? []) : [bytes];
  const prefix = directive.flags.includes('#') && bytes !== '' ? '0x' : '';
  return words.map((word) => prefix + word).join(' ');
}

function padsWithZeros({ flags }: Directive): boolean {
  return flags.includes('0') && !flags.includes('-');
}

/** Widths count characters. Zeros go between the sign and the digits of a number, and before any other text. */
function pad(text: string, directive: Directive, isNumber: boolean): string {
  const { flags, width, verb, precision } = directive;
  const missing = width > 0 ? width - Array.from(text).length : 0;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  // The digits of a whole number have all the zeros they get.
  const isDigits = isNumber && 'dxXv'.includes(verb) && precision !== undefined;
  if (!padsWithZeros(directive) || isDigits) return ' '.repeat(missing) + text;
  const sign = isNumber && verb !== 'c' ? (/^[-+ ]/.exec(text)?.[0] ?? '') : '';
  return sign + '0'.repeat(missing) + text.slice(sign.length);
}
