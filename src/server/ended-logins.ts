/** More than people log out of in thirty days; of more, the one that ended longest ago is forgotten. */
const MAX_ENDED = 10_000;

/** Logins that somebody ended: their cookies are signed and in time, and must not be taken again. */
export interface EndedLogins {
  /** `until`: when it would be over by itself. */
  add(login: string, until: number): void;
  has(login: string): boolean;
}

export function createEndedLogins(now: () => number): EndedLogins {
  /** By when each is over; the one that ended longest ago first. */
  const ended = new Map<string, number>();
  return {
    add(login, until) {
      for (const [known, over] of ended) if (over <= now()) ended.delete(known);
      ended.set(login, until);
      const [oldest] = ended.keys();
      if (ended.size > MAX_ENDED && oldest !== undefined) ended.delete(oldest);
    },
    has: (login) => ended.has(login),
  };
}
