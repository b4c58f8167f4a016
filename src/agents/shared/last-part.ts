/** No secret that is known is longer than this, in any usual case. */
const LONGEST_WORD = 300;

/**
 * The end of a text that may be masked later, of about so many characters. It begins with a whole word: half a secret at
 * its beginning would not be known as one.
 */
export function lastPart(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = text.slice(-length);
  const blank = end.slice(0, LONGEST_WORD).search(/\s/);
  return `…${end.slice(blank === -1 ? LONGEST_WORD : blank)}`;
}
