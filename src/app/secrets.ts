import { createMask, type Cut } from '../lib/http/index.ts';

/** Every secret value known so far. It only grows: what was a secret before an edit of the workflow still is one. */
export interface KnownSecrets {
  add(values: readonly string[]): void;
  /** How many there are: what was masked before the last one came may hold it. */
  count(): number;
  values(): readonly string[];
  mask(text: string, cut?: Cut): string;
  /** Masks every text inside plain data, and every key that is no name of a field. */
  maskDeep<T>(value: T): T;
}

/** A secret may well be an ordinary word, and data that lost a field is of no use to anybody. */
const FIELD = /^[A-Za-z_]{1,40}$/;

export function createKnownSecrets(): KnownSecrets {
  const known = new Set<string>();
  let maskKnown = createMask([]);
  const mask = (text: string, cut?: Cut): string => (known.size === 0 ? text : maskKnown(text, cut));
  // Nearly nothing holds a secret: what holds none is not copied.
  function maskDeep(value: unknown): unknown {
    if (typeof value === 'string') return mask(value);
    if (value === null || typeof value !== 'object' || value instanceof Map) return value;
    const parts = value as Record<string, unknown>;
    let isSame = true;
    const masked = Object.entries(parts).map(([key, part]) => {
      const entry = [FIELD.test(key) ? key : mask(key), maskDeep(part)] as const;
      isSame &&= entry[0] === key && entry[1] === part;
      return entry;
    });
    if (isSame) return value;
    return Array.isArray(value) ? masked.map(([, part]) => part) : Object.fromEntries(masked);
  }
  return {
    add(values) {
      for (const value of values) if (value !== '') known.add(value);
      maskKnown = createMask([...known]);
    },
    count: () => known.size,
    values: () => [...known],
    mask,
    maskDeep: <T>(value: T) => (known.size === 0 ? value : (maskDeep(value) as T)),
  };
}
