import type { Logger } from '../../ports/runtime.ts';
import { KIND } from './settings.ts';

/** What the remote grants, by the headers that say how much of it is left and when there will be more. */
const ALLOWANCES = [
  { allowance: 'requests', remaining: 'x-ratelimit-requests-remaining', reset: 'x-ratelimit-requests-reset' },
  { allowance: 'complexity', remaining: 'x-ratelimit-complexity-remaining', reset: 'x-ratelimit-complexity-reset' },
  {
    allowance: 'endpoint requests',
    remaining: 'x-ratelimit-endpoint-requests-remaining',
    reset: 'x-ratelimit-endpoint-requests-reset',
  },
] as const;

/** Reads the headers of every answer and warns when an allowance reaches zero: once, until there is some again. */
export function createAllowanceWatch(logger: Logger): (headers: Headers) => void {
  const spent = new Set<string>();
  return (headers) => {
    for (const { allowance, remaining, reset } of ALLOWANCES) {
      const left = numberOf(headers.get(remaining));
      if (left === null) continue;
      if (left > 0) spent.delete(allowance);
      else if (!spent.has(allowance)) {
        spent.add(allowance);
        logger.warn('tracker allowance is used up', { tracker_kind: KIND, allowance, resets_at: timeOf(headers.get(reset)) });
      }
    }
  };
}

function numberOf(value: string | null): number | null {
  return value !== null && /^\s*-?\d{1,15}(\.\d+)?\s*$/.test(value) ? Number(value) : null;
}

// Milliseconds since the epoch. A number beyond what a date can hold is no time.
function timeOf(value: string | null): string | undefined {
  const at = new Date(numberOf(value) ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
