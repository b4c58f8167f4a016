/** Once the free ones are spent, one try a second is compared, and one wrong one is forgiven a second. */
const EVERY_MS = 1_000;
/** Who would wait longer than this is told to come again. */
const LONGEST_WAIT_MS = 2_000;
/** Addresses that are remembered; of more, the one that was wrong longest ago is forgotten. */
const MAX_ADDRESSES = 10_000;

/** Slows down who tries one token after the other. */
export interface Guesses {
  /** Waits until the try may be compared; false where too many wait already. */
  turn(address: string): Promise<boolean>;
  /** The try was wrong. */
  wrong(address: string): void;
}

interface Tries {
  wrong: number;
  /** When that was so. */
  at: number;
  nextTurnAt: number;
}

/**
 * Tries wait before they are compared, right ones too: an answer that came sooner would tell them apart. Addresses are
 * judged one by one, so that nobody locks others out who come from elsewhere.
 */
export function createGuesses(free: number, now: () => number): Guesses {
  /** The one that was wrong longest ago first. */
  const tries = new Map<string, Tries>();
  const wrongOf = ({ wrong, at }: Tries) => Math.max(0, wrong - (now() - at) / EVERY_MS);
  return {
    async turn(address) {
      const known = tries.get(networkOf(address));
      if (known === undefined || wrongOf(known) < free) return true;
      const at = Math.max(now(), known.nextTurnAt);
      const waitMs = at - now();
      if (waitMs > LONGEST_WAIT_MS) return false;
      known.nextTurnAt = at + EVERY_MS;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      return true;
    },
    wrong(address) {
      const network = networkOf(address);
      const known = tries.get(network);
      tries.delete(network);
      const wrong = 1 + (known === undefined ? 0 : wrongOf(known));
      tries.set(network, { wrong, at: now(), nextTurnAt: known?.nextTurnAt ?? now() });
      const [oldest] = tries.keys();
      if (tries.size > MAX_ADDRESSES && oldest !== undefined) tries.delete(oldest);
    },
  };
}

/** Whoever has one address of IPv6 has the whole network of it. */
function networkOf(address: string): string {
  const isMapped = address.includes('.');
  return isMapped || !address.includes(':') ? address : address.split(':').slice(0, 4).join(':');
}
