/** A value, and where it stands in the front matter. */
export interface PlainValue {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly quoted: boolean;
}

/** A letter or digit first, nothing that means anything to YAML, no blank last. */
const WORDS = '[A-Za-z0-9](?:[\\w .,/-]*[\\w.,/-])?';
const LINE = new RegExp(`([a-z_]{1,100}): (?:"([ !#-[\\]-~]*)"|(${WORDS}))\\n`, 'y');
const PLAIN = new RegExp(`^${WORDS}$`);
/** What means no value in YAML, and a key that no object takes. */
const OTHER = /^(?:null|__proto__)$/i;

/**
 * Front matter in which each line is a key and its text, as in most files; null for whatever is written in another way.
 * Read without a parser of YAML, which takes twenty times as long: thousands of files are read before the first one is
 * worked on, and each twice more when its state changes.
 */
export function readPlain(matter: string): ReadonlyMap<string, PlainValue> | null {
  const found = new Map<string, PlainValue>();
  for (LINE.lastIndex = 0; LINE.lastIndex < matter.length;) {
    const lineStart = LINE.lastIndex;
    const [, key, inQuotes, words] = LINE.exec(matter) ?? [];
    if (key === undefined || found.has(key) || OTHER.test(key) || (words !== undefined && OTHER.test(words))) return null;
    const text = words ?? inQuotes ?? '';
    found.set(key, { text, start: lineStart + key.length + 2, end: LINE.lastIndex - 1, quoted: words === undefined });
  }
  return found.size === 0 ? null : found;
}

/** Whether a text stands for itself without quotes. */
export function isPlain(text: string): boolean {
  return PLAIN.test(text) && !OTHER.test(text) && !NOT_TEXT.test(text);
}

/** What YAML takes for a number or a truth. */
const NOT_TEXT = /^(?:\d.*|true|false)$/i;
