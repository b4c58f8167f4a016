import { spentOn } from '../../domain/rules/budget.ts';
import type { RunPlan } from '../../domain/model/effect.ts';
import type { Event } from '../../domain/model/event.ts';
import type { State } from '../../domain/model/state.ts';
import { createToolCalls, type RunContext } from '../../mcp/calls.ts';
import { startToolHost, type ToolHost } from '../../mcp/host.ts';
import type { RunTools, ToolCalls } from '../../ports/runner.ts';
import type { Logger } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import type { Tracker } from '../../ports/tracker.ts';

export interface RunToolsDeps {
  readonly logger: Logger;
  /** The database this daemon owns. */
  readonly scope: string;
  readonly store: Pick<Store, 'listRuns'>;
  /** Of the tracker with this identity. */
  readonly state: (tracker: string) => State | undefined;
  readonly mask: (text: string) => string;
  readonly report: (tracker: string, event: Event) => void;
  /** The processes of a run, by their pids. */
  readonly pidsOf: (runId: string) => readonly number[];
}

/** How many earlier attempts an agent is shown. */
const EARLIER_RUNS = 10;

/** The tools of running agents, carried out by this process. */
export async function openRunTools(deps: RunToolsDeps): Promise<RunTools & { stop(): Promise<void> }> {
  const host = await openToolHost(deps);
  const callsOf = (plan: RunPlan, tracker: Tracker): ToolCalls => createToolCalls(contextOf(plan, tracker, deps));
  return {
    statusOf: host.statusOf,
    close: host.close,
    stop: host.stop,
    open: (plan, tracker) => host.open(plan, callsOf(plan, tracker)),
    callsOf,
  };
}

/** The socket for the tool servers of agents on this machine, which are this very program. */
export function openToolHost({ logger, scope, pidsOf }: Pick<RunToolsDeps, 'logger' | 'scope' | 'pidsOf'>): Promise<ToolHost> {
  const program = process.argv[1] ?? '';
  const args = isSingleFile() ? ['mcp'] : [program, 'mcp'];
  return startToolHost({ logger, command: process.execPath, args, scope, pidsOf });
}

/** What the tools of a run work on. */
function contextOf(plan: RunPlan, tracker: Tracker, deps: RunToolsDeps): RunContext {
  const { identity } = plan.settings.tracker;
  const ids = { issueId: plan.issue.id, runId: plan.runId };
  return {
    plan,
    tracker,
    mask: deps.mask,
    record: (text) => deps.report(identity, { type: 'agent-spoke', ...ids, event: { type: 'notice', text: `tool ${text}` } }),
    async progress() {
      const state = deps.state(identity);
      const live = state?.live.get(plan.issue.id);
      const { tokens, costUsd } = state ? spentOn(state, plan.issue.id) : { tokens: 0, costUsd: 0 };
      const query = { tracker: identity, identifier: plan.issue.identifier, limit: EARLIER_RUNS + 1 };
      const runs = await deps.store.listRuns(query);
      return {
        turn: live?.turn ?? 0,
        maxTurns: plan.settings.agent.maxTurns,
        attempt: plan.attempt,
        tokensUsed: tokens,
        costUsd,
        earlier: runs.filter((run) => run.id !== plan.runId).slice(0, EARLIER_RUNS),
      };
    },
  };
}

/** For reads that start no run. */
export const NO_RUN_TOOLS: RunTools = { open: () => null, statusOf: () => null, close: () => {}, callsOf: () => null };

/** Then the program is the command, and no script is named. */
function isSingleFile(): boolean {
  return typeof FORAY_SINGLE_FILE === 'boolean' && FORAY_SINGLE_FILE;
}
