import { NO_TOKENS, type AgentEvent, type TokenUsage } from '../../domain/model/agent-event.ts';
import { createModelRequests, keptName, keyOf } from '../shared/remembered.ts';
import type { ThreadUsage } from './parse.ts';

/** What the run has spent. Codex tells the total of a thread, which a resumed one brings along from earlier runs. */
export interface Usage {
  /** The thread is new: all of its total belongs to this run. */
  threadBegan(threadId: string): void;
  /** From here on the turn belongs to this run. */
  turnStarted(turnId: string): void;
  /** True when the report added something to the run: one model request. */
  add(threadId: string, turnId: string, usage: ThreadUsage): boolean;
  modelIs(model: string): void;
  /** The figures so far, or null when there are none. */
  event(): Extract<AgentEvent, { type: 'usage' }> | null;
}

type Total = ThreadUsage['total'];

/** No real run comes near; memory stays bounded whatever is printed. */
const MAX_TURNS = 10_000;
const MAX_THREADS = 1_000;

const NOTHING: Total = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };

export function createUsage(): Usage {
  const ownTurns = new Set<string>();
  /** The highest total of each thread; those besides our own are helpers that the agent started. */
  const seen = new Map<string, Total>();
  const models = createModelRequests();
  let tokens = NO_TOKENS;
  let requests = 0;
  let model = '';

  return {
    threadBegan: (threadId) => void seen.set(keyOf(threadId), NOTHING),
    turnStarted(turnId) {
      if (ownTurns.size < MAX_TURNS) ownTurns.add(keyOf(turnId));
    },
    add(threadId, turnId, { total, last }) {
      const thread = keyOf(threadId);
      if (!seen.has(thread) && seen.size >= MAX_THREADS) return false;
      const before = seen.get(thread) ?? subtract(total, last ?? total);
      const added = subtract(total, before);
      seen.set(thread, plus(before, added));
      if (!ownTurns.has(keyOf(turnId)) || added.inputTokens + added.outputTokens === 0) return false;
      tokens = sum(tokens, added);
      requests += 1;
      models.count(model);
      return true;
    },
    modelIs: (name) => void (model = keptName(name)),
    event() {
      if (requests === 0) return null;
      const requestsByModel = models.byModel();
      return { type: 'usage', tokens, requests, ...(Object.keys(requestsByModel).length === 0 ? {} : { requestsByModel }) };
    },
  };
}

/** Never below zero: a report that comes late must not be counted again by the next one. */
function subtract(a: Total, b: Total): Total {
  const less = (key: keyof Total): number => Math.max(0, a[key] - b[key]);
  return { inputTokens: less('inputTokens'), outputTokens: less('outputTokens'), cachedInputTokens: less('cachedInputTokens') };
}

function plus(a: Total, b: Total): Total {
  const more = (key: keyof Total): number => a[key] + b[key];
  return { inputTokens: more('inputTokens'), outputTokens: more('outputTokens'), cachedInputTokens: more('cachedInputTokens') };
}

/** Cached input is a part of Codex's input already. */
function sum(tokens: TokenUsage, added: Total): TokenUsage {
  const inputTokens = tokens.inputTokens + added.inputTokens;
  const outputTokens = tokens.outputTokens + added.outputTokens;
  const cacheReadTokens = tokens.cacheReadTokens + added.cachedInputTokens;
  return { inputTokens, outputTokens, cacheReadTokens, totalTokens: inputTokens + outputTokens };
}
