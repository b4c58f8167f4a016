import { isoTime } from './http/envelope.ts';

/** Facts as the rest of the API writes them: `run_id` for `runId`, and moments as timestamps. */
export function wireNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireNames);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [snakeCase(key), wireValue(key, inner)]));
}

function wireValue(key: string, value: unknown): unknown {
  return key === 'until' && typeof value === 'number' ? isoTime(value) : wireNames(value);
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
