/** How many events of a sort may pass: so many at once, so many a second in the long run. */
export interface Allowance {
  readonly burst: number;
  readonly perSecond: number;
}

/** A token bucket: https://en.wikipedia.org/wiki/Token_bucket */
export function createRateLimit({ burst, perSecond }: Allowance): { take(): boolean } {
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

/** Values of which only the last matters: too many at once become one. The first and the last are never lost. */
export function createLatest<T>(allowance: Allowance, pass: (value: T) => void): { offer(value: T): void; flush(): void } {
  const limit = createRateLimit(allowance);
  let waiting: { readonly value: T } | null = null;
  let timer: NodeJS.Timeout | undefined;

  function deliver(): void {
    const held = waiting;
    waiting = null;
    if (held !== null) pass(held.value);
  }

  function wake(): void {
    timer = undefined;
    if (limit.take()) deliver();
    else arm();
  }

  function arm(): void {
    timer ??= setTimeout(wake, 1000 / allowance.perSecond).unref();
  }

  return {
    offer(value) {
      waiting = { value };
      if (limit.take()) deliver();
      else arm();
    },
    flush() {
      clearTimeout(timer);
      timer = undefined;
      deliver();
    },
  };
}
