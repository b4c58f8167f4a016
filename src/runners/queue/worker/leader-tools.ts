import type { ToolAnswer, ToolCalls } from '../../../ports/runner.ts';
import type { Ask } from './asking.ts';

/** A little less than the agent's own patience, so that it hears why. */
const CALL_MS = 110_000;

/** The tools of a run's agent, carried out by the leader: it knows the limits and what may be done. */
export function createLeaderTools(ask: Ask): ToolCalls {
  return {
    async call(name, args, signal): Promise<ToolAnswer> {
      try {
        const answer = await ask({ ask: 'tool', name, args }, AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]));
        return answer.ok ? (answer.value as ToolAnswer) : { ok: false, error: answer.fault.message };
      } catch {
        return { ok: false, error: signal.aborted ? 'the run is over' : LATE };
      }
    },
  };
}

const LATE = 'the service did not answer in time; the call may still be carried out';
