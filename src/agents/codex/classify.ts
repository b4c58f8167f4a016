import { AgentError, type AgentErrorKind } from '../../domain/model/errors.ts';
import { limitError } from '../shared/limits.ts';
import type { RateLimits, TurnError } from './parse.ts';

/** What Codex calls an error (`codexErrorInfo`), and what it means here. All others fail the turn. */
export const ERROR_KINDS: Readonly<Record<string, AgentErrorKind>> = {
  usageLimitExceeded: 'agent_usage_limit',
  unauthorized: 'agent_not_logged_in',
  cyberPolicy: 'agent_refused',
  misalignmentPolicyViolation: 'agent_refused',
  contextWindowExceeded: 'turn_failed',
  sessionBudgetExceeded: 'turn_failed',
  rateLimitExceeded: 'agent_usage_limit',
  serverOverloaded: 'turn_failed',
  internalServerError: 'turn_failed',
  modelNotFound: 'turn_failed',
  badRequest: 'turn_failed',
  sandboxError: 'turn_failed',
  other: 'turn_failed',
};

/** The status of the model's answer, where the error carries one (`{ httpConnectionFailed: { httpStatusCode } }`). */
export const STATUS_KINDS: Readonly<Record<number, AgentErrorKind>> = {
  401: 'agent_not_logged_in',
  402: 'agent_usage_limit',
  429: 'agent_usage_limit',
};

/** What the text alone tells, for errors without a name and for requests that Codex refuses. */
export const TEXT_KINDS: readonly (readonly [RegExp, AgentErrorKind])[] = [
  [/\b401 Unauthorized\b/i, 'agent_not_logged_in'],
  [/\bnot logged in\b|\blog ?in again\b|\bsign in again\b/i, 'agent_not_logged_in'],
  [/\baccess token could not be refreshed\b/i, 'agent_not_logged_in'],
  [/\bhit your usage limit\b|\busage limit (?:has been )?(?:reached|exceeded)\b/i, 'agent_usage_limit'],
  // That of a disk is none of the account.
  [/(?<!\bdis[ck] )\bQuota exceeded\b|\binsufficient_quota\b/i, 'agent_usage_limit'],
  [/\b429 Too Many Requests\b|\brate limit (?:reached|exceeded)\b/i, 'agent_usage_limit'],
];

export const LOGIN_REMEDY = 'run `codex login` as the user that runs foray, or set CODEX_API_KEY';

export function kindOf({ message, codexErrorInfo }: TurnError): AgentErrorKind {
  const [name = '', facts] =
    typeof codexErrorInfo === 'string' ? [codexErrorInfo] : (Object.entries(codexErrorInfo ?? {})[0] ?? []);
  const named = Object.hasOwn(ERROR_KINDS, name) ? ERROR_KINDS[name] : undefined;
  const byStatus = STATUS_KINDS[statusIn(facts)];
  return byStatus ?? (name === 'other' ? undefined : named) ?? kindOfText(message) ?? named ?? 'turn_failed';
}

export function kindOfText(text: string): AgentErrorKind | undefined {
  return TEXT_KINDS.find(([pattern]) => pattern.test(text))?.[1];
}

/** The error of a failed turn as the rest of the program knows it. */
export function turnErrorOf(error: TurnError, limits: AccountLimits, now: number): AgentError {
  const kind = kindOf(error);
  const text = fullText(error);
  if (kind === 'agent_usage_limit') return limitError({ detail: `codex: ${text}`, text, now, toldAt: limits.resetsAt(now) });
  const remedy = kind === 'agent_not_logged_in' ? `; ${LOGIN_REMEDY}` : '';
  return new AgentError({ kind, detail: `codex: ${text}${remedy}` });
}

/** Message and details on one line. */
export function fullText({ message, additionalDetails }: TurnError): string {
  const text = additionalDetails ? `${message} (${additionalDetails})` : message;
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_TEXT);
}

const MAX_TEXT = 1000;

function statusIn(facts: unknown): number {
  const status = typeof facts === 'object' && facts !== null ? (facts as Record<string, unknown>)['httpStatusCode'] : undefined;
  return typeof status === 'number' ? status : 0;
}

/** The usage limits of the account, as Codex last told them. */
export interface AccountLimits {
  add(limits: RateLimits): void;
  /** When the limits that are used up lift, in epoch milliseconds; null when nobody told. */
  resetsAt(now: number): number | null;
}

const MAX_LIMITS = 50;
/** The longest limits are monthly. */
const FARTHEST_MS = 32 * 24 * 3_600_000;

export function createAccountLimits(): AccountLimits {
  const byId = new Map<string, RateLimits>();
  return {
    add(limits) {
      const id = limits.limitId ?? '';
      if (!byId.has(id) && byId.size >= MAX_LIMITS) return;
      const { primary = null, secondary = null } = byId.get(id) ?? {};
      // A later report may leave a window out that has not changed.
      byId.set(id, { limitId: id, primary: limits.primary ?? primary, secondary: limits.secondary ?? secondary });
    },
    resetsAt(now) {
      const windows = [...byId.values()].flatMap(({ primary, secondary }) => [primary, secondary]);
      const spent = windows.flatMap((found) => (found?.resetsAt && found.usedPercent >= 100 ? [found.resetsAt * 1000] : []));
      // All spent windows have to lift.
      const told = spent.filter((at) => at > now && at <= now + FARTHEST_MS);
      return told.length > 0 ? Math.max(...told) : null;
    },
  };
}
