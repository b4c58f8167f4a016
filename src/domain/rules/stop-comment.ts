import type { AgentStatus, AgentStatusWord } from '../model/agent-event.ts';

/** What every tracker takes as one comment: Jira 32,767 characters with what it wraps around them, GitHub 65,536. */
const COMMENT_CHARS = 30_000;
/** Of these, what a statement has that is cut, beside a short fence. */
const ROOM = COMMENT_CHARS - 100;

/** What the tracker is told when an agent ends the work by its own word: the stop text, a blank line, its statement fenced. */
export function stopComment({ word, statement }: AgentStatus, runId: string): string {
  const kept = fitting(statement);
  const cut = kept === statement ? '' : `\n\nThe statement was cut: it has ${statement.length} characters.`;
  return `${STOP_TEXTS[word]} (run ${runId}).\n\n${fenced(kept)}${cut}`;
}

const STOP_TEXTS: Readonly<Record<AgentStatusWord, string>> = {
  blocked: 'The agent stopped: it is blocked',
  'needs-human-review': 'The agent stopped: it asks for a review by a person',
  'no-change-needed': 'The agent stopped: it found that no change is needed',
};

/** The beginning of a text that has room within its fence, which a text full of backticks makes long. */
function fitting(text: string): string {
  let kept = text;
  for (let room = ROOM; fenced(kept).length > COMMENT_CHARS; room = Math.floor(room / 2))
    kept = wholeCharacters(text.slice(0, room));
  return kept;
}

/** Without half a surrogate pair at the end. */
function wholeCharacters(text: string): string {
  return text.replace(/\p{Surrogate}$/u, '');
}

function fenced(text: string): string {
  const fence = '`'.repeat(Math.max(3, longestBacktickRun(text) + 1));
  return `${fence}\n${text}\n${fence}`;
}

function longestBacktickRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}
