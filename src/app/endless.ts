import type { Logger } from '../ports/runtime.ts';
import type { GoodWorkflow } from './workflow.ts';

export const ENDLESS_CHECK = 'agent.endless';
export const ENDLESS_REMEDY = 'set tracker.handoff_state, or one of agent.max_sessions, agent.max_tokens and agent.max_cost_usd';
const ENDLESS =
  'an issue that stays in an active state is run again and again without end: no handoff state moves it away, no budget stops it';

/** What is to be said where nothing ends the work on an issue that stays active; null where something does. */
export function endlessText({ settings: { tracker, agent } }: Pick<GoodWorkflow, 'settings'>): string | null {
  const isBounded = agent.maxSessions > 0 || agent.maxTokens > 0 || agent.maxCostUsd > 0;
  return tracker.handoffState !== null || isBounded ? null : ENDLESS;
}

/** No warning of the file, which is as it should be: some want it so. */
export function tellIfEndless(workflow: Pick<GoodWorkflow, 'settings'>, logger: Pick<Logger, 'warn'>): void {
  const text = endlessText(workflow);
  if (text !== null) logger.warn('nothing ends the work on an issue', { reason: text, remedy: ENDLESS_REMEDY });
}
