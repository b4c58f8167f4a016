import { formatProblem, problemFacts } from '../../config/format.ts';
import type { Problem, ProblemFacts } from '../../domain/model/problem.ts';
import { EDIT_WAITS } from '../../domain/model/remedies.ts';
import type { EditNotTaken, WorkflowStatus } from '../../ports/daemon.ts';
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
  let rejected: EditNotTaken | null = null;
  let faults: readonly ProblemFacts[] = [];
  const stop = notices.listen(({ name, facts }) => {
    const at = clock.now();
    if (name === 'workflow:file:reloaded') [appliedAt, rejected, faults] = [at, null, []];
    if (name === 'workflow:file:rejected') [rejected, faults] = [{ at, reason: facts.problems.join('\n') }, facts.faults];
    if (name === 'workflow:file:awaited') {
      rejected = { at, reason: EDIT_WAITS, isAwaited: true };
      faults = [problemFacts({ severity: 'error', check: 'tracker.access', message: EDIT_WAITS }, facts.path)];
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
        rejected,
        problems: [...faults, ...warnings.map((problem) => problemFacts(problem, path))],
      };
    },
  };
}
