import type { ErrorAt } from './position.ts';
import { quotedText, shortName } from './spelling.ts';

export type TokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'word'
  | 'field'
  | 'dot'
  | 'variable'
  | 'number'
  | 'string'
  | 'rune'
  | 'pipe'
  | 'left'
  | 'right'
  | 'comma'
  | 'declare'
  | 'assign'
  | 'eof';

export interface Token {
  readonly kind: TokenKind;
  /** As written, except for text, which is already trimmed as its neighbours' markers ask. */
  readonly text: string;
  /** Offset in the source. */
  readonly at: number;
  /** A blank stands before it: what separates the argument `.b` from the chain `.a.b`. */
  readonly spaced: boolean;
}

interface Scanner {
  readonly source: string;
  readonly errorAt: ErrorAt;
  readonly tokens: Token[];
  at: number;
}

/** Cuts a template into tokens in one pass over the source. The last one is always `eof`. */
export function lex(source: string, errorAt: ErrorAt): Token[] {
  const scanner: Scanner = { source, errorAt, tokens: [], at: 0 };
  let trimStart = false;
  for (;;) {
    const open = source.indexOf('{{', scanner.at);
    const end = open < 0 ? source.length : open;
    const trimEnd = open >= 0 && hasTrimMarker(source, open + 2);
    pushText(scanner, end, { start: trimStart, end: trimEnd });
    if (open < 0) break;
    scanner.at = open + (trimEnd ? 3 : 2);
    trimStart = lexComment(scanner, open) ?? lexAction(scanner, open);
  }
  scanner.tokens.push({ kind: 'eof', text: '', at: source.length, spaced: false });
  return scanner.tokens;
}

/** A minus counts as a marker only next to a blank: `{{-3}}` is a number. */
function hasTrimMarker(source: string, at: number): boolean {
  return source[at] === '-' && isBlank(source[at + 1]);
}

function pushText(scanner: Scanner, end: number, trims: { readonly start: boolean; readonly end: boolean }): void {
  const { source } = scanner;
  let from = scanner.at;
  let to = end;
  if (trims.start) while (from < to && isBlank(source[from])) from += 1;
  if (trims.end) while (to > from && isBlank(source[to - 1])) to -= 1;
  if (from < to) scanner.tokens.push({ kind: 'text', text: source.slice(from, to), at: from, spaced: false });
}

/** Skips a comment and tells whether it trims what follows, or undefined when the action is no comment. */
function lexComment(scanner: Scanner, open: number): boolean | undefined {
  const { source, errorAt } = scanner;
  const start = afterBlanks(source, scanner.at);
  if (!source.startsWith('/*', start)) return undefined;
  const end = source.indexOf('*/', start + 2);
  if (end < 0) throw errorAt(open, 'comment is not closed with */}}');
  const close = afterBlanks(source, end + 2);
  const trims = close > end + 2 && source.startsWith('-}}', close);
  if (!trims && !source.startsWith('}}', close)) throw errorAt(end, 'a comment must end with */}}');
  scanner.at = close + (trims ? 3 : 2);
  return trims;
}

/** Scans from after `{{` to after `}}` and tells whether the action trims what follows. */
function lexAction(scanner: Scanner, open: number): boolean {
  const { source, tokens } = scanner;
  tokens.push({ kind: 'open', text: '{{', at: open, spaced: false });
  for (;;) {
    const at = afterBlanks(source, scanner.at);
    const spaced = at > scanner.at;
    const trims = spaced && source.startsWith('-}}', at);
    if (trims || source.startsWith('}}', at)) {
      tokens.push({ kind: 'close', text: '}}', at, spaced });
      scanner.at = at + (trims ? 3 : 2);
      return trims;
    }
    if (at >= source.length) throw scanner.errorAt(open, 'action is not closed with }}');
    const [kind, end] = scanToken(scanner, at);
    tokens.push({ kind, text: source.slice(at, end), at, spaced });
    scanner.at = end;
  }
}

const PUNCTUATION: Readonly<Record<string, TokenKind>> = { '|': 'pipe', '(': 'left', ')': 'right', ',': 'comma', '=': 'assign' };

/** What people write who think of another language, and the function that does it here. */
const OPERATORS: readonly (readonly [string, string])[] = [
  ['==', 'eq'],
  ['!=', 'ne'],
  ['<=', 'le'],
  ['>=', 'ge'],
  ['&&', 'and'],
  ['||', 'or'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['!', 'not'],
];

/** Kind and end of the token that starts here. */
function scanToken(scanner: Scanner, at: number): readonly [TokenKind, number] {
  const { source, errorAt } = scanner;
  const operator = OPERATORS.find(([sign]) => source.startsWith(sign, at));
  if (operator) throw errorAt(at, `unexpected "${operator[0]}"; use the function ${operator[1]}`);
  const first = source[at] ?? '';
  const punctuation = PUNCTUATION[first];
  if (punctuation) return [punctuation, at + 1];
  if (source.startsWith(':=', at)) return ['declare', at + 2];
  if (first === '"' || first === "'" || first === '`') return scanQuoted(scanner, at, first);
  if (startsNumber(source, at)) return ['number', endOfNumber(source, at)];
  if (first === '.' || first === '$') return scanName(scanner, at, first === '.' ? 'field' : 'variable');
  if (wordLength(source, at) > 0) return ['word', endOfWord(scanner, at, at)];
  throw errorAt(at, `unexpected character ${quotedText(characterAt(source, at))}`);
}

function scanQuoted(scanner: Scanner, at: number, quote: string): readonly [TokenKind, number] {
  if (quote === '`') return ['string', endOfRaw(scanner, at)];
  return quote === '"' ? ['string', endOfQuoted(scanner, at, 'string')] : ['rune', endOfQuoted(scanner, at, 'character')];
}

/** A field, a variable, or a lone dot. */
function scanName(scanner: Scanner, at: number, kind: 'field' | 'variable'): readonly [TokenKind, number] {
  const end = endOfWord(scanner, at, at + 1);
  return kind === 'field' && end === at + 1 ? ['dot', end] : [kind, end];
}

/** End of the run of letters, digits and underscores, which must be followed by something that may follow a name. */
function endOfWord(scanner: Scanner, start: number, from: number): number {
  const { source, errorAt } = scanner;
  let end = from;
  for (let length = wordLength(source, end); length > 0; length = wordLength(source, end)) end += length;
  const next = source[end];
  if (next === undefined || isBlank(next) || '.,|:()='.includes(next) || source.startsWith('}}', end)) return end;
  const name = shortName(source.slice(start, end));
  throw errorAt(end, `unexpected ${quotedText(characterAt(source, end))} after ${name}; names are made of letters, digits and _`);
}

function startsNumber(source: string, at: number): boolean {
  const first = source[at];
  return first === '+' || first === '-' || isDigit(first === '.' ? source[at + 1] : first);
}

/** Takes all that may belong to a number; whether it is one is decided when it is read. */
function endOfNumber(source: string, at: number): number {
  let end = at + 1;
  for (;;) {
    const length = source[end] === '.' ? 1 : wordLength(source, end);
    const exponentSign = (source[end] === '+' || source[end] === '-') && /[eE]/.test(source[end - 1] ?? '');
    if (length === 0 && !exponentSign) return end;
    end += length || 1;
  }
}

function endOfQuoted(scanner: Scanner, at: number, what: string): number {
  const { source } = scanner;
  for (let end = at + 1; end < source.length && source[end] !== '\n'; end += 1) {
    if (source[end] === source[at]) return end + 1;
    if (source[end] === '\\' && source[end + 1] !== '\n') end += 1;
  }
  throw scanner.errorAt(at, `${what} is not closed on its line`);
}

function endOfRaw(scanner: Scanner, at: number): number {
  const end = scanner.source.indexOf('`', at + 1);
  if (end < 0) throw scanner.errorAt(at, 'raw string is not closed with `');
  return end + 1;
}

function afterBlanks(source: string, from: number): number {
  let at = from;
  while (isBlank(source[at])) at += 1;
  return at;
}

/** Length of the name character at this offset, 0 when there is none. Letters beyond the basic plane take two units. */
function wordLength(source: string, at: number): number {
  const code = source.codePointAt(at);
  if (code === undefined) return 0;
  const character = String.fromCodePoint(code);
  return /[\p{L}\p{Nd}_]/u.test(character) ? character.length : 0;
}

function characterAt(source: string, at: number): string {
  return String.fromCodePoint(source.codePointAt(at) ?? 0);
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\n' || character === '\r';
}

function isDigit(character: string | undefined): boolean {
  return character !== undefined && character >= '0' && character <= '9';
}
