import type { HttpResponse, ReplyHeaders } from '../../lib/http/index.ts';
import type { QuotaReading } from '../../ports/runtime.ts';

/** What an answer says is left of the remote's budgets. */
export type ReadQuotas = (response: HttpResponse, now: number) => readonly QuotaReading[];

/** The names of the headers that tell of one budget. */
export interface QuotaHeaders {
  readonly remaining: string;
  readonly limit: string;
  readonly reset: string;
}

const PLAIN: QuotaHeaders = { remaining: 'x-ratelimit-remaining', limit: 'x-ratelimit-limit', reset: 'x-ratelimit-reset' };

/**
 * The budget that a remote tells in plain `X-RateLimit-*` headers. One request takes one of it; an answer that said
 * "not modified" takes none.
 */
export function plainQuotas(kind: string, rule: QuotaReading['rule'], resource = 'requests'): ReadQuotas {
  return ({ headers, revalidated }, now) => {
    const figures = figuresOf(headers, PLAIN, now);
    if (figures === null) return [];
    const named = headers.get('x-ratelimit-resource')?.trim();
    return [{ kind, rule, resource: named || resource, ...figures, cost: revalidated === true ? 0 : 1 }];
  };
}

/** The figures of one budget; null where the answer tells none. */
export function figuresOf(
  headers: ReplyHeaders,
  names: QuotaHeaders,
  now: number,
): Pick<QuotaReading, 'remaining' | 'limit' | 'resetAt'> | null {
  const remaining = numberOf(headers.get(names.remaining));
  if (remaining === null) return null;
  const limit = numberOf(headers.get(names.limit));
  return {
    remaining: Math.max(0, remaining),
    limit: limit !== null && limit > 0 ? limit : null,
    resetAt: momentOf(headers.get(names.reset), now),
  };
}

export function numberOf(value: string | null): number | null {
  return value !== null && /^\s*-?\d{1,15}(\.\d+)?\s*$/.test(value) ? Number(value) : null;
}

// Remotes write seconds or milliseconds since the epoch, seconds from now, or a date.
function momentOf(value: string | null, now: number): number | null {
  const number = numberOf(value);
  if (number === null) {
    const date = /^\s*\d{4}-\d\d-\d\dT/.test(value ?? '') ? Date.parse(value ?? '') : Number.NaN;
    return Number.isNaN(date) ? null : date;
  }
  if (number < 0) return null;
  if (number >= 1e11) return number;
  return number >= 1e9 ? number * 1000 : now + number * 1000;
}
