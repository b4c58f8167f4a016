/** Tokens spent by one run so far. Input includes cached input; total is input plus output. */
export interface TokenUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  /** The cached share of the input. */
  readonly cacheReadTokens: number;
}

export const NO_TOKENS: TokenUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0, cacheReadTokens: 0 };

/** Of each figure the higher one. */
export function higherTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combine(a, b, Math.max);
}

export function subtractTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combine(a, b, (x, y) => x - y);
}

export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return combine(a, b, addCounts);
}

/** Stays a whole number that every database keeps, however much comes together. */
export function addCounts(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

function combine(a: TokenUsage, b: TokenUsage, op: (x: number, y: number) => number): TokenUsage {
  return {
    inputTokens: op(a.inputTokens, b.inputTokens),
    outputTokens: op(a.outputTokens, b.outputTokens),
    totalTokens: op(a.totalTokens, b.totalTokens),
    cacheReadTokens: op(a.cacheReadTokens, b.cacheReadTokens),
  };
}

/**
 * What any agent says while it works, the same for every kind. Every event resets the stall clock.
 *
 * Figures are cumulative over the run (the session this daemon opened): they never go down and exclude what a resumed
 * conversation spent earlier.
 *
 * A tool call is a `tool_started` and a `tool_ended` with the same `toolId`; calls may overlap. Texts are masked and
 * bounded before they get here: `input` is one line of at most 500 characters, `output` the last lines of
 * the result in at most 2,000 characters. A run keeps its events as `RunEvent` (run.ts), which says how each
 * of these is stored and shown.
 */
export type AgentEvent =
  /** The agent named its conversation, its model, or both. May come again when either changes. */
  | { readonly type: 'session_started'; readonly sessionId: string; readonly model?: string }
  /** Text the model wrote. */
  | { readonly type: 'message'; readonly text: string }
  | {
      readonly type: 'tool_started';
      readonly toolId: string;
      readonly name: string;
      /** What was called: the command line, the file, the query. Absent when the agent does not tell. */
      readonly input?: string;
    }
  | {
      readonly type: 'tool_ended';
      readonly toolId: string;
      readonly name: string;
      readonly ok: boolean;
      /** Told here when it was not known at the start. */
      readonly input?: string;
      /** The last lines of what it gave back. */
      readonly output?: string;
      /** By the agent's own clock, where it tells; otherwise the time between the two events counts. */
      readonly durationMs?: number;
    }
  | {
      readonly type: 'usage';
      readonly tokens: TokenUsage;
      /** What the turn under way used beyond `tokens`, where only that can be guessed. Ceilings look at it, nothing else does. */
      readonly estimatedTokens?: number;
      /** Model requests so far, in all and by model, where the agent tells. */
      readonly requests?: number;
      readonly requestsByModel?: Readonly<Record<string, number>>;
      /** Milliseconds spent waiting for the model so far, where the agent tells. */
      readonly apiMs?: number;
      /** The agent's own price so far, where it tells. */
      readonly costUsd?: number;
      /** True: that price covers all of `tokens`, although some of them were told after it. */
      readonly costIsSettled?: boolean;
    }
  /** The agent is at work and has nothing to show for it yet: a long answer, a silent command. Never stored. */
  | { readonly type: 'alive' }
  /** Anything else worth a line: a retry of the agent's own, a refused permission, an unreadable line. */
  | { readonly type: 'notice'; readonly text: string };

/** What an agent leaves in `.foray/` of its workspace: its word on the outcome, and the merge request it opened. */
export type AgentStatusWord = 'blocked' | 'needs-human-review' | 'no-change-needed';

export interface AgentStatus {
  readonly word: AgentStatusWord;
  /** The agent's statement: what follows the first line. May be empty. */
  readonly statement: string;
}

export interface ScmRecord {
  readonly branch: string;
  readonly sha: string;
  readonly pushedAt: string;
  readonly prNumber: number;
  readonly owner: string;
  readonly repo: string;
}
