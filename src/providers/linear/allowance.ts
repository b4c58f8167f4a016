import type { ReplyHeaders } from '../../lib/http/index.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { ReadQuotas } from '../shared/quota.ts';
import { figuresOf, numberOf } from '../shared/quota.ts';
import { KIND } from './settings.ts';

const POINTS = headersNamed('x-ratelimit-complexity');

const ENDPOINT_REQUESTS = 'endpoint requests';

/** What the remote grants, by the headers that say how much of it is left and when there will be more. */
const ALLOWANCES = [
  { allowance: 'requests', ...headersNamed('x-ratelimit-requests') },
  { allowance: 'complexity', ...POINTS },
  { allowance: ENDPOINT_REQUESTS, ...headersNamed('x-ratelimit-endpoint-requests') },
] as const;

/** Each endpoint has its own of these: what comments have used up, polls still have. */
function nameOf(allowance: string, headers: ReplyHeaders): string {
  const endpoint = allowance === ENDPOINT_REQUESTS ? headers.get('x-ratelimit-endpoint-name')?.trim() : '';
  return endpoint ? `${allowance} of ${endpoint}` : allowance;
}

function headersNamed(prefix: string) {
  return { remaining: `${prefix}-remaining`, limit: `${prefix}-limit`, reset: `${prefix}-reset` };
}

/** The same for the polls, which are spread so that an allowance lasts. What a document took is told in points. */
export const readAllowances: ReadQuotas = ({ headers }, now) =>
  ALLOWANCES.flatMap(({ allowance, ...names }) => {
    const figures = figuresOf(headers, names, now);
    const resource = nameOf(allowance, headers);
    const cost = allowance === 'complexity' ? (numberOf(headers.get('x-complexity')) ?? 0) : 1;
    return figures === null ? [] : [{ kind: KIND, rule: 'pace' as const, resource, ...figures, cost }];
  });

interface AllowanceWatch {
  /** Reads the headers of an answer and warns when an allowance reaches zero: once, until there is some again. */
  read(headers: ReplyHeaders): void;
  /** Whether less than half of the points is left. */
  pointsAreShort(): boolean;
}

export function createAllowanceWatch(logger: Logger): AllowanceWatch {
  const spent = new Set<string>();
  let pointsAreShort = false;
  const read = (headers: ReplyHeaders): void => {
    const points = numberOf(headers.get(POINTS.remaining));
    if (points !== null) pointsAreShort = points < (numberOf(headers.get(POINTS.limit)) ?? 0) / 2;
    for (const { remaining, reset, ...granted } of ALLOWANCES) {
      const left = numberOf(headers.get(remaining));
      if (left === null) continue;
      const allowance = nameOf(granted.allowance, headers);
      if (left > 0) spent.delete(allowance);
      else if (!spent.has(allowance)) {
        spent.add(allowance);
        logger.warn('tracker allowance is used up', { tracker_kind: KIND, allowance, resets_at: timeOf(headers.get(reset)) });
      }
    }
  };
  return { read, pointsAreShort: () => pointsAreShort };
}

/** When all that is used up will be there again, in milliseconds since the epoch; undefined where no header says. */
export function resetOf(headers: ReplyHeaders): number | undefined {
  const spent = ALLOWANCES.filter(({ remaining }) => numberOf(headers.get(remaining)) === 0);
  const resets = spent.flatMap(({ reset }) => numberOf(headers.get(reset)) ?? []);
  return resets.length === 0 ? undefined : Math.max(...resets);
}

// Milliseconds since the epoch. A number beyond what a date can hold is no time.
function timeOf(value: string | null): string | undefined {
  const at = new Date(numberOf(value) ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
