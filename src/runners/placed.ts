import type { RunPlan } from '../domain/model/effect.ts';
import type { Runner } from '../ports/runner.ts';
import type { RunParts } from './queue/given-runs.ts';
import type { QueueRunner } from './queue/index.ts';

export interface PlacedRunnerDeps {
  /** Null where there are no workers. */
  readonly queue: () => QueueRunner | null;
  /** Runs that are told from this machine. */
  readonly here: Runner;
  readonly partsOf: (plan: RunPlan) => RunParts;
}

/** A run goes to the workers where its plan says so, else it is told from here. */
export function createPlacedRunner({ queue, here, partsOf }: PlacedRunnerDeps): Runner {
  return {
    start(plan, hear) {
      const workers = plan.settings.agent.runOn === null ? null : queue();
      if (workers === null) here.start(plan, hear);
      else workers.start(plan, partsOf(plan), hear);
    },
    stop(runId, reason) {
      const workers = queue();
      return workers?.knows(runId) === true ? workers.stop(runId, reason) : here.stop(runId, reason);
    },
  };
}
