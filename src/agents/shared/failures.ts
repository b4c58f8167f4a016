import { AgentError } from '../../domain/model/errors.ts';
import { faultOf, type Fault } from '../../domain/model/fault.ts';
import { shortDetail } from '../../domain/model/short-detail.ts';
import type { ProcessStartError, ProgramState } from '../../lib/process/index.ts';
import type { TurnResult } from '../../ports/agent.ts';

/** A turn or session that was told to stop. */
export function cancelled(what = 'the turn was told to stop'): AgentError {
  return new AgentError({ kind: 'turn_cancelled', detail: what });
}

/** A program that could not be started. The remedy is told where it is missing. */
export function startError(error: ProcessStartError, remedy: string): AgentError {
  const isMissing = error.failure === 'not_found' || error.failure === 'not_executable';
  return new AgentError({
    kind: isMissing ? 'agent_not_found' : 'agent_exited',
    detail: isMissing ? `${error.message}; ${remedy}` : error.message,
    cause: error,
  });
}

/** What `findProblem` says of the program of an agent, or null. */
export function programProblem(program: string, state: ProgramState, remedy: string): string | null {
  if (state === 'missing') return `cannot find the program ${program}: ${remedy}`;
  if (state === 'directory') return `${program} is a directory and no program: ${remedy}`;
  return state === 'not_executable' ? `the program ${program} is not executable by this user: ${remedy}` : null;
}

/** The result of a turn that failed, without secrets. Cut after that: half a secret is not known for one. */
export function failedTurn(error: AgentError, mask: (text: string) => string): TurnResult {
  const fault: Fault = faultOf(error);
  return { ok: false, fault: { ...fault, message: shortDetail(mask(fault.message)) } };
}

/** The same error without secrets. */
export function masked(error: AgentError, mask: (text: string) => string): AgentError {
  const { kind, resetsAt, cause } = error;
  return new AgentError({ kind, resetsAt, cause, detail: shortDetail(mask(detailOf(error))) });
}

/** What an error says without its kind. */
export function detailOf({ kind, message }: AgentError): string {
  return message.slice(`agent: ${kind}: `.length);
}

export function needsPerson(detail: string): AgentError {
  return new AgentError({ kind: 'agent_needs_person', detail });
}
