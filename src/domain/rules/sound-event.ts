import type { AgentEvent, TokenUsage } from '../model/agent-event.ts';

/** More than any run spends, and little enough that thousands of such add up exactly. */
const MOST_OF_A_RUN = 1e12;

/** The event with figures that can be counted and stored, whatever the agent said: finite, never negative, bounded. */
export function soundEvent(told: AgentEvent): AgentEvent {
  if (told.type === 'usage') return soundUsage(told);
  if (told.type !== 'tool_ended') return told;
  const { durationMs, ...rest } = told;
  return { ...rest, ...(isSoundAmount(durationMs) ? { durationMs } : {}) };
}

function soundUsage(told: Extract<AgentEvent, { type: 'usage' }>): AgentEvent {
  const { requests, estimatedTokens, apiMs, costUsd, ...rest } = told;
  return {
    ...rest,
    tokens: soundTokens(told.tokens),
    ...(estimatedTokens === undefined ? {} : { estimatedTokens: soundCount(estimatedTokens) }),
    ...(requests === undefined ? {} : { requests: soundCount(requests) }),
    ...(isSoundAmount(apiMs) ? { apiMs } : {}),
    ...(isSoundAmount(costUsd) ? { costUsd } : {}),
  };
}

function soundTokens({ inputTokens, outputTokens, totalTokens, cacheReadTokens }: TokenUsage): TokenUsage {
  return {
    inputTokens: soundCount(inputTokens),
    outputTokens: soundCount(outputTokens),
    totalTokens: soundCount(totalTokens),
    cacheReadTokens: soundCount(cacheReadTokens),
  };
}

/** Columns of counts take whole numbers only. */
function soundCount(told: number): number {
  return told > 0 ? Math.min(Math.round(told), MOST_OF_A_RUN) : 0;
}

function isSoundAmount(told: number | undefined): told is number {
  return told !== undefined && told >= 0 && told <= MOST_OF_A_RUN;
}
