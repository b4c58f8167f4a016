/** How many events of a sort may pass: so many at once, so many a second in the long run. */
export interface Allowance {
  readonly burst: number;
  readonly perSecond: number;
}

/** https://en.wikipedia.org/wiki/Token_bucket */
export function createBucket({ burst, perSecond }: Allowance): { take(): boolean } {
  let tokens = burst;
  let filledAt = performance.now();
  return {
    take() {
      const now = performance.now();
      tokens = Math.min(burst, tokens + ((now - filledAt) / 1000) * perSecond);
      filledAt = now;
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
