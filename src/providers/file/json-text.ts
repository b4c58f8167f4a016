/*
 * Where the parts of a JSON text are. The happy path never comes here: records are read by JSON.parse, which tells no
 * positions. This is for editing one value in place and for naming the line and column of a fault.
 */

export interface Span {
  readonly start: number;
  readonly end: number;
}

export interface Member {
  readonly key: string;
  /** Where the key begins. */
  readonly start: number;
  readonly keyEnd: number;
  readonly value: Span;
}

/** A text that is no JSON, and where it stops being some. */
export class JsonFault extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'JsonFault';
    this.offset = offset;
  }
}

/** The first fault of a text that JSON.parse refused. */
export function findFault(text: string): JsonFault | null {
  try {
    const end = skipBlanks(text, skipValue(text, skipBlanks(text, 0)));
    return end < text.length ? new JsonFault('nothing may follow the list', end) : null;
  } catch (error) {
    return error instanceof JsonFault ? error : new JsonFault('nested too deeply', 0);
  }
}

/** The entries of the list that begins at `start`. */
export function elementsOf(text: string, start: number): Span[] {
  const elements: Span[] = [];
  skipList(text, start, (at) => {
    const end = skipValue(text, at);
    elements.push({ start: at, end });
    return end;
  });
  return elements;
}

/** The members of the object that begins at `start`. */
export function membersOf(text: string, start: number): Member[] {
  const members: Member[] = [];
  skipObject(text, start, (key, value) => {
    members.push({ key: JSON.parse(text.slice(key.start, key.end)) as string, start: key.start, keyEnd: key.end, value });
  });
  return members;
}

export function skipBlanks(text: string, at: number): number {
  let end = at;
  while (isBlank(text.charCodeAt(end))) end += 1;
  return end;
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- JSON forbids control characters in strings
const STRING_START = /"[^"\\\u0000-\u001f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\u0000-\u001f]*)*/y;

function skipValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return skipString(text, at);
  if (first === '{') return skipObject(text, at);
  if (first === '[') return skipList(text, at, (start) => skipValue(text, start));
  SCALAR.lastIndex = at;
  if (!SCALAR.test(text)) throw new JsonFault(first === undefined ? 'the text ends too early' : 'a value is expected here', at);
  return SCALAR.lastIndex;
}

function skipString(text: string, at: number): number {
  STRING_START.lastIndex = at;
  STRING_START.test(text);
  const end = STRING_START.lastIndex;
  if (text[end] === '"') return end + 1;
  throw new JsonFault(end >= text.length ? 'the text ends inside of a string' : 'this may not stand in a string', end);
}

function skipObject(text: string, start: number, onMember?: (key: Span, value: Span) => void): number {
  return skipEntries(text, start, '}', (at) => {
    if (text[at] !== '"') throw new JsonFault('a key in double quotes is expected here', at);
    const keyEnd = skipString(text, at);
    const colon = skipBlanks(text, keyEnd);
    if (text[colon] !== ':') throw new JsonFault("':' is expected here", colon);
    const value = skipBlanks(text, colon + 1);
    const end = skipValue(text, value);
    onMember?.({ start: at, end: keyEnd }, { start: value, end });
    return end;
  });
}

function skipList(text: string, start: number, skipEntry: (at: number) => number): number {
  return skipEntries(text, start, ']', skipEntry);
}

function skipEntries(text: string, start: number, close: string, skipEntry: (at: number) => number): number {
  let at = skipBlanks(text, start + 1);
  if (text[at] === close) return at + 1;
  for (;;) {
    at = skipBlanks(text, skipEntry(at));
    if (text[at] === close) return at + 1;
    if (text[at] !== ',')
      throw new JsonFault(at >= text.length ? 'the text ends too early' : `',' or '${close}' is expected here`, at);
    at = skipBlanks(text, at + 1);
  }
}

/** Line and column of an offset, as people count: from 1. */
export function placeOf(text: string, offset: number): string {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  const line = before.split('\n').length;
  return `line ${line}, column ${offset - lineStart + 1}`;
}
