import { z } from 'zod';
import type { ZodError, ZodType } from 'zod';

/** The entries that fit the schema, in order. One bad entry never loses the page: `onBad` hears of all of them once. */
export function parseRecords<T>(
  schema: ZodType<T>,
  entries: readonly unknown[],
  onBad: (faults: readonly string[]) => void,
): T[] {
  const good: T[] = [];
  const faults: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const parsed = schema.safeParse(entry);
    if (parsed.success) good.push(parsed.data);
    else faults.push(`entry ${index}: ${recordFaultText(parsed.error)}`);
  }
  if (faults.length > 0) onBad(faults);
  return good;
}

/** The first fault with its place: `fields.status.name: Invalid input: expected string, received null`. */
export function recordFaultText({ issues }: ZodError): string {
  const [first] = issues;
  if (!first) return 'unknown fault';
  const place = first.path.map(String).join('.');
  return place ? `${place}: ${first.message}` : first.message;
}

/** A nested list: null is an empty one, and an entry that does not fit is left out rather than losing its record. */
export function readable<T>(schema: ZodType<T>) {
  return z
    .array(z.unknown())
    .nullish()
    .transform((entries) =>
      (entries ?? []).flatMap((entry) => {
        const parsed = schema.safeParse(entry);
        return parsed.success ? [parsed.data] : [];
      }),
    );
}
