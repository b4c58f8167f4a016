import { isDeepStrictEqual } from 'node:util';
import type { HostView } from '../../ports/runner.ts';

/** What was read at one moment. */
export interface Reading {
  readonly hosts: readonly HostView[];
  readonly [what: string]: unknown;
}

export interface ReadChanges {
  /** Tells those who listen where this is not what was read before. */
  compare(reading: Reading): void;
  /** Returns the way to stop listening. */
  whenChanged(listener: () => void): () => void;
}

export function createChanges(): ReadChanges {
  const listeners = new Set<() => void>();
  let last: Reading | null = null;
  return {
    compare({ hosts, ...others }) {
      const reading = { ...others, hosts: hosts.map(withoutPulse) };
      if (isDeepStrictEqual(reading, last)) return;
      last = reading;
      for (const listener of listeners) listener();
    },
    whenChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A host that is heard of again is no news. */
function withoutPulse(host: HostView): HostView {
  return { ...host, heardAt: null, load: null };
}
