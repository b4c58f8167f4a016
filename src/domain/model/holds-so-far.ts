import type { Hold } from './hold.ts';

/**
 * Why the candidates of a poll are not dispatched, as far as it has come. While each is held as at the last poll and in
 * its place, they are only counted: most polls change nothing for thousands of them.
 */
export interface HoldsSoFar {
  readonly last: readonly Hold[];
  /** So many of the last poll stand as they were. */
  readonly kept: number;
  /** Those after them, slice by slice, so that no slice copies what those before it found. */
  readonly more: readonly (readonly Hold[])[];
}

/** Before the first candidate. */
export function noneHeld(last: readonly Hold[]): HoldsSoFar {
  return { last, kept: 0, more: [] };
}

/** Goes on with the next slice of the candidates. */
export function holdMore({ last, kept, more }: HoldsSoFar) {
  const slice: Hold[] = [];
  let stand = kept;
  return {
    add(hold: Hold): void {
      if (slice.length === 0 && more.length === 0 && hold === last[stand]) stand += 1;
      else slice.push(hold);
    },
    soFar: (): HoldsSoFar => ({ last, kept: stand, more: slice.length === 0 ? more : [...more, slice] }),
  };
}

/** All of them. The list of the last poll itself where nothing has changed. */
export function allHeld({ last, kept, more }: HoldsSoFar): readonly Hold[] {
  const stand = kept === last.length ? last : last.slice(0, kept);
  // Many times as fast as `flat`, which would take longer than all of the slice.
  return more.length === 0 ? stand : stand.concat(...more);
}
