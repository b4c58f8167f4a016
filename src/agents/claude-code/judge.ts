import { AgentError, type AgentErrorKind } from '../../domain/model/errors.ts';
import { classify, whyLost } from './classify.ts';
import type { ResultRecord } from './parse.ts';
import type { Findings } from './reader.ts';
import { resetTimeIn } from '../shared/reset-time.ts';

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
}

export type Verdict =
  | { readonly type: 'ok'; readonly notices: readonly string[] }
  | { readonly type: 'failed'; readonly error: AgentError }
  /** Nothing was done because the conversation cannot go on: a new one may. */
  | { readonly type: 'lost'; readonly why: string; readonly error: AgentError };

/** Results that mean: it worked, and was cut short by a limit the operator set. The next turn goes on. */
export const CUT_SHORT: Readonly<Record<string, string>> = {
  error_max_turns: 'max_turns was reached',
  error_max_budget_usd: 'max_budget_usd was reached',
};

/** Tools whose refusal means that a person was asked something. */
export const PERSON_TOOLS: readonly string[] = ['AskUserQuestion', 'ExitPlanMode'];

const LONGEST_DETAIL = 2000;

/** What a turn came to: success needs the agent's own word for it and a sign of work. */
export function judge(findings: Findings, ending: Ending, now: number): Verdict {
  const verdict = findings.result === null ? withoutResult(findings, ending, now) : byResult(findings, findings.result, now);
  if (verdict.type !== 'failed' || findings.worked) return withExit(verdict, ending);
  const why = whyLost(`${findings.result?.text ?? ''}\n${ending.stderr}`);
  return why === null ? verdict : { type: 'lost', why, error: verdict.error };
}

function byResult(findings: Findings, result: ResultRecord, now: number): Verdict {
  const { error, resetsAt, worked, toolWorked } = findings;
  const cut = CUT_SHORT[result.subtype];
  const signs = { error: error.word, status: result.status, stopReason: result.stopReason, text: result.text };
  if (!result.success && cut === undefined) return failure(signs, { resetsAt, now, otherwise: 'turn_failed' });
  if (result.stopReason === 'refusal') return failure(signs, { resetsAt, now, otherwise: 'agent_refused' });
  const asked = result.denials.find((denial) => PERSON_TOOLS.includes(denial.name));
  if (asked) return failed('agent_needs_person', `${asked.name} needs a person, and none is there`);
  const names = [...new Set(result.denials.map((denial) => denial.name))].slice(0, 10).join(', ');
  if (result.denials.length > 0 && !toolWorked) return failed('agent_needs_person', refusedText(names));
  // An error text of its own counts as success for older releases.
  if (!worked) return failure(signs, { resetsAt, now, otherwise: 'agent_did_nothing' });
  return {
    type: 'ok',
    notices: [
      ...(cut === undefined ? [] : [`the turn was cut short: ${cut}`]),
      ...(result.denials.length === 0 ? [] : [`permission was refused for ${names}`]),
    ],
  };
}

function refusedText(names: string): string {
  return `permission was refused for ${names} and nothing else was done; name the tools in allowed_tools or choose another permission_mode`;
}

/** A process that ends without a result failed, whatever its exit code. */
function withoutResult(findings: Findings, ending: Ending, now: number): Verdict {
  const { error, resetsAt, readable, unreadable } = findings;
  const said = error.text === '' ? lastOf(ending.stderr) : error.text;
  const detail = `claude ${exitText(ending)} without a result${said === '' ? '' : `: ${said}`}`;
  // The code by which shells and env(1) say that there is no such program.
  if (ending.code === 127 && readable === 0) return failed('agent_not_found', `${detail}; check agent.command`);
  const signs = { error: error.word, status: null, stopReason: '', text: said };
  const row = classify(signs);
  if (row !== null) return failure({ ...signs, text: detail }, { resetsAt, now, otherwise: 'agent_exited' });
  if (readable === 0 && unreadable > 0 && ending.code === 0) {
    return failed('agent_protocol_error', 'the program did not print stream-json; does agent.command start Claude Code?');
  }
  return failed('agent_exited', detail);
}

interface Context {
  readonly resetsAt: number | null;
  readonly now: number;
  /** The kind when no row of the table fits. */
  readonly otherwise: AgentErrorKind;
}

const DEFAULT_TEXTS: Readonly<Partial<Record<AgentErrorKind, string>>> = {
  agent_did_nothing: 'the turn ended without a word of the model and without a tool call',
  turn_failed: 'claude reported an error',
};

function failure(signs: Parameters<typeof classify>[0], context: Context): Verdict {
  const row = classify(signs);
  const kind = row?.kind ?? context.otherwise;
  const said = [row?.what ?? DEFAULT_TEXTS[kind], signs.text].filter((part) => part).join(': ');
  const resetsAt = kind === 'agent_usage_limit' ? (context.resetsAt ?? resetTimeIn(signs.text, context.now)) : undefined;
  return failed(kind, row === null ? said : `${said}; ${row.remedy}`, resetsAt);
}

function failed(kind: AgentErrorKind, detail: string, resetsAt?: number): Verdict {
  return { type: 'failed', error: new AgentError({ kind, detail: shorten(detail), resetsAt }) };
}

/** Keeps both ends: the cause stands at the beginning, the remedy at the end. */
function shorten(text: string): string {
  if (text.length <= LONGEST_DETAIL) return text;
  return `${text.slice(0, LONGEST_DETAIL / 2)} … ${text.slice(-LONGEST_DETAIL / 2)}`;
}

function withExit(verdict: Verdict, ending: Ending): Verdict {
  if (verdict.type !== 'ok' || ending.code === 0 || verdict.notices.length > 0) return verdict;
  return { type: 'ok', notices: [`claude ${exitText(ending)} after it had reported success`] };
}

function exitText({ code, signal }: Ending): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function lastOf(stderr: string): string {
  return stderr.trim().slice(-LONGEST_DETAIL);
}
