/**
 * Looks again and again, one look after the other: where what is looked at hangs, looks do not pile up. A failure is told once, until
 * a look succeeds.
 */
export function lookRepeatedly(look: () => Promise<void>, everyMs: number, tell: (fault: unknown) => void): { stop(): void } {
  let isLooking = false;
  let isTold = false;
  const timer = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    look()
      .then(
        () => {
          isTold = false;
        },
        (fault: unknown) => {
          if (!isTold) tell(fault);
          isTold = true;
        },
      )
      .finally(() => {
        isLooking = false;
      });
  }, everyMs);
  return { stop: () => clearInterval(timer) };
}
