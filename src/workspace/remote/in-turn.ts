/** Waits for what was begun before under any of these names. */
export type InTurn = <T>(names: readonly string[], work: () => Promise<T>) => Promise<T>;

export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (names, work) => {
    const before = names.flatMap((name) => last.get(name) ?? []);
    const own = Promise.allSettled(before).then(work);
    for (const name of names) last.set(name, own);
    try {
      return await own;
    } finally {
      for (const name of names) if (last.get(name) === own) last.delete(name);
    }
  };
}
