/** How long to wait before the n-th failure in a row is tried again: 10 s doubling up to the cap, with up to 10 % jitter. */
export function backoffMs(failures: number, capMs: number, seed: string): number {
  const base = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(Math.max(failures, 1) - 1, 30), capMs);
  return withJitter(base, `${seed}:${failures}`);
}

/** The cap itself, for faults that no waiting heals. */
export function cappedBackoffMs(failures: number, capMs: number, seed: string): number {
  return withJitter(capMs, `${seed}:${failures}`);
}

/** A run that ended well goes on after this. */
export const CONTINUATION_MS = 1_000;

const FIRST_BACKOFF_MS = 10_000;

/** Jitter from a hash, so that the same event always leads to the same decision. */
function withJitter(baseMs: number, seed: string): number {
  return Math.round(baseMs * (1 + 0.1 * fraction(seed)));
}

/** FNV-1a, as a fraction of 1. */
function fraction(seed: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < seed.length; index += 1) {
    hash = Math.imul(hash ^ seed.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) / 2 ** 32;
}
