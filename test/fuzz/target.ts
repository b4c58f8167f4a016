import type { Chance } from '../support/random.ts';

/** Something that takes input from elsewhere. It may refuse an input in its own words; whatever it throws is a finding. */
export interface Target {
  readonly name: string;
  make(chance: Chance): string;
  /** Throws when the input does what no input may do. A kept finding is given to all that the target tries in turn. */
  take(input: string, thorough: boolean): void | Promise<void>;
}

/** A number that only the input decides, so that a finding meets the same code again. Of a long one some characters do. */
export function digestOf(input: string): number {
  const step = 1 + (input.length >> 8);
  let mixed = 0x811c9dc5 ^ input.length;
  for (let at = 0; at < input.length; at += step) mixed = Math.imul(mixed ^ input.charCodeAt(at), 0x01000193);
  return mixed >>> 0;
}

/** One of the ways to take an input, in turn; all of them for a kept finding. */
export function oneOrAll<T>(ways: readonly T[], input: string, thorough: boolean): readonly T[] {
  const at = digestOf(input) % ways.length;
  return thorough ? ways : ways.slice(at, at + 1);
}

/** Where the real thing is dear, this share of the inputs goes through it. */
export function isSampled(input: string, oneIn: number): boolean {
  return (digestOf(input) >>> 8) % oneIn === 0;
}
