import { AgentError } from '../../domain/model/errors.ts';
import { plausibleReset, resetTimeIn } from './reset-time.ts';

/** A provider that does no more work for now. */
export interface LimitReached {
  readonly detail: string;
  /** What the agent or its provider said, as it said it. */
  readonly text: string;
  readonly now: number;
  /** When the limit lifts by figures of the agent's own, in epoch milliseconds; they win over the text. */
  readonly toldAt?: number | null;
  /** How long the remote asked to wait before the next try, where the agent passes that on. */
  readonly retryAfterMs?: number | null;
}

/** How long a kind rests after a rate limit of which nobody said when it ends. */
const RATE_LIMIT_MS = 60_000;

/** An account that has used up what it may: this does not lift within a minute. */
const USED_UP =
  /(?:usage|session|weekly|daily|monthly|spend(?:ing)?) (?:limit|cap)|hit your\b.{0,40}\blimit|limit will reset|quota|credit|billing|insufficient|out of (?:extra |your )?usage/i;

/**
 * The one rule for every agent: the kind rests until the moment that the remote named. Where it named none, an account
 * that is used up rests for as long as the core decides, and a rate limit for as long as the remote asked or a minute.
 */
export function limitError({ detail, text, now, toldAt = null, retryAfterMs }: LimitReached): AgentError {
  const told = (toldAt === null ? undefined : plausibleReset(toldAt, now)) ?? resetTimeIn(text, now);
  const asked = retryAfterMs == null ? undefined : plausibleReset(now + retryAfterMs, now);
  const resetsAt = told ?? (USED_UP.test(text) ? undefined : (asked ?? now + RATE_LIMIT_MS));
  return new AgentError({ kind: 'agent_usage_limit', detail, ...(resetsAt === undefined ? {} : { resetsAt }) });
}
