import type { AgentStatus } from '../../domain/model/agent-event.ts';

/** What stands after a turn: what the agent told through its tools, and what it wrote into its file. */
export interface Words {
  readonly told: AgentStatus | null;
  readonly written: AgentStatus | null;
}

/** The agent's word on the outcome, turn after turn: the last one counts, told or written. Within one turn the told one does. */
export function createLastWord(): (now: Words) => AgentStatus | null {
  let before: Words = { told: null, written: null };
  let last: AgentStatus | null = null;
  return (now) => {
    if (isNew(now.told, before.told)) last = now.told;
    else if (isNew(now.written, before.written)) last = now.written;
    before = now;
    return last;
  };
}

function isNew(now: AgentStatus | null, before: AgentStatus | null): boolean {
  return now !== null && (now.word !== before?.word || now.statement !== before.statement);
}
