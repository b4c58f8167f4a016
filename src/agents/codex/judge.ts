import { AgentError } from '../../domain/model/errors.ts';
import type { CallSums } from './calls.ts';
import { turnErrorOf } from './classify.ts';
import type { LimitBook } from './limits.ts';
import type { CodexOptions } from './options.ts';
import type { TurnEnd, TurnError } from './parse.ts';

/** What happened in one turn, besides Codex's own word on how it went. */
export interface Evidence extends CallSums {
  /** The model wrote something. */
  readonly wrote: boolean;
  /** Model requests that ended. */
  readonly requests: number;
  /** Something else may have come between two model requests: a plan, a summary, an unreadable line. */
  readonly otherSigns: boolean;
  /** The last error that Codex did not get over by itself. */
  readonly error: TurnError | null;
}

export interface Circumstances {
  readonly limits: LimitBook;
  readonly now: number;
  readonly sandbox: CodexOptions['sandbox'];
}

/** Null for a turn that counts, or why it does not. */
export function judge(end: TurnEnd, evidence: Evidence, { limits, now, sandbox }: Circumstances): AgentError | null {
  switch (end.status) {
    case 'completed':
      return judgeWork(evidence, sandbox);
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
function judgeWork(evidence: Evidence, sandbox: CodexOptions['sandbox']): AgentError | null {
  const { wrote, tools, commands, commandsLost, whyLost, otherWork, requests, otherSigns } = evidence;
  if (commands > 0 && commandsLost === commands && otherWork === 0)
    return didNothing(`no command of the turn was run: ${whyLost}`);
  // The model goes on after a tool call only. One that left no trace ran into the sandbox before it began: Codex shows
  // no item then. Where nothing may be written that is the sandbox at work.
  if (sandbox === 'workspace-write' && tools === 0 && requests > 1 && !otherSigns) {
    return didNothing('the model called tools, and codex ran none of them; is its sandbox usable here?');
  }
  if (!wrote && tools === 0) return didNothing('codex ended the turn without a word of the model and without a tool call');
  return null;
}

function didNothing(detail: string): AgentError {
  return new AgentError({ kind: 'agent_did_nothing', detail });
}
