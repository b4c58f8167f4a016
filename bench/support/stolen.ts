import { readFileSync } from 'node:fs';

interface Shares {
  readonly all: number;
  readonly stolen: number;
}

/**
 * Tells how much of the processors' time the host gave to others since it was asked for: on a shared machine the times of
 * a row say little where that is much. Null where the system does not tell.
 */
export function watchStolen(): () => number | null {
  const before = shares();
  return () => {
    const now = shares();
    return before && now && now.all > before.all ? (now.stolen - before.stolen) / (now.all - before.all) : null;
  };
}

function shares(): Shares | null {
  try {
    const [first = ''] = readFileSync('/proc/stat', 'latin1').split('\n');
    const times = first.trim().split(/\s+/).slice(1, 9).map(Number);
    return { all: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
  } catch {
    return null;
  }
}
