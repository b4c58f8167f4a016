import { RecordsError } from '../../domain/model/errors.ts';

/** So long it is tried again although the database answers and does not take it: somebody may mend it meanwhile. */
export const REFUSED_MS = 20_000;

/** Whether the database answered, and will hardly take the same later: a right is missing, a disk is full. */
export function isRefusal(error: unknown): error is RecordsError {
  return error instanceof RecordsError && !error.isAway;
}

/** Failures in a row. `onFirst` hears of the first refusal among them. */
export interface Refusals {
  /** Whether it is of no use to try again. */
  isFinal(error: unknown): boolean;
}

export function createRefusals(onFirst: (error: unknown) => void = () => {}): Refusals {
  let since: number | null = null;
  return {
    isFinal(error) {
      if (!isRefusal(error)) return false;
      if (since === null) onFirst(error);
      since ??= performance.now();
      return performance.now() - since >= REFUSED_MS;
    },
  };
}
