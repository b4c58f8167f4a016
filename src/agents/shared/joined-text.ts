import { createRateLimit, type Allowance } from './rate-limit.ts';

/** Joins the pieces of what a model writes into few texts of bounded size. */
export interface JoinedText {
  add(piece: string): void;
  /** The message is complete. */
  end(): void;
  /** Hands over everything, whatever the allowance. */
  flush(): void;
}

/** How long pieces are collected before they are shown. */
const COLLECT_MS = 500;
/** A stream that stands still for this long is not in the middle of a word. */
const PAUSE_MS = 200;
const RETRY_MS = 100;
const LONGEST_WORD = 500;
const LONGEST_TEXT_BYTES = 4096;
/** Of more than twice this the last words win. */
const LONGEST_HELD = 4 * LONGEST_TEXT_BYTES;

export function createJoinedText(allowance: Allowance, show: (text: string) => void): JoinedText {
  const limit = createRateLimit(allowance);
  let held = '';
  let isEnded = false;
  let addedAt = 0;
  /** The allowance is spent: until the next try the texts are not even looked at, however many come. */
  let isHeldBack = false;
  let timer: NodeJS.Timeout | undefined;

  function arm(ms: number): void {
    timer ??= setTimeout(wake, ms).unref();
  }

  function wake(): void {
    timer = undefined;
    isHeldBack = false;
    let rest = isEnded || isLongAgo(addedAt) ? held.length : endOfWords(held);
    while (held.slice(0, rest).trim() !== '') {
      if (!limit.take()) return holdBack();
      rest -= showPart(rest);
    }
    if (held.trim() !== '') arm(COLLECT_MS);
  }

  function holdBack(): void {
    isHeldBack = true;
    arm(RETRY_MS);
  }

  /** Shows as much as fits into one event, at most up to `end`. Returns how much that was. */
  function showPart(end: number): number {
    const taken = partLength(held, end);
    const text = held.slice(0, taken).trim();
    held = held.slice(taken);
    if (text !== '') show(text);
    return taken;
  }

  return {
    add(piece) {
      if (piece === '') return;
      held = bounded(isEnded && held !== '' ? `${held}\n` : held, piece);
      isEnded = false;
      addedAt = performance.now();
      arm(COLLECT_MS);
    },
    end() {
      isEnded = true;
      if (isHeldBack) return;
      clearTimeout(timer);
      wake();
    },
    flush() {
      clearTimeout(timer);
      while (held.trim() !== '') showPart(held.length);
      held = '';
    },
  };
}

/** Whether the stream has stood still since. */
function isLongAgo(addedAt: number): boolean {
  return performance.now() - addedAt > PAUSE_MS;
}

/** Both in a row. What is left out is never put together first: it may be long. */
function bounded(held: string, piece: string): string {
  if (held.length + piece.length <= 2 * LONGEST_HELD) return held + piece;
  return `…${(held + piece.slice(-LONGEST_HELD)).slice(-LONGEST_HELD)}`;
}

/** How much of a text fits into one event, at most up to `end`: whole words where that leaves more than half. */
function partLength(text: string, end: number): number {
  const start = longestStart(text.slice(0, end));
  const cut = start.length < end ? endOfWords(start) : start.length;
  return cut > start.length / 2 ? cut : start.length;
}

/** Cut between words, so that none is torn in two, nor a secret. Not every script has blanks: then anywhere. */
function endOfWords(text: string): number {
  const end = text.search(/\s\S*$/) + 1;
  return end === 0 && text.length > LONGEST_WORD ? text.length : end;
}

/** The beginning of a text that fits into one event. */
export function longestStart(text: string): string {
  const bytes = Buffer.from(text.slice(0, LONGEST_TEXT_BYTES), 'utf8');
  if (bytes.length <= LONGEST_TEXT_BYTES) return text.slice(0, LONGEST_TEXT_BYTES);
  // A character cut in half decodes to U+FFFD: it is left out.
  return bytes.toString('utf8', 0, LONGEST_TEXT_BYTES).replace(/\uFFFD+$/, '');
}
