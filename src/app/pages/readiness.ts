import { within } from '../../lib/within.ts';

/** Probes give up after one or two seconds: what takes longer is told as it was last known. */
const PROBE_MS = 1_000;

/**
 * Whether the database answers. It is asked once at a time, so that probes do not take up the connections of one that hangs;
 * one that takes too long does not answer.
 */
export function createDatabaseCheck(ping: () => Promise<void>): () => Promise<boolean> {
  let asked: Promise<boolean> | null = null;
  return async () => {
    asked ??= ping()
      .then(
        () => true,
        () => false,
      )
      .finally(() => (asked = null));
    return withinProbe(asked, false);
  };
}

/** What the work comes to, or what is said of it when it takes too long. */
export async function withinProbe<T>(work: Promise<T>, otherwise: T): Promise<T> {
  return (await within(PROBE_MS, work)) ? work : otherwise;
}
