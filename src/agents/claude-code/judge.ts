import { AgentError, type AgentErrorKind } from '../../domain/model/errors.ts';
import { limitError } from '../shared/limits.ts';
import { lastPart } from '../shared/last-part.ts';
import { openQuestion } from '../shared/open-question.ts';
import { needsPerson } from '../shared/failures.ts';
import { classify, whyLost, type Signs } from './classify.ts';
import type { Options } from './options.ts';
import type { ResultRecord } from './parse.ts';

/** What the output of one process amounts to. */
export interface Evidence {
  /** Lines that were stream-json, and lines that were not. */
  readonly readable: number;
  readonly unreadable: number;
  /** The last text that the model wrote; empty for none. */
  readonly text: string;
  readonly calls: number;
  /** A tool call ended well, or had no end that we saw although it was not refused. */
  readonly toolWorked: boolean;
  /** The same of a tool that can change something. */
  readonly changed: boolean;
  /** The last error that Claude Code put among the messages. */
  readonly error: { readonly word: string; readonly text: string };
  /** When a usage limit lifts that was reported as reached. */
  readonly resetsAt: number | null;
  /** How long the remote asked to wait when it last refused a request for a limit. */
  readonly retryAfterMs: number | null;
  readonly result: ResultRecord | null;
}

/** How a process ended. */
export interface Ending {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stderr: string;
}

/** What a turn is judged by besides its own output. */
export interface Circumstances {
  readonly now: number;
  readonly mode: Options['permission_mode'];
  /** An earlier turn of the session changed something. */
  readonly changedBefore: boolean;
}

export type TurnVerdict =
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

const LONGEST_STDERR = 2_000;

/** What a turn came to: success needs the agent's own word for it and a sign of work. */
export function judge(findings: Evidence, ending: Ending, circumstances: Circumstances): TurnVerdict {
  const { now } = circumstances;
  const verdict =
    findings.result === null ? withoutResult(findings, ending, now) : byResult(findings, findings.result, circumstances);
  if (verdict.type !== 'failed' || hasWorked(findings)) return withExit(verdict, ending);
  const why = whyLost(`${findings.result?.text ?? ''}\n${ending.stderr}`);
  return why === null ? verdict : { type: 'lost', why, error: verdict.error };
}

/** A sign of work: the model wrote or called a tool. */
function hasWorked({ text, calls }: Evidence): boolean {
  return text !== '' || calls > 0;
}

function byResult(findings: Evidence, result: ResultRecord, circumstances: Circumstances): TurnVerdict {
  const cut = Object.hasOwn(CUT_SHORT, result.subtype) ? CUT_SHORT[result.subtype] : undefined;
  const signs = { error: findings.error.word, status: result.status, stopReason: result.stopReason, text: result.text };
  const context = { findings, now: circumstances.now };
  if (!result.success && cut === undefined) return failure(signs, { ...context, otherwise: 'turn_failed' });
  if (result.stopReason === 'refusal') return failure(signs, { ...context, otherwise: 'agent_refused' });
  const asked = askedPerson(findings, result, circumstances);
  if (asked !== null) return { type: 'failed', error: needsPerson(asked) };
  // An error text of its own counts as success for older releases.
  if (!hasWorked(findings)) return failure(signs, { ...context, otherwise: 'agent_did_nothing' });
  return {
    type: 'ok',
    notices: [
      ...(cut === undefined ? [] : [`the turn was cut short: ${cut}`]),
      ...(result.denials.length === 0 ? [] : [`permission was refused for ${namesOf(result)}`]),
    ],
  };
}

/** What only a person can answer, or null. */
function askedPerson(findings: Evidence, result: ResultRecord, { mode, changedBefore }: Circumstances): string | null {
  const tool = result.denials.find((denial) => PERSON_TOOLS.includes(denial.name));
  if (tool) return `${tool.name} needs a person, and none is there${tool.question === '' ? '' : `: ${tool.question}`}`;
  if (result.denials.length > 0 && !findings.toolWorked) return refusedText(namesOf(result));
  if (mode === 'plan' && hasWorked(findings)) return `it made a plan that nobody approved: ${findings.text}`;
  const question = findings.changed || changedBefore ? null : openQuestion(findings.text);
  return question === null ? null : `it changed nothing and asks: ${question}`;
}

function namesOf({ denials }: ResultRecord): string {
  return [...new Set(denials.map((denial) => denial.name))].slice(0, 10).join(', ');
}

function refusedText(names: string): string {
  return `permission was refused for ${names} and nothing else was done; name the tools in allowed_tools or choose another permission_mode`;
}

/** A process that ends without a result failed, whatever its exit code. */
function withoutResult(findings: Evidence, ending: Ending, now: number): TurnVerdict {
  const { error, readable, unreadable } = findings;
  const said = error.text === '' ? lastOf(ending.stderr) : error.text;
  const detail = `claude ${exitText(ending)} without a result${said === '' ? '' : `: ${said}`}`;
  // The code by which shells and env(1) say that there is no such program.
  if (ending.code === 127 && readable === 0) return failed('agent_not_found', `${detail}; check agent.command`);
  const signs = { error: error.word, status: null, stopReason: '', text: said };
  const row = classify(signs);
  if (row !== null) return failure({ ...signs, text: detail }, { findings, now, otherwise: 'agent_exited' });
  if (readable === 0 && unreadable > 0 && ending.code === 0) {
    return failed('agent_protocol_error', 'the program did not print stream-json; does agent.command start Claude Code?');
  }
  return failed('agent_exited', detail);
}

interface Context {
  readonly findings: Evidence;
  readonly now: number;
  /** The kind when no row of the table fits. */
  readonly otherwise: AgentErrorKind;
}

const DEFAULT_TEXTS: Readonly<Partial<Record<AgentErrorKind, string>>> = {
  agent_did_nothing: 'the turn ended without a word of the model and without a tool call',
  turn_failed: 'claude reported an error',
};

function failure(signs: Signs, { findings, now, otherwise }: Context): TurnVerdict {
  const row = classify(signs);
  const kind = row?.kind ?? otherwise;
  const said = [row?.what ?? DEFAULT_TEXTS[kind], signs.text].filter((part) => part).join(': ');
  const detail = row === null ? said : `${said}; ${row.remedy}`;
  if (kind !== 'agent_usage_limit') return failed(kind, detail);
  const { resetsAt: toldAt, retryAfterMs } = findings;
  return { type: 'failed', error: limitError({ detail, text: signs.text, now, toldAt, retryAfterMs }) };
}

function failed(kind: AgentErrorKind, detail: string): TurnVerdict {
  return { type: 'failed', error: new AgentError({ kind, detail }) };
}

function withExit(verdict: TurnVerdict, ending: Ending): TurnVerdict {
  if (verdict.type !== 'ok' || ending.code === 0 || verdict.notices.length > 0) return verdict;
  return { type: 'ok', notices: [`claude ${exitText(ending)} after it had reported success`] };
}

function exitText({ code, signal }: Ending): string {
  return signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
}

function lastOf(stderr: string): string {
  return lastPart(stderr.trim(), LONGEST_STDERR);
}
