import type { AgentErrorKind } from '../../domain/model/errors.ts';

/** What is known of a failure. */
export interface Signs {
  /** Claude Code's own word in the `error` field of a synthetic message; empty for none. */
  readonly error: string;
  /** HTTP status of the model API, or null. */
  readonly status: number | null;
  readonly stopReason: string;
  readonly text: string;
}

/** One row: it fits when any of its signs is there. */
interface Row {
  readonly what: string;
  readonly errors?: readonly string[];
  readonly statuses?: (status: number) => boolean;
  readonly stopReason?: string;
  readonly text?: RegExp;
  readonly kind: AgentErrorKind;
  /** What the operator can do. */
  readonly remedy: string;
}

const LOG_IN = 'log in with `claude` and /login as the user that runs the daemon, or set ANTHROPIC_API_KEY';

/** The first row that fits decides. */
export const FAILURES: readonly Row[] = [
  {
    what: 'the model refused the request',
    stopReason: 'refusal',
    text: /appears to violate our usage policy/i,
    kind: 'agent_refused',
    remedy: 'reword the issue or choose another model',
  },
  {
    what: 'the model API is down or overloaded',
    errors: ['server_error', 'overloaded'],
    statuses: (status) => status >= 500,
    text: /overloaded_error|api error: 5\d\d\b/i,
    kind: 'turn_failed',
    remedy: 'it is tried again',
  },
  {
    what: 'the account is out of credit or over its usage limit',
    errors: ['rate_limit', 'billing_error'],
    statuses: (status) => status === 429,
    text: new RegExp(
      [
        'usage limit reached',
        "you've (?:hit|reached) your\\b.*\\blimit",
        'limit will reset',
        'out of (?:extra |your )?usage',
        'credit balance is too low',
        'rate_limit_error',
        'request rejected \\(429\\)',
        'spend(?:ing)? (?:limit|cap)',
      ].join('|'),
      'i',
    ),
    kind: 'agent_usage_limit',
    remedy: 'sessions wait until it lifts',
  },
  {
    what: 'the credentials were not accepted',
    errors: ['authentication_failed', 'oauth_org_not_allowed'],
    statuses: (status) => status === 401 || status === 403,
    text: /invalid (?:x-)?api[- ]key|please run \/login|not logged in|oauth token (?:has )?(?:been )?(?:expired|revoked)|authentication_error|failed to authenticate|organization has been disabled/i,
    kind: 'agent_not_logged_in',
    remedy: LOG_IN,
  },
];

/** Which failure it is; null when no row fits. */
export function classify(signs: Signs): Row | null {
  return FAILURES.find((row) => fits(row, signs)) ?? null;
}

function fits(row: Row, signs: Signs): boolean {
  if (row.stopReason !== undefined && row.stopReason === signs.stopReason) return true;
  if (row.errors?.includes(signs.error)) return true;
  if (signs.status !== null && row.statuses?.(signs.status)) return true;
  return row.text?.test(signs.text) ?? false;
}

/** Texts after which a conversation cannot go on, but a new one may do what is asked. */
export const LOST_CONVERSATIONS: readonly { readonly what: string; readonly text: RegExp }[] = [
  { what: 'it does not exist any more', text: /no conversation found/i },
  { what: 'it has grown too long', text: /prompt is too long/i },
  { what: 'it is broken', text: /`?tool_use`? ids were found without|unexpected `?tool_use_id`?/i },
];

/** Why the conversation cannot go on; null when nothing says that it cannot. */
export function whyLost(text: string): string | null {
  return LOST_CONVERSATIONS.find((row) => row.text.test(text))?.what ?? null;
}
