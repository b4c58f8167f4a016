/** The beginning of a text, at most this long. Half of a character that takes two units is left out: nobody stores it. */
export function shortText(text: string, longest: number): string {
  return text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '');
}

/** A title where people read it: no tracker promises a bound, and pages and messages need one. */
export function shownTitle(title: string): string {
  return title.length <= LONGEST_TITLE ? title : `${shortText(title, LONGEST_TITLE - 1)}…`;
}

const LONGEST_TITLE = 500;

/** The same text on its own: a mere slice keeps the whole text it came from in memory. */
export function copyOf(text: string): string {
  return Buffer.from(text).toString();
}
