/** When the database last confirmed the leader, and who waits for it to do so again. */
export interface Contact {
  /** The database confirmed the leader, to a question of this moment. */
  confirmed(askedAt: number): void;
  ageMs(): number;
  /** Resolves while the last confirmation is young enough, or with the next one. */
  fresh(): Promise<void>;
  /** There will be no further confirmation. */
  gone(why: string): void;
}

/** So long after the leader was confirmed nobody can have taken over: less than a leader has to come back. */
const CONFIRMED_MS = 2_000;

export function createContact(): Contact {
  let last = performance.now();
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];
  const ageMs = (): number => performance.now() - last;
  return {
    confirmed(askedAt) {
      last = askedAt;
      for (const { resolve } of waiting.splice(0)) resolve();
    },
    ageMs,
    async fresh() {
      if (ageMs() < CONFIRMED_MS) return;
      await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
    },
    gone(why) {
      for (const { reject } of waiting.splice(0)) reject(new Error(why));
    },
  };
}
