import { NO_TOKENS, type AgentEvent, type TokenUsage } from '../../domain/model/agent-event.ts';
import type { Peculiarities } from './peculiarities.ts';
import type { PromptResult } from './wire.ts';

export type UsageEvent = Extract<AgentEvent, { type: 'usage' }>;

/** What a session has spent, as far as the agent tells. Figures never go down. */
export interface UsageBook {
  /** A prompt was answered. */
  answered(result: PromptResult): void;
  cost(amount: number, currency: string): void;
  /**
   * The figures so far when they have changed since they were last asked for. Null while token counts are unknown; only
   * at a turn's end a cost counts without them.
   */
  news(isTurnOver: boolean): UsageEvent | null;
}

export interface UsageStart {
  readonly covers: Pick<Peculiarities, 'tokens' | 'cost'>;
  /** What the conversation had cost before by the agent's own count; null when that is not known. */
  readonly costBefore: number | null;
  /** Told every cost as the agent gives it, to be known when the conversation goes on. */
  readonly onCost?: (amount: number) => void;
}

export function createUsageBook({ covers, costBefore, onCost }: UsageStart): UsageBook {
  const tokens = createTokenBook(covers.tokens);
  let before = covers.cost === 'process' ? 0 : costBefore;
  let costUsd: number | null = null;
  let told: { readonly tokens: TokenUsage; readonly costUsd: number | null } | null = null;

  function hasChanged(figures: TokenUsage): boolean {
    if (told === null || told.costUsd !== costUsd) return true;
    return FIGURES.some((name) => told?.tokens[name] !== figures[name]);
  }

  return {
    answered(result) {
      const spent = tokensOf(result);
      if (spent !== null) tokens.add(spent);
    },
    cost(amount, currency) {
      if (currency.toUpperCase() !== 'USD' || !Number.isFinite(amount) || amount < 0) return;
      onCost?.(amount);
      // Without knowing what came before, the first figure is taken for it: nothing is counted twice.
      // A figure below what came before shows that the agent began to count anew.
      if (costUsd === null) before = before === null ? amount : amount < before ? 0 : before;
      costUsd = Math.max(costUsd ?? 0, amount - (before ?? 0));
    },
    news(isTurnOver) {
      const isCostAlone = isTurnOver && costUsd !== null && costUsd > 0;
      const figures = tokens.sum() ?? (isCostAlone ? NO_TOKENS : null);
      if (figures === null || !hasChanged(figures)) return null;
      told = { tokens: figures, costUsd };
      return { type: 'usage', tokens: figures, ...(costUsd === null ? {} : { costUsd }) };
    },
  };
}

const FIGURES = ['inputTokens', 'outputTokens', 'cacheReadTokens'] as const;

interface TokenBook {
  add(told: TokenUsage): void;
  sum(): TokenUsage | null;
}

/**
 * Reports of a turn add up; of reports since the start the highest counts. Of an unknown agent a report below the last
 * one proves the former; until then the latter is taken, so that nothing is counted twice.
 */
function createTokenBook(covers: Peculiarities['tokens']): TokenBook {
  let total: TokenUsage | null = null;
  let highest: TokenUsage | null = null;
  let addsUp = covers === 'turn';
  return {
    add(told) {
      if (covers === 'unknown' && highest !== null && told.totalTokens < highest.totalTokens) addsUp = true;
      total = combine(total ?? NO_TOKENS, told, (a, b) => a + b);
      highest = combine(highest ?? NO_TOKENS, told, Math.max);
    },
    sum: () => (addsUp ? total : highest),
  };
}

function combine(a: TokenUsage, b: TokenUsage, how: (a: number, b: number) => number): TokenUsage {
  const inputTokens = how(a.inputTokens, b.inputTokens);
  const outputTokens = how(a.outputTokens, b.outputTokens);
  const cacheReadTokens = how(a.cacheReadTokens, b.cacheReadTokens);
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, cacheReadTokens };
}

/** Null where the agent told nothing. An answer of zeros tells nothing: no model was asked. */
export function tokensOf({ usage, _meta }: PromptResult): TokenUsage | null {
  const quota = _meta?.quota.token_count;
  const read = usage
    ? readUsage(usage)
    : quota
      ? { inputTokens: quota.input_tokens, outputTokens: quota.output_tokens, cacheReadTokens: 0 }
      : null;
  if (read === null) return null;
  const figures = { ...read, totalTokens: read.inputTokens + read.outputTokens };
  return figures.totalTokens > 0 ? figures : null;
}

/**
 * Some agents count cached input inside the input and thoughts inside the output, some beside them. Their own total tells
 * which; without one that fits they are taken as inside, unless there is more of a part than of the whole.
 */
function readUsage(usage: NonNullable<PromptResult['usage']>): Omit<TokenUsage, 'totalTokens'> {
  const { inputTokens: input, outputTokens: output, totalTokens: total, cachedReadTokens: cacheReadTokens = 0 } = usage;
  const cached = cacheReadTokens + (usage.cachedWriteTokens ?? 0);
  const thoughts = usage.thoughtTokens ?? 0;
  const readings = [
    { inputTokens: input, outputTokens: output },
    { inputTokens: input + cached, outputTokens: output },
    { inputTokens: input + cached, outputTokens: output + thoughts },
    { inputTokens: input, outputTokens: output + thoughts },
  ];
  const fitting = readings.find((one) => one.inputTokens + one.outputTokens === total);
  const cautious = { inputTokens: cached > input ? input + cached : input, outputTokens: output };
  return { ...(fitting ?? cautious), cacheReadTokens };
}
