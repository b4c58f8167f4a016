import { NO_TOKENS, type TokenUsage } from '../../domain/model/agent-event.ts';
import type { UsageEvent } from '../shared/event-stream.ts';
import { amountOf } from '../shared/json.ts';
import type { AgentWays } from './known-agents.ts';
import type { PromptResult, UsageFigures } from './parse.ts';

/** What a session has spent, as far as the agent tells. Figures never go down. */
export interface Usage {
  /** A prompt was answered, or failed. Without figures, as of most turns that were cancelled, what its requests held counts by estimate. */
  turnEnded(result: PromptResult | null): void;
  /** The figures of one model request of the turn, where the agent tells them apart. */
  requestTold(figures: UsageFigures): void;
  /** So many tokens are in the context after the last model request. */
  contextSeen(used: number): void;
  /** A tool was called: what comes next is another model request. */
  toolCalled(): void;
  cost(amount: number, currency: string): void;
  /** Resolves when the turn under way has a cost, which may be never. */
  costOfTurn(): Promise<void>;
  /** The figures so far when they have changed since they were last asked for. */
  news(): UsageEvent | null;
}

export interface UsageStart {
  readonly covers: Pick<AgentWays, 'tokens' | 'cost'>;
  /** What the conversation had cost before by the agent's own count; null when that is not known. */
  readonly costBefore: number | null;
  /** The same by our own records, where the agent's count is not known. */
  readonly costRecorded?: number | null;
  /** Told every cost as the agent gives it, to be known when the conversation goes on. */
  readonly onCost?: (amount: number) => void;
}

export function createUsage({ covers, costBefore, costRecorded = null, onCost }: UsageStart): Usage {
  const tokens = createTokenSum(covers.tokens);
  const turn = createTurnEstimate();
  const cost = covers.cost === 'process' ? createCost(0, null) : createCost(costBefore, costRecorded);
  let costTold = false;
  let onCostTold = (): void => {};
  let isSettled = false;
  let told = '';
  let requests = 0;

  return {
    turnEnded(result) {
      const answered = result === null ? null : tokensOf(result);
      // What was told request by request is counted already.
      const spent = requests > 0 ? null : (answered ?? (hasFigures(result) ? null : turn.asTokens()));
      if (spent !== null) tokens.add(spent, answered === null);
      // A price that was told in a turn is the price of that turn, and its tokens come with the answer.
      isSettled = costTold;
      costTold = false;
      requests = 0;
      turn.clear();
    },
    requestTold(figures) {
      const spent = tokensOf({ stopReason: '', usage: figures });
      if (spent === null) return;
      requests += 1;
      tokens.add(spent, true);
      turn.clear();
    },
    contextSeen: turn.seen,
    toolCalled: turn.next,
    cost(amount, currency) {
      if (currency.toUpperCase() !== 'USD' || amountOf(amount) === null) return;
      onCost?.(amount);
      cost.seen(amount);
      costTold = true;
      onCostTold();
    },
    costOfTurn: () => (costTold ? Promise.resolve() : new Promise((resolve) => (onCostTold = resolve))),
    news() {
      const sum = tokens.sum();
      const estimatedTokens = turn.tokens();
      const costUsd = cost.usd();
      if (sum === null && estimatedTokens === 0 && (costUsd ?? 0) === 0) return null;
      const event = usageEvent({ tokens: sum ?? NO_TOKENS, estimatedTokens, costUsd, isSettled });
      isSettled = false;
      const figures = JSON.stringify(event);
      if (figures === told) return null;
      told = figures;
      return event;
    },
  };
}

interface Figures {
  readonly tokens: TokenUsage;
  readonly estimatedTokens: number;
  readonly costUsd: number | null;
  readonly isSettled: boolean;
}

/** Only what is known is told. */
function usageEvent({ tokens, estimatedTokens, costUsd, isSettled }: Figures): UsageEvent {
  return {
    type: 'usage',
    tokens,
    ...(estimatedTokens === 0 ? {} : { estimatedTokens }),
    ...(costUsd === null ? {} : { costUsd }),
    ...(costUsd !== null && isSettled ? { costIsSettled: true } : {}),
  };
}

/** What this process has cost, out of figures that may cover the conversation before it. */
function createCost(costBefore: number | null, costRecorded: number | null) {
  let before = costBefore ?? costRecorded;
  let usd: number | null = null;
  return {
    seen(amount: number): void {
      // Without knowing what came before, the first figure is taken for it: nothing is counted twice.
      // A figure below what came before shows that the agent began to count anew, unless that was only our own record.
      if (usd === null) before = before === null ? amount : amount < before && costBefore !== null ? 0 : before;
      usd = Math.max(usd ?? 0, amount - (before ?? 0));
    },
    usd: (): number | null => usd,
  };
}

/** The turn under way, of which no figures are told yet: what each of its model requests held, between two tool calls. */
function createTurnEstimate() {
  let past = 0;
  let current = 0;
  const tokens = (): number => past + current;
  return {
    seen: (used: number): void => void (current = Math.max(current, used)),
    next(): void {
      past += current;
      current = 0;
    },
    clear: (): void => void ([past, current] = [0, 0]),
    tokens,
    asTokens: (): TokenUsage | null => (tokens() === 0 ? null : { ...NO_TOKENS, inputTokens: tokens(), totalTokens: tokens() }),
  };
}

interface TokenSum {
  /** A part is of one turn or request alone, whatever the agent's answers cover. */
  add(told: TokenUsage, isPart: boolean): void;
  sum(): TokenUsage | null;
}

/**
 * Reports of a turn add up; of reports since the start the highest counts. Of an unknown agent a report below the last
 * one proves the former; until then the latter is taken, so that nothing is counted twice.
 */
function createTokenSum(covers: AgentWays['tokens']): TokenSum {
  let total: TokenUsage | null = null;
  let highest: TokenUsage | null = null;
  let addsUp = covers === 'turn';
  return {
    add(told, isPart) {
      if (isPart) {
        total = combine(total ?? NO_TOKENS, told, (a, b) => a + b);
        highest = combine(highest ?? NO_TOKENS, told, (a, b) => a + b);
        return;
      }
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

/** An agent that cancels may answer with zeros, whatever it has spent until then. */
function hasFigures(result: PromptResult | null): boolean {
  if (result === null || result.stopReason === 'cancelled') return false;
  const { usage, _meta } = result;
  return Boolean(usage ?? _meta?.quota);
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
