/** Blanks, and characters without a shape of their own, such as a zero-width space. */
const BLANK = /^[\s\p{Cc}\p{Cf}\p{Mn}\u115f\u1160\u2800\u3164\uffa0]*$/u;

/** Whether a text shows nothing: a model that sends only that has said nothing. */
export function isBlank(text: string): boolean {
  return BLANK.test(text);
}
