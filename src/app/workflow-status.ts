import { formatProblem } from '../config/format.ts';
import type { Problem } from '../domain/model/problem.ts';
import type { WorkflowStatus } from '../ports/daemon.ts';
import type { NoticeBus } from '../ports/events.ts';
import type { Clock } from '../ports/runtime.ts';
import type { GoodWorkflow } from './workflow.ts';

export interface WorkflowStatusDeps {
  readonly workflow: () => GoodWorkflow;
  /** What was found out about it since it was applied. */
  readonly foundLater: () => readonly Problem[];
  readonly notices: Pick<NoticeBus, 'listen'>;
  readonly clock: Clock;
}

/** Follows what becomes of the workflow file while the service runs. */
export function followWorkflowStatus({ workflow, foundLater, notices, clock }: WorkflowStatusDeps): {
  status(): WorkflowStatus;
  stop(): void;
} {
  let appliedAt = clock.now();
  let rejected: WorkflowStatus['rejected'] = null;
  const stop = notices.listen((notice) => {
    if (notice.name === 'workflow:file:reloaded') [appliedAt, rejected] = [clock.now(), null];
    if (notice.name === 'workflow:file:rejected') rejected = { at: clock.now(), reason: notice.facts.problems.join('\n') };
  });
  return {
    stop,
    status() {
      const { path, problems } = workflow();
      const warnings = [...problems, ...foundLater()]
        .filter(({ severity }) => severity === 'warning')
        .map((problem) => formatProblem(problem));
      return { path, appliedAt, warnings, rejected };
    },
  };
}
