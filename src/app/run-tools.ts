import { spentOn } from '../domain/rules/budget.ts';
import type { Event } from '../domain/model/event.ts';
import type { State } from '../domain/model/state.ts';
import { startToolHost } from '../mcp/host.ts';
import type { RunTools } from '../ports/runner.ts';
import type { Logger } from '../ports/runtime.ts';
import type { Store } from '../ports/store.ts';

export interface RunToolsDeps {
  readonly logger: Logger;
  /** The database this daemon owns. */
  readonly scope: string;
  readonly store: Pick<Store, 'listRuns'>;
  /** Of the tracker with this identity. */
  readonly state: (tracker: string) => State | undefined;
  readonly report: (tracker: string, event: Event) => void;
  /** The processes of a run, by their pids. */
  readonly pidsOf: (runId: string) => readonly number[];
}

/** How many earlier attempts an agent is shown. */
const EARLIER_RUNS = 10;

/** The tools of running agents, carried out by this process. */
export async function openRunTools(deps: RunToolsDeps): Promise<RunTools & { stop(): Promise<void> }> {
  const program = process.argv[1] ?? '';
  const { logger, scope, pidsOf } = deps;
  const host = await startToolHost({
    logger,
    command: process.execPath,
    args: isSingleFile() ? ['mcp'] : [program, 'mcp'],
    scope,
    pidsOf,
  });
  return {
    statusOf: host.statusOf,
    close: host.close,
    stop: host.stop,
    open: (plan, tracker) =>
      host.open({
        plan,
        tracker,
        record: (text) =>
          deps.report(plan.settings.tracker.identity, {
            type: 'agent-spoke',
            issueId: plan.issue.id,
            runId: plan.runId,
            event: { type: 'notice', text: `tool ${text}` },
          }),
        async progress() {
          const tracker = plan.settings.tracker.identity;
          const state = deps.state(tracker);
          const live = state?.live.get(plan.issue.id);
          const { tokens, costUsd } = state ? spentOn(state, plan.issue.id) : { tokens: 0, costUsd: 0 };
          const runs = await deps.store.listRuns({ tracker, identifier: plan.issue.identifier, limit: EARLIER_RUNS + 1 });
          return {
            turn: live?.turn ?? 0,
            maxTurns: plan.settings.agent.maxTurns,
            attempt: plan.attempt,
            tokensUsed: tokens,
            costUsd,
            earlier: runs.filter((run) => run.id !== plan.runId).slice(0, EARLIER_RUNS),
          };
        },
      }),
  };
}

/** For reads that start no run. */
export const NO_RUN_TOOLS: RunTools = { open: () => null, statusOf: () => null, close: () => {} };

/** Then the program is the command, and no script is named. */
function isSingleFile(): boolean {
  return typeof FORAY_SINGLE_FILE === 'boolean' && FORAY_SINGLE_FILE;
}
