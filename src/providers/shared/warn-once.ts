/** Whether a thing is heard of for the first time. */
export type IsNew = (key: string) => boolean;

const MOST_REMEMBERED = 1000;

/** A poll repeats, its warnings do not. Forgets now and then rather than grow for ever. */
export function createIsNew(limit = MOST_REMEMBERED): IsNew {
  const told = new Set<string>();
  return (key) => {
    if (told.has(key)) return false;
    if (told.size >= limit) told.clear();
    told.add(key);
    return true;
  };
}
