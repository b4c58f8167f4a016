import type { Chunk } from './parse.ts';

/** Who wrote a piece of text. Some programs send their own remarks and failures as if the model had said them. */
export type Author = 'model' | 'program' | 'failure';

/** What the protocol leaves open and agents do differently. */
export interface AgentWays {
  /** What the token counts of a prompt's answer cover: this turn, or all turns since the program was started. */
  readonly tokens: 'turn' | 'process' | 'unknown';
  /** What the cost of a usage update covers: the program's life, or the conversation over all programs. */
  readonly cost: 'process' | 'conversation';
  authorOf(chunk: Chunk): Author;
  /** What the details of a session tell of the turn: that it failed, that it works again, or nothing. */
  stateOf(meta: unknown): 'failed' | 'working' | null;
  /** False: the agent silently drops tool servers that are started as programs. */
  readonly takesTools: boolean;
  /** False: the agent acts without asking, so that nothing can be denied to it. */
  readonly asks: boolean;
  /** True: a conversation that is loaded in the same minute (UTC) in which it was opened is lost. */
  readonly losesWithinMinute: boolean;
}

/** As the protocol has it: every text is the model's and a cost is the conversation's. */
const PLAIN: AgentWays = {
  tokens: 'unknown',
  cost: 'conversation',
  authorOf: () => 'model',
  stateOf: () => null,
  takesTools: true,
  asks: true,
  losesWithinMinute: false,
};

/** By the name that the agent gives itself. Each row was seen with the real program. */
export const KNOWN_AGENTS: Readonly<Record<string, AgentWays>> = {
  '@agentclientprotocol/claude-agent-acp': { ...PLAIN, tokens: 'turn' },
  // A failed model request ends as `end_turn`: the thread's state is `systemError` and the reason comes as text.
  '@agentclientprotocol/codex-acp': {
    ...PLAIN,
    tokens: 'turn',
    authorOf: ({ messageId }) => (messageId === undefined ? 'program' : 'model'),
    stateOf: codexState,
  },
  // A failed model request ends as `end_turn` after a text such as "Error: Failed to get response …".
  Copilot: { ...PLAIN, tokens: 'process', authorOf: copilotAuthor, takesTools: false },
  // It decides by its own configuration what it may do.
  OpenCode: { ...PLAIN, tokens: 'turn', asks: false },
  // Its record of a conversation is named after the minute and overwritten by the next one of that name.
  'gemini-cli': { ...PLAIN, tokens: 'turn', losesWithinMinute: true },
  'qwen-code': { ...PLAIN, tokens: 'turn' },
};

export function waysOf(agentName: string | undefined): AgentWays {
  return Object.hasOwn(KNOWN_AGENTS, agentName ?? '') ? (KNOWN_AGENTS[agentName ?? ''] ?? PLAIN) : PLAIN;
}

function codexState(meta: unknown): 'failed' | 'working' | null {
  const state = (meta as { codex?: { threadStatus?: { type?: unknown } } } | undefined)?.codex?.threadStatus?.type;
  if (state === 'systemError') return 'failed';
  return state === 'active' ? 'working' : null;
}

function copilotAuthor({ content }: Chunk): Author {
  const start = content?.text ?? '';
  if (start.startsWith('Error: ')) return 'failure';
  return start.startsWith('Info: ') || start.startsWith('Warning: ') ? 'program' : 'model';
}
