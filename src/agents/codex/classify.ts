import { AgentError, type AgentErrorKind } from '../../domain/model/errors.ts';
import type { LimitBook } from './limits.ts';
import type { TurnError } from './parse.ts';

/** What Codex calls an error (`codexErrorInfo`), and what it means here. All others fail the turn. */
export const ERROR_KINDS: Readonly<Record<string, AgentErrorKind>> = {
  usageLimitExceeded: 'agent_usage_limit',
  unauthorized: 'agent_not_logged_in',
  cyberPolicy: 'agent_refused',
  misalignmentPolicyViolation: 'agent_refused',
  contextWindowExceeded: 'turn_failed',
  sessionBudgetExceeded: 'turn_failed',
  rateLimitExceeded: 'turn_failed',
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
};

/** What the text alone tells, for errors without a name and for requests that Codex refuses. */
export const TEXT_KINDS: readonly (readonly [RegExp, AgentErrorKind])[] = [
  [/\b401 Unauthorized\b/i, 'agent_not_logged_in'],
  [/\bnot logged in\b|\blog ?in again\b|\bsign in again\b/i, 'agent_not_logged_in'],
  [/\baccess token could not be refreshed\b/i, 'agent_not_logged_in'],
  [/\bhit your usage limit\b|\busage limit (?:has been )?(?:reached|exceeded)\b/i, 'agent_usage_limit'],
  [/\bQuota exceeded\b|\binsufficient_quota\b/i, 'agent_usage_limit'],
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
export function turnErrorOf(error: TurnError, limits: LimitBook, now: number): AgentError {
  const kind = kindOf(error);
  const resetsAt = kind === 'agent_usage_limit' ? limits.resetsAt(error.message, now) : undefined;
  const remedy = kind === 'agent_not_logged_in' ? `; ${LOGIN_REMEDY}` : '';
  return new AgentError({ kind, detail: `codex: ${fullText(error)}${remedy}`, ...(resetsAt === undefined ? {} : { resetsAt }) });
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
