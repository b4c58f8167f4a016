import type { TokenUsage } from '../model/agent-event.ts';
import type { Spent, StopReason } from '../model/run.ts';
import type { Settings, TokenRates } from '../model/settings.ts';
import type { Live, State } from '../model/state.ts';

export interface BudgetVerdict {
  readonly reason: 'session_budget' | 'token_budget' | 'cost_budget';
  readonly detail: string;
}

/** Which budget of the issue is used up, or null. Checked before every run. */
export function budgetSpent(state: State, issueId: string): BudgetVerdict | null {
  return overBudget(state.settings, spentOn(state, issueId));
}

/**
 * Which budget a running session has used up, or null; `underWay` are tokens of the turn that are not counted yet.
 * Sessions are counted when they start, so they do not stop one.
 */
export function budgetBroken(
  state: State,
  live: Live,
  underWay: number,
): { readonly reason: StopReason; readonly detail: string } | null {
  const { maxTokens, maxCostUsd } = state.settings.agent;
  const counted = spentOn(state, live.issue.id);
  const spent = { ...counted, tokens: counted.tokens + underWay };
  if (maxTokens > 0 && spent.tokens >= maxTokens) return { reason: 'token_budget', detail: tokenDetail(spent, maxTokens) };
  if (maxCostUsd > 0 && spent.costUsd >= maxCostUsd) return { reason: 'cost_budget', detail: costDetail(spent, maxCostUsd) };
  return null;
}

/** What an issue may still cost in US dollars, or null for no limit. */
export function costLeft(state: State, issueId: string): number | null {
  const { maxCostUsd } = state.settings.agent;
  return maxCostUsd > 0 ? Math.max(0, maxCostUsd - spentOn(state, issueId).costUsd) : null;
}

export function spentOn(state: State, issueId: string): Spent {
  return state.spent.get(issueId) ?? { issueId, sessions: 0, tokens: 0, costUsd: 0 };
}

/** The agent's own price where it tells one, else from the configured rates, else unknown. Cached input is paid once. */
export function costOf(tokens: TokenUsage, reported: number | undefined, rates: TokenRates | undefined): number | null {
  if (reported !== undefined) return reported;
  if (rates === undefined) return null;
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
  return `${spent.costUsd.toFixed(2)} of ${limit.toFixed(2)} USD used (agent.max_cost_usd)`;
}
