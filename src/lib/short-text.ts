/** The beginning of a text, at most this long. Half of a character that takes two units is left out: nobody stores it. */
export function shortText(text: string, longest: number): string {
  return text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '');
}
