import { watchWorkflow } from '../../config/watch.ts';
import { errorText } from '../../lib/error-text.ts';
import { createNotices } from '../../orchestrator/notices.ts';
import type { DaemonOptions } from '../daemon/daemon.ts';
import type { KeptWorkflow } from '../daemon/kept-workflow.ts';
import { rejection } from '../daemon/reload.ts';
import { followWorkflowStatus } from '../pages/workflow-status.ts';
import { readWorkflowFile, WorkflowFault } from '../workflow.ts';

/** What becomes of the file: a good edit holds for what is shown and for who may come in; all else of it is the leader's to apply. */
export function followFile({ workflow, env, secrets, logger, clock }: Omit<DaemonOptions, 'term'>, kept: KeptWorkflow) {
  const stopped = new AbortController();
  // Not those of the service: the leader writes down what becomes of its own file.
  const told = createNotices((fault) => logger.error('a listener failed', { error: errorText(fault) }));
  const { status } = followWorkflowStatus({ workflow: kept.current, foundLater: () => [], notices: told, clock });
  const { path } = workflow;
  let queue = Promise.resolve();

  async function apply(onGood: () => void): Promise<void> {
    const read = await readWorkflowFile(path, env);
    if (stopped.signal.aborted) return;
    secrets.add(read.secrets);
    kept.take(read);
    if (read.settings !== null) {
      told.announce({ name: 'workflow:file:reloaded', facts: { path } });
      return onGood();
    }
    const facts = rejection(new WorkflowFault(read.problems), read);
    told.announce({ name: 'workflow:file:rejected', facts });
    logger.error('workflow edit rejected, the last good one stays in force', {
      workflow_path: path,
      problems: facts.problems.join(' | '),
    });
  }

  return {
    status,
    start(onGood: () => void): void {
      const onChange = (): void => void (queue = queue.then(() => apply(onGood)));
      watchWorkflow(path, { onChange, seen: kept.current().fingerprint }, stopped.signal);
    },
    stop: () => stopped.abort(),
  };
}
