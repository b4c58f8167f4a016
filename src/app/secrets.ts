import { createMask } from '../lib/http/index.ts';

/** Every secret value known so far. It only grows: what was a secret before an edit of the workflow still is one. */
export interface KnownSecrets {
  add(values: readonly string[]): void;
  mask(text: string): string;
  /** Masks every text inside plain data. */
  maskDeep<T>(value: T): T;
}

export function createKnownSecrets(): KnownSecrets {
  const known = new Set<string>();
  let maskKnown = createMask([]);
  const mask = (text: string): string => (known.size === 0 ? text : maskKnown(text));
  function maskDeep(value: unknown): unknown {
    if (typeof value === 'string') return mask(value);
    if (Array.isArray(value)) return value.map(maskDeep);
    if (value === null || typeof value !== 'object' || value instanceof Map) return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, maskDeep(part)]));
  }
  return {
    add(values) {
      for (const value of values) if (value !== '') known.add(value);
      maskKnown = createMask([...known]);
    },
    mask,
    maskDeep: <T>(value: T) => (known.size === 0 ? value : (maskDeep(value) as T)),
  };
}
