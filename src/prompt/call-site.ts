import { MAX_OUTPUT_BYTES, TOO_LARGE } from './limits.ts';

/** What a function knows of the place that calls it. */
export interface CallSite {
  /** Builds the error, with the place and the function's name; the function throws it. */
  fail(detail: string): Error;
  /** Accounts for characters the function goes through, and throws once a rendering has done too much. */
  spend(characters: number): void;
}

export interface TextBuilder {
  add(piece: string): void;
  text(): string;
}

/** Collects a text that may not outgrow the limit, and stops before it is built rather than after. */
export function createText(site: CallSite): TextBuilder {
  const pieces: string[] = [];
  let length = 0;
  return {
    add(piece) {
      length += piece.length;
      if (length > MAX_OUTPUT_BYTES) throw site.fail(TOO_LARGE);
      site.spend(piece.length);
      pieces.push(piece);
    },
    text: () => pieces.join(''),
  };
}
