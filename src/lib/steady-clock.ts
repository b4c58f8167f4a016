/** Epoch milliseconds that no change of the wall clock moves until it is adopted. Both clocks are asked each time. */
export function createSteadyClock(
  wall = () => Date.now(),
  steady = () => performance.now(),
): { now(): number; drift(): number; adopt(): number } {
  let offset = wall() - steady();
  const now = (): number => Math.round(steady() + offset);
  return {
    now,
    drift: () => wall() - now(),
    adopt() {
      const by = wall() - now();
      offset += by;
      return by;
    },
  };
}
