import { AgentError, type AgentErrorKind } from '../../domain/model/errors.ts';
import { JsonRpcError } from '../../lib/json-rpc/index.ts';
import { limitError } from '../shared/limits.ts';
import { AUTH_REQUIRED } from './parse.ts';
import { errorText } from '../../lib/error-text.ts';

/** What an agent says when something fails. */
export interface Complaint {
  readonly text: string;
  readonly code?: number;
  /** The word that claude-agent-acp puts into an error's data. */
  readonly errorKind?: string;
}

interface Rule {
  readonly name: string;
  readonly kind: AgentErrorKind;
  readonly codes?: readonly number[];
  readonly errorKinds?: readonly string[];
  readonly text?: RegExp;
}

/** The first rule that fits decides. Codes above 0 are the HTTP status that Gemini CLI passes on. */
export const RULES: readonly Rule[] = [
  { name: 'log in first', kind: 'agent_not_logged_in', codes: [AUTH_REQUIRED] },
  { name: 'HTTP status of a limit', kind: 'agent_usage_limit', codes: [402, 429] },
  { name: 'HTTP status of a login', kind: 'agent_not_logged_in', codes: [401, 403] },
  { name: 'kind of a limit', kind: 'agent_usage_limit', errorKinds: ['rate_limit', 'billing_error'] },
  { name: 'kind of a login', kind: 'agent_not_logged_in', errorKinds: ['authentication_failed', 'oauth_org_not_allowed'] },
  {
    // The quota of a disk is none of the account.
    name: 'text of a limit',
    kind: 'agent_usage_limit',
    text: /(?:usage|rate|session|weekly|daily|monthly|spend(?:ing)?|request)[ _-]?limit|hit your limit|(?<!\bdis[ck] )quota|too many requests|resource_exhausted|credit balance|out of credits|insufficient[ _](?:credits?|funds|balance)|(?:http|status|error|code)[: (]*(?:402|429)\b|\(429\)/i,
  },
  {
    name: 'text of a login',
    kind: 'agent_not_logged_in',
    text: /(?:invalid|incorrect|missing|expired|no|wrong) (?:x-)?api[ _-]?key|api[ _-]?key (?:is )?(?:not valid|invalid|missing|not set|required|expired)|unauthori[sz]ed|unauthenticated|authentication[ _](?:failed|required|error)|not (?:logged|signed) in|(?:log|sign) in (?:first|again)|please (?:run|use|log|sign)\b.{0,40}\b(?:login|log in|sign in|auth)\b|set an auth method|oauth token|(?:http|status|error|code)[: (]*401\b|\(401\)/i,
  },
  {
    name: 'text of a refusal',
    kind: 'agent_refused',
    text: /violat\w+ (?:of )?(?:our |the |its )?\w* ?(?:usage|content|safety) polic/i,
  },
];

/** The kind of a complaint, or null when no rule knows it. */
export function kindOf(complaint: Complaint): AgentErrorKind | null {
  return RULES.find((rule) => fits(rule, complaint))?.kind ?? null;
}

function fits({ codes, errorKinds, text }: Rule, complaint: Complaint): boolean {
  if (codes) return complaint.code !== undefined && codes.includes(complaint.code);
  if (errorKinds) return complaint.errorKind !== undefined && errorKinds.includes(complaint.errorKind);
  return text?.test(complaint.text) ?? false;
}

/** What to tell beside the agent's own words. */
const REMEDIES: Partial<Record<AgentErrorKind, string>> = {
  agent_not_logged_in: 'log the agent in, or set its key in the environment of the daemon',
};

export interface Situation {
  /** What was under way, such as `session/new failed`. */
  readonly what: string;
  readonly now: number;
  /** The kind where no rule fits. */
  readonly otherwise: AgentErrorKind;
  /** What this agent offers for logging in. */
  readonly logins?: readonly string[];
}

export function complaintError(complaint: Complaint, { what, now, otherwise, logins = [] }: Situation): AgentError {
  const kind = kindOf(complaint) ?? otherwise;
  const said = `${what}: ${oneLine(complaint.text)}`;
  if (kind === 'agent_usage_limit') return limitError({ detail: said, text: complaint.text, now });
  const ways = kind === 'agent_not_logged_in' && logins.length > 0 ? ` (it offers: ${logins.join('; ')})` : '';
  const remedy = REMEDIES[kind] === undefined ? '' : `; ${REMEDIES[kind]}${ways}`;
  return new AgentError({ kind, detail: `${said}${remedy}` });
}

/** Why a request failed: the agent said so, or its answer did not come or cannot be read. */
export function rpcError(error: unknown, situation: Situation): AgentError {
  if (error instanceof JsonRpcError) return complaintError(complaintOf(error), situation);
  const detail = `${situation.what}: ${oneLine(errorText(error))}`;
  return new AgentError({ kind: 'agent_protocol_error', detail, cause: error });
}

export function complaintOf({ code, message, data }: JsonRpcError): Complaint {
  const facts = (typeof data === 'object' && data !== null ? data : {}) as Record<string, unknown>;
  const { errorKind } = facts;
  // OpenCode and Gemini CLI put the reason into `details`, codex-acp into `message`.
  const more = [data, facts['details'], facts['message']].find((one) => typeof one === 'string') ?? '';
  return {
    text: more === '' || message.includes(more) ? message : `${message}: ${more}`,
    code,
    ...(typeof errorKind === 'string' ? { errorKind } : {}),
  };
}

const LONGEST_DETAIL = 2_000;

function oneLine(text: string): string {
  const lines = text.split(/[\r\n]/).map((each) => each.trim());
  const line = lines.filter((each) => each !== '').join(' | ');
  return line.length > LONGEST_DETAIL ? `${line.slice(0, LONGEST_DETAIL)}…` : line;
}
