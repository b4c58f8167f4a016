import type { AgentStatus, AgentStatusWord } from '../model/agent-event.ts';

/** What the tracker is told when an agent ends the work by its own word: the stop text, a blank line, its statement fenced. */
export function stopComment(status: AgentStatus, runId: string): string {
  const fence = '`'.repeat(Math.max(3, longestBacktickRun(status.statement) + 1));
  return `${STOP_TEXTS[status.word]} (run ${runId}).\n\n${fence}\n${status.statement}\n${fence}`;
}

const STOP_TEXTS: Readonly<Record<AgentStatusWord, string>> = {
  blocked: 'The agent stopped: it is blocked',
  'needs-human-review': 'The agent stopped: it asks for a review by a person',
  'no-change-needed': 'The agent stopped: it found that no change is needed',
};

function longestBacktickRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
