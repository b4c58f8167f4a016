import type { AgentStatus } from '../../domain/model/agent-event.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { Fault } from '../../domain/model/fault.ts';
import type { AgentSession, Turn } from '../../ports/agent.ts';
import type { RunListener } from '../../ports/runner.ts';

interface TurnDeps extends Pick<RunListener, 'report'> {
  /** Aborts what follows the turns too. */
  readonly finishing: AbortSignal;
}

/** One turn of the agent. Says why it failed, or null. */
export async function takeTurn(
  plan: RunPlan,
  session: AgentSession,
  turn: Turn,
  deps: TurnDeps,
  signal: AbortSignal,
): Promise<Fault | null> {
  signal.throwIfAborted();
  deps.report({ type: 'turn-started', ...idsOf(plan), turn: turn.number, prompt: turn.prompt });
  const result = await session.runTurn(turn, (event) => deps.report({ type: 'agent-spoke', ...idsOf(plan), event }), signal);
  // One that was done when the service began to stop is done.
  (result.ok ? deps.finishing : signal).throwIfAborted();
  if (!result.ok) return result.fault;
  deps.report({ type: 'turn-completed', ...idsOf(plan), turn: turn.number });
  return null;
}

/**
 * Whether the agent's word stands although its turn failed: one that cannot go on without a person is not asked again, and
 * paid for again. A limit of its provider holds for other issues too, so that is not passed over.
 */
export function outweighs(status: AgentStatus | null, { consequence }: Fault): boolean {
  return status?.word === 'blocked' && consequence !== 'pause-agent';
}

export function idsOf(plan: RunPlan): { issueId: string; runId: string } {
  return { issueId: plan.issue.id, runId: plan.runId };
}
