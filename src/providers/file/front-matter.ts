import { isMap, isScalar, parseDocument, visit } from 'yaml';
import type { Document, ScalarTag, YAMLMap } from 'yaml';
import { once } from '../../lib/once.ts';
import { placeOf } from './json-text.ts';
import { readPlain, type PlainValue } from './plain-matter.ts';
import { errorText } from '../../lib/error-text.ts';

/** An issue file in its parts. `head + matter + rest` is the text, `rest` from the closing line on. */
export interface MarkdownFile {
  readonly head: string;
  readonly matter: string;
  readonly rest: string;
  /** The values where each is a text on a line of its own; null for other ways to write them. */
  readonly plain: ReadonlyMap<string, PlainValue> | null;
  /** Parsed when it is asked for. */
  readonly map: () => YAMLMap;
  /** The same to be changed. */
  readonly copy: () => Document;
  /** The front matter as plain values. Numbers and booleans are the text as written: `id: 007` keeps its zeros. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A file whose front matter cannot be read, and where. */
export class MarkdownFault extends Error {
  readonly place: string;

  constructor(message: string, place: string) {
    super(message);
    this.name = 'MarkdownFault';
    this.place = place;
  }
}

/** Text that stands in a front matter which is written anew as it stood in the old one. */
export class Verbatim {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const VERBATIM: ScalarTag = {
  tag: 'tag:foray,2026:verbatim',
  default: true,
  identify: (value) => value instanceof Verbatim,
  resolve: (text) => text,
  stringify: ({ value }) => (value as Verbatim).text,
};

const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
const CLOSING = /^---[ \t]*\r?$/m;

export function hasFrontMatter(text: string): boolean {
  return OPENING.test(text);
}

export function parseMarkdown(text: string): MarkdownFile {
  const head = OPENING.exec(text)?.[0];
  if (head === undefined) throw new MarkdownFault('the file does not begin with a line ---', 'line 1, column 1');
  const closing = CLOSING.exec(text.slice(head.length));
  if (closing === null) throw new MarkdownFault('the front matter has no closing line ---', 'line 1, column 1');
  const matter = text.slice(head.length, head.length + closing.index);
  const rest = text.slice(head.length + closing.index);
  const place = (offset: number): string => placeOf(text, head.length + offset);
  const plain = readPlain(matter);
  const parsed = once(() => parseMatter(matter, place));
  return {
    head,
    matter,
    rest,
    plain,
    map: () => parsed().contents,
    copy: () => parsed().clone(),
    data: plain ? textsOf(plain) : valuesOf(parsed(), place),
    body: rest.slice(closing[0].length).trim(),
  };
}

function textsOf(plain: ReadonlyMap<string, PlainValue>): Record<string, unknown> {
  const texts: Record<string, unknown> = {};
  for (const [key, { text }] of plain) texts[key] = text;
  return texts;
}

function parseMatter(matter: string, place: (offset: number) => string): Document & { contents: YAMLMap } {
  // Level 'error' keeps the library from printing.
  const document = parseDocument(matter, { prettyErrors: false, logLevel: 'error', customTags: [VERBATIM] });
  const [fault] = document.errors;
  if (fault !== undefined) throw new MarkdownFault(fault.message, place(fault.pos[0]));
  if (!isMap(document.contents)) throw new MarkdownFault('the front matter must be keys with values', place(0));
  visit(document, {
    Scalar(_, node) {
      if (isScalar(node) && (typeof node.value === 'number' || typeof node.value === 'boolean')) node.value = node.source;
    },
    Alias(_, node, path) {
      const anchored = node.resolve(document);
      const fault = anchored === undefined ? 'names no anchor' : path.includes(anchored) ? 'stands within itself' : null;
      if (fault !== null) throw new MarkdownFault(`the alias *${node.source} ${fault}`, place(node.range?.[0] ?? 0));
    },
  });
  return document as unknown as Document & { contents: YAMLMap };
}

/** Aliases of aliases may stand for more than any machine holds. */
function valuesOf(document: Document, place: (offset: number) => string): Record<string, unknown> {
  try {
    return document.toJS() as Record<string, unknown>;
  } catch (error) {
    throw new MarkdownFault(`an alias cannot be resolved: ${errorText(error)}`, place(0));
  }
}
