/** So many entries further on are looked at: as many may have gone from a list between two polls, one beside the other. */
const FURTHEST = 32;

/**
 * Where an entry stands in a list that is walked over beside another in nearly the same order: at the place the walk has
 * come to or a little further on. -1 when it is not there.
 */
export function findAhead<T, Wanted>(
  list: readonly T[],
  from: number,
  wanted: Wanted,
  fits: (wanted: Wanted, entry: T) => boolean,
): number {
  const end = Math.min(list.length, from + FURTHEST);
  for (let at = from; at < end; at += 1) if (fits(wanted, list[at] as T)) return at;
  return -1;
}
