import type { RunPlan } from '../domain/model/effect.ts';
import type { Runner } from '../ports/runner.ts';
import type { RunParts } from './queue/leader/given-runs.ts';
import type { QueueRunner } from './queue/leader/index.ts';

export interface RunnerChoice {
  /** Null where there are no workers. */
  readonly queue: () => QueueRunner | null;
  /** Runs that are told from this machine. */
  readonly here: Runner;
  /** The queue outlives the tracker that a run is of: what it is answered with goes with the run. */
  readonly partsOf: (plan: RunPlan) => RunParts;
}

/** A run goes to the workers where its plan says so, else it is told from here. */
export function chooseRunner({ queue, here, partsOf }: RunnerChoice): Runner {
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
