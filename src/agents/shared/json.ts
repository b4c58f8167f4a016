/** An object of a message whose fields may hold anything. */
export type Raw = Readonly<Record<string, unknown>>;

/** What the text says as JSON, or null. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A value of a message as JSON. It can be read nested deeper than it can be written again. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? '';
  } catch {
    return '(nested too deep to be shown)';
  }
}

export function objectOf(value: unknown): Raw | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Raw) : null;
}

export function arrayOr(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectsIn(value: unknown): readonly Raw[] {
  return arrayOr(value)
    .map(objectOf)
    .filter((entry) => entry !== null);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const LARGEST_COUNT = 1e12;

/** A whole number of something, 0 where it is none. Agents that estimate tell fractions. */
export function countOf(value: unknown): number {
  const amount = amountOf(value);
  return amount === null || amount > LARGEST_COUNT ? 0 : Math.round(amount);
}

/** A number that is not negative, or null. */
export function amountOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** The id of a conversation is stored, logged and shown: a longer one is none. */
export const LONGEST_SESSION_ID = 1_000;
