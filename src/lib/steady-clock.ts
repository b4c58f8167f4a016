/** Epoch milliseconds that no change of the wall clock moves until it is adopted. Both clocks are asked each time. */
export function createSteadyClock(
  wall = () => Date.now(),
  steady = () => performance.now(),
): { now(): number; drift(): number; adopt(): void; adopted(): number } {
  let offset = wall() - steady();
  let moved = 0;
  const now = (): number => Math.round(steady() + offset);
  return {
    now,
    drift: () => wall() - now(),
    adopt() {
      const by = wall() - now();
      offset += by;
      moved += by;
    },
    adopted: () => moved,
  };
}
