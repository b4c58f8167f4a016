/** What was last told of each thing: a poll repeats, its warnings do not. */
export interface LastTold<Key> {
  /** Whether this is something else than what was told of it before. It is taken for told from then on. */
  isNews(key: Key, what: string): boolean;
  /** There is nothing to tell of it any more. */
  forget(key: Key): void;
}

const MOST_REMEMBERED = 10_000;

/** Issues vanish without a word: beyond the limit those that were seen longest ago are let go. */
export function createLastTold<Key>(limit = MOST_REMEMBERED): LastTold<Key> {
  const known = new Map<Key, string>();
  return {
    isNews(key, what) {
      const before = known.get(key);
      known.delete(key);
      known.set(key, what);
      if (known.size > limit) known.delete(known.keys().next().value as Key);
      return before !== what;
    },
    forget: (key) => void known.delete(key),
  };
}
