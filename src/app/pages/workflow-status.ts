import { formatProblem, problemFacts } from '../../config/format.ts';
import type { Problem, ProblemFacts } from '../../domain/model/problem.ts';
import type { WorkflowStatus } from '../../ports/daemon.ts';
import type { NoticeBus } from '../../ports/events.ts';
import type { Clock } from '../../ports/runtime.ts';
import type { GoodWorkflow } from '../workflow.ts';

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
  let rejected: (WorkflowStatus['rejected'] & { readonly faults: readonly ProblemFacts[] }) | null = null;
  const stop = notices.listen((notice) => {
    if (notice.name === 'workflow:file:reloaded') [appliedAt, rejected] = [clock.now(), null];
    if (notice.name === 'workflow:file:rejected') {
      const { problems, faults } = notice.facts;
      rejected = { at: clock.now(), reason: problems.join('\n'), faults };
    }
  });
  return {
    stop,
    status() {
      const { path, problems } = workflow();
      const warnings = [...problems, ...foundLater()].filter(({ severity }) => severity === 'warning');
      return {
        path,
        appliedAt,
        warnings: warnings.map((problem) => formatProblem(problem)),
        rejected: rejected && { at: rejected.at, reason: rejected.reason },
        problems: [...(rejected?.faults ?? []), ...warnings.map((problem) => problemFacts(problem, path))],
      };
    },
  };
}
