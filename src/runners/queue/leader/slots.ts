/** How many runs each worker has. */
export interface Slots {
  take(workerId: string): void;
  free(workerId: string): void;
  taken(workerId: string): number;
}

export function createSlots(): Slots {
  const counts = new Map<string, number>();
  const taken = (workerId: string): number => counts.get(workerId) ?? 0;
  return {
    taken,
    take: (workerId) => void counts.set(workerId, taken(workerId) + 1),
    free(workerId) {
      const left = taken(workerId) - 1;
      if (left > 0) counts.set(workerId, left);
      else counts.delete(workerId);
    },
  };
}
