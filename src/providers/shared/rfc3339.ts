import { TrackerError } from '../../domain/model/errors.ts';

const SHAPE =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

/**
 * The instant of an RFC 3339 time in epoch milliseconds, or null when it is none. `Date.parse` alone takes far more: dates
 * without a time or zone, 30 February, 24:00.
 */
export function instantOf(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const [, year, month, day] = SHAPE.exec(value) ?? [];
  if (day === undefined || Number(day) > daysIn(Number(year), Number(month))) return null;
  return Date.parse(value.toUpperCase());
}

// The 29th and beyond are the only days in question, and the calendar repeats after 400 years.
function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/** For sorting, where a time that cannot be read must not lose its record: such a one counts as oldest. */
export function ageOf(createdAt: string): number {
  return instantOf(createdAt) ?? 0;
}

/** For what must not be put in the wrong order: a time that cannot be read fails the read. `what` names its record. */
export function requiredInstant(value: unknown, what: string): number {
  const at = instantOf(value);
  if (at !== null) return at;
  const detail = `its time ${JSON.stringify(value)?.slice(0, 64) ?? '(none)'} cannot be read: it is no RFC 3339 time`;
  throw new TrackerError({ kind: 'tracker_payload_error', method: 'GET', path: what, detail });
}
