import { AgentError } from '../../domain/model/errors.ts';
import { needsPerson } from '../shared/failures.ts';
import { openQuestion } from '../shared/open-question.ts';
import { turnErrorOf, type AccountLimits } from './classify.ts';
import type { Options } from './options.ts';
import type { TurnEnd, TurnError } from './parse.ts';

/** What happened in one turn, besides Codex's own word on how it went. */
export interface Evidence {
  /** The model wrote something; the last of it that was complete. */
  readonly wrote: boolean;
  readonly text: string;
  /** Tool calls that were shown. */
  readonly tools: number;
  readonly commands: number;
  /** Commands that never got to run, and why the first one did not. */
  readonly commandsLost: number;
  readonly whyLost: string;
  /** Tool calls besides commands that succeeded. */
  readonly otherWork: number;
  /** A call that can change something was carried out. */
  readonly changed: boolean;
  /** Model requests that ended. */
  readonly requests: number;
  /** Something else may have come between two model requests: a plan, a summary, an unreadable line. */
  readonly otherSigns: boolean;
  /** The last error that Codex did not get over by itself. */
  readonly error: TurnError | null;
}

export interface Circumstances {
  readonly limits: AccountLimits;
  readonly now: number;
  readonly sandbox: Options['sandbox'];
  /** Whether a command in the sandbox of the turn runs; asked only when calls may be lost. */
  readonly sandboxWorks: boolean;
  /** An earlier turn of the session changed something. */
  readonly changedBefore: boolean;
}

/**
 * The model goes on after a tool call only. One that left no trace ran into the sandbox before it began, or is one that
 * Codex shows no item for. Where nothing may be written that is the sandbox at work.
 */
export function mayHaveLostCalls({ tools, requests, otherSigns }: Evidence, sandbox: Options['sandbox']): boolean {
  return sandbox === 'workspace-write' && tools === 0 && requests > 1 && !otherSigns;
}

/** Null for a turn that counts, or why it does not. */
export function judge(end: TurnEnd, evidence: Evidence, circumstances: Circumstances): AgentError | null {
  const { limits, now } = circumstances;
  switch (end.status) {
    case 'completed':
      return judgeWork(evidence, circumstances);
    case 'failed':
      return turnErrorOf(end.error ?? evidence.error ?? { message: 'the turn failed without a reason' }, limits, now);
    case 'interrupted':
      return new AgentError({ kind: 'turn_failed', detail: 'codex interrupted the turn by itself' });
    default:
      return new AgentError({
        kind: 'agent_protocol_error',
        detail: `codex ended the turn with the unknown status ${end.status}`,
      });
  }
}

/** Codex calls a turn completed also when not one command ran. */
function judgeWork(evidence: Evidence, { sandbox, sandboxWorks, changedBefore }: Circumstances): AgentError | null {
  const { wrote, text, tools, commands, commandsLost, whyLost, otherWork, changed } = evidence;
  if (commands > 0 && commandsLost === commands && otherWork === 0)
    return didNothing(`no command of the turn was run: ${whyLost}`);
  if (mayHaveLostCalls(evidence, sandbox) && !sandboxWorks)
    return didNothing('the model called tools, and codex ran none of them; is its sandbox usable here?');
  if (!wrote && tools === 0) return didNothing('codex ended the turn without a word of the model and without a tool call');
  const question = changed || changedBefore ? null : openQuestion(text);
  return question === null ? null : needsPerson(`it changed nothing and asks: ${question}`);
}

function didNothing(detail: string): AgentError {
  return new AgentError({ kind: 'agent_did_nothing', detail });
}
