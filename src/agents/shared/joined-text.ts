import type { Mask } from '../../lib/http/index.ts';
import { isBlank } from './blank.ts';
import { createRateLimit, type Allowance } from './rate-limit.ts';

/** Joins the pieces of what a model writes into few texts of bounded size, without secrets. */
export interface JoinedText {
  add(piece: string): void;
  /** The message is complete. */
  end(): void;
  /** Hands over everything, whatever the allowance. */
  flush(): void;
}

export interface JoinedTextOptions {
  readonly allowance: Allowance;
  readonly mask: Mask;
  readonly show: (text: string) => void;
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

export function createJoinedText({ allowance, mask, show }: JoinedTextOptions): JoinedText {
  const limit = createRateLimit(allowance);
  const held = createHeldText(mask);
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
    const text = held.withoutSecrets();
    let rest = isEnded ? text.length : lengthToShow(text);
    while (!isBlank(held.text().slice(0, rest))) {
      if (!limit.take()) return holdBack();
      rest -= showPart(rest);
    }
    if (!isBlank(held.text())) arm(COLLECT_MS);
  }

  /** While more may come: whole words, and nothing that may be the beginning of a secret. */
  function lengthToShow(text: string): number {
    const sure = text.length - mask.unfinished(text);
    return isLongAgo(addedAt) ? sure : Math.min(sure, endOfWords(text));
  }

  function holdBack(): void {
    isHeldBack = true;
    arm(RETRY_MS);
  }

  /** Shows as much as fits into one event, at most up to `end`. Returns how much that was. */
  function showPart(end: number): number {
    const part = held.take(partLength(held.text(), end));
    if (!isBlank(part)) show(part.trim());
    return part.length;
  }

  return {
    add(piece) {
      if (piece === '') return;
      if (isEnded) held.beginMessage();
      held.add(piece);
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
      held.withoutSecrets();
      while (!isBlank(held.text())) showPart(held.text().length);
    },
  };
}

/** What is not shown yet. Secrets go before anything is cut off: after a cut nobody knows one any more. */
function createHeldText(mask: Mask) {
  let held = '';
  /** What is missing before it: nothing, the beginning of its first word that was shown already, or what was left out. */
  let missing: 'nothing' | 'shown' | 'left out' = 'nothing';
  return {
    text: (): string => held,
    add(piece: string): void {
      if (held.length + piece.length > 2 * LONGEST_HELD) missing = 'left out';
      held = bounded(held, piece);
    },
    beginMessage(): void {
      if (held === '') missing = 'nothing';
      else held += '\n';
    },
    withoutSecrets(): string {
      if (isBlank(held)) return held;
      const masked = mask(held, missing === 'nothing' ? null : 'start');
      held = missing === 'left out' ? `…${masked}` : masked;
      missing = 'nothing';
      return held;
    },
    take(length: number): string {
      const part = held.slice(0, length);
      held = held.slice(length);
      if (/\S$/.test(part)) missing = 'shown';
      return part;
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
  return (held + piece.slice(-LONGEST_HELD)).slice(-LONGEST_HELD);
}

/** How much of a text fits into one event, at most up to `end`: whole words where that leaves more than half. */
function partLength(text: string, end: number): number {
  const start = longestStart(text.slice(0, end));
  const cut = start.length < end ? endOfWords(start) : start.length;
  return cut > start.length / 2 ? cut : start.length;
}

/** Cut between words, so that none is torn in two. Not every script has blanks: then anywhere. */
function endOfWords(text: string): number {
  const end = text.search(/\s\S*$/) + 1;
  return end === 0 && text.length > LONGEST_WORD ? text.length : end;
}

/** The beginning of a text that fits into one event, with so many bytes to spare. */
export function longestStart(text: string, spareBytes = 0): string {
  const bytes = new Uint8Array(LONGEST_TEXT_BYTES - spareBytes);
  // One more than can fit: a character of two units is not cut in half.
  const { read } = new TextEncoder().encodeInto(text.slice(0, bytes.length + 1), bytes);
  return text.slice(0, read);
}
