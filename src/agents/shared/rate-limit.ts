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

export interface Held<T> {
  put(value: T): void;
  value(): T | null;
  /** Gives up what is held, and says what that was. */
  drop(): T | null;
}

/** One value that there was no room for. It is offered again and again until it is taken. */
export function createHeld<T>(everyMs: number, offer: (value: T) => boolean): Held<T> {
  let held: T | null = null;
  let timer: NodeJS.Timeout | undefined;

  function again(): void {
    timer = undefined;
    if (held === null) return;
    if (offer(held)) held = null;
    else arm();
  }

  function arm(): void {
    timer ??= setTimeout(again, everyMs).unref();
  }

  return {
    put(value) {
      held = value;
      arm();
    },
    value: () => held,
    drop() {
      const dropped = held;
      held = null;
      clearTimeout(timer);
      timer = undefined;
      return dropped;
    },
  };
}
