const LONGEST_DETAIL = 2_000;

/**
 * What an error says, in a length that people read. Names and words of a remote are quoted in it, which may be of any
 * length. Both ends stay: the cause stands at the beginning, the remedy at the end.
 */
export function shortDetail(detail: string): string {
  if (detail.length <= LONGEST_DETAIL) return detail;
  return `${detail.slice(0, LONGEST_DETAIL / 2)} … ${detail.slice(-LONGEST_DETAIL / 2)}`.toWellFormed();
}
