import type { SqlValue } from './work.ts';

/** Marks a text that is kept as JSON. */
const ESCAPED = '\u0001';

/**
 * A text of SQLite ends at a NUL, PostgreSQL takes none, and both want it well-formed; what trackers and agents send need
 * not be. Such a text is kept as JSON, so that it comes back as it was. Numbers must be finite, since NaN would silently
 * become NULL.
 */
export function encode(value: SqlValue): SqlValue {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new TypeError(`${value} cannot be stored`);
  if (typeof value !== 'string') return value;
  const plain = !value.startsWith(ESCAPED) && !value.includes('\0') && value.isWellFormed();
  return plain ? value : ESCAPED + JSON.stringify(value);
}

export function decode(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.startsWith(ESCAPED) ? (JSON.parse(value.slice(1)) as string) : value;
}
