/** Bounds that keep every template, however written, from hanging or exhausting the daemon. */

/** Of one rendered prompt, and of any text built on the way to it. */
export const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Passes through all `range` bodies of one rendering together. */
export const MAX_ITERATIONS = 100_000;

/** Blocks and parentheses inside each other. */
export const MAX_DEPTH = 100;

/** Steps of one rendering: one for every value looked at, and one for every CHARS_PER_STEP characters a function goes through. */
export const MAX_STEPS = 2_000_000;
export const CHARS_PER_STEP = 8;

export const TOO_LARGE = 'output is larger than 1 MiB';
