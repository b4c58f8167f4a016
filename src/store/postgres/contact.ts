import { CONFIRMED_MS } from '../../domain/model/lease-times.ts';

/** When the database last confirmed the leader, and who waits for it to do so again. */
export interface Contact {
  /** The database confirmed the leader, to a question of this moment. */
  confirmed(askedAt: Moment): void;
  ageMs(): number;
  /** Resolves while the last confirmation is young enough, or with the next one that is. */
  fresh(): Promise<void>;
  isFresh(): boolean;
  /** There will be no further confirmation. */
  gone(why: string): void;
}

/** By both clocks: the steady one stands still while the machine sleeps, the other one may be set back. */
export interface Moment {
  readonly steady: number;
  readonly wall: number;
}

export function createContact(): Contact {
  let last = momentNow();
  let over: string | null = null;
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];
  const ageMs = (): number => sinceMs(last);
  const isFresh = (): boolean => over === null && ageMs() < CONFIRMED_MS;
  return {
    confirmed(askedAt) {
      last = askedAt;
      // An answer that lay there while this process slept confirms what was true then.
      if (ageMs() < CONFIRMED_MS) for (const { resolve } of waiting.splice(0)) resolve();
    },
    ageMs,
    isFresh,
    async fresh() {
      if (over !== null) throw new Error(over);
      if (isFresh()) return;
      await new Promise<void>((resolve, reject) => waiting.push({ resolve, reject }));
    },
    gone(why) {
      over = why;
      for (const { reject } of waiting.splice(0)) reject(new Error(why));
    },
  };
}

export function momentNow(): Moment {
  return { steady: performance.now(), wall: Date.now() };
}

function sinceMs({ steady, wall }: Moment): number {
  return Math.max(performance.now() - steady, Date.now() - wall);
}
