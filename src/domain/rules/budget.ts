import { addCounts, subtractTokens, type AgentEvent, type TokenUsage } from '../model/agent-event.ts';
import type { Spent, StopReason } from '../model/run.ts';
import type { Settings, TokenRates } from '../model/settings.ts';
import { settingsFor, type Live, type State } from '../model/state.ts';
import { listPrice, UNKNOWN_MODEL } from './prices.ts';

type UsageEvent = Extract<AgentEvent, { type: 'usage' }>;

export interface BudgetVerdict {
  readonly reason: 'session_budget' | 'token_budget' | 'cost_budget';
  readonly detail: string;
}

/** Which budget of the issue is used up, or null. Checked before every run. */
export function budgetSpent(state: State, issueId: string): BudgetVerdict | null {
  const spent = state.spent.get(issueId);
  return spent === undefined ? null : overBudget(state.settings, spent);
}

/**
 * Which budget a running session is over, or null; one that used just what it may is not. `underWay` is what the turn used that is not counted yet.
 * Sessions are counted when they start, so they do not stop one.
 */
export function budgetBroken(
  state: State,
  live: Live,
  underWay: { readonly tokens: number; readonly costUsd: number },
): { readonly reason: StopReason; readonly detail: string } | null {
  const { maxTokens, maxCostUsd } = settingsFor(state, live.issue.id).agent;
  const counted = spentOn(state, live.issue.id);
  const spent = { ...counted, tokens: counted.tokens + underWay.tokens, costUsd: counted.costUsd + underWay.costUsd };
  if (maxTokens > 0 && spent.tokens > maxTokens) return { reason: 'token_budget', detail: tokenDetail(spent, maxTokens) };
  if (maxCostUsd > 0 && spent.costUsd - maxCostUsd > LEAST_USD)
    return { reason: 'cost_budget', detail: costDetail(spent, maxCostUsd) };
  return null;
}

/** Less than this is what adding prices up leaves over. */
const LEAST_USD = 1e-9;

/** The ceilings that cannot be kept, because the agent tells nothing they could be held against. */
export function blindCeilings(settings: Settings, { tokensMeasured, reportedCost }: Live): readonly string[] {
  if (tokensMeasured) return [];
  const { maxTokens, maxCostUsd } = settings.agent;
  return [
    ...(maxTokens > 0 ? ['agent.max_tokens'] : []),
    ...(maxCostUsd > 0 && reportedCost === null ? ['agent.max_cost_usd'] : []),
  ];
}

/** What an issue may still cost in US dollars, or null for no limit. */
export function costLeft(state: State, issueId: string): number | null {
  const { maxCostUsd } = state.settings.agent;
  return maxCostUsd > 0 ? Math.max(0, maxCostUsd - spentOn(state, issueId).costUsd) : null;
}

export function spentOn(state: State, issueId: string): Spent {
  return state.spent.get(issueId) ?? { issueId, sessions: 0, tokens: 0, costUsd: 0 };
}

export function withMoreSpent(spent: Spent, tokens: number, costUsd: number): Spent {
  return { ...spent, tokens: addCounts(spent.tokens, tokens), costUsd: spent.costUsd + costUsd };
}

/**
 * What the tokens of a session cost: by the rates of the workflow file, else by the list price of its model. For a model
 * of unknown price some figure is taken only where there is a ceiling to keep.
 */
export function ratesOf({ tokenRates, agent }: Settings, model: string | null): TokenRates | null {
  return tokenRates[agent.kind] ?? listPrice(model) ?? (agent.maxCostUsd > 0 ? UNKNOWN_MODEL : null);
}

/** What is settled, and what was used since then by price. Null where neither is known. */
export function costOf(tokens: TokenUsage, settled: Live['settled'], rates: TokenRates | null): number | null {
  if (settled === null) return rates === null ? null : priceOf(tokens, rates);
  return settled.costUsd + (rates === null ? 0 : priceOf(subtractTokens(tokens, settled.tokens), rates));
}

/**
 * Agents repeat their last figure while they work on: only one that has grown says something of the tokens of now, or one
 * that is settled.
 */
export function reportedBy(live: Live, event: UsageEvent, tokens: TokenUsage): Pick<Live, 'reportedCost' | 'settled'> {
  const { costUsd, costIsSettled = false } = event;
  const before = live.reportedCost ?? -1;
  const isNews = costUsd !== undefined && (costUsd > before || (costIsSettled && costUsd === before));
  if (isNews) return { reportedCost: costUsd, settled: { costUsd, tokens } };
  return { reportedCost: live.reportedCost, settled: live.settled };
}

/** What was used before another model took over keeps its price. A model that only becomes known takes over from none. */
export function withModel(live: Live, model: string | null = live.model): Live {
  if (live.model === null || model === live.model || live.costUsd === null) return { ...live, model };
  return { ...live, model, settled: { costUsd: live.costUsd, tokens: live.tokens } };
}

/** Cached input is paid once. */
export function priceOf(tokens: Omit<TokenUsage, 'totalTokens'>, rates: TokenRates): number {
  const fresh = tokens.inputTokens - tokens.cacheReadTokens;
  const cached = tokens.cacheReadTokens * (rates.cacheReadPerMtok ?? rates.inputPerMtok);
  return (fresh * rates.inputPerMtok + cached + tokens.outputTokens * rates.outputPerMtok) / 1_000_000;
}

function overBudget(settings: Settings, spent: Spent): BudgetVerdict | null {
  const { maxSessions, maxTokens, maxCostUsd } = settings.agent;
  if (maxTokens > 0 && spent.tokens >= maxTokens) return { reason: 'token_budget', detail: tokenDetail(spent, maxTokens) };
  if (maxCostUsd > 0 && spent.costUsd >= maxCostUsd) return { reason: 'cost_budget', detail: costDetail(spent, maxCostUsd) };
  if (maxSessions > 0 && spent.sessions >= maxSessions) {
    return { reason: 'session_budget', detail: `${spent.sessions} of ${maxSessions} sessions used (agent.max_sessions)` };
  }
  return null;
}

function tokenDetail(spent: Spent, limit: number): string {
  return `${spent.tokens} of ${limit} tokens used (agent.max_tokens)`;
}

function costDetail(spent: Spent, limit: number): string {
  return `${usdText(spent.costUsd)} of ${usdText(limit)} USD used (agent.max_cost_usd)`;
}

/** In cents, and where that says too little with as many digits as say something. */
export function usdText(usd: number): string {
  const digits = usd > 0 ? Math.min(Math.max(2, 1 - Math.floor(Math.log10(usd))), MOST_DIGITS) : 2;
  return usd.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, '$1');
}

const MOST_DIGITS = 12;

/** Whether a hold says that a budget is used up: such an issue waits for a person. */
export function isBudget(reason: string): reason is 'session_budget' | 'token_budget' | 'cost_budget' {
  return reason === 'session_budget' || reason === 'token_budget' || reason === 'cost_budget';
}
