import { reportDryRun } from '../../app/dry-run.ts';
import type { RunArgs } from '../args.ts';
import { openLog } from '../logging.ts';
import { openWorkflow } from '../problems.ts';

/** One poll that only reads. */
export async function dryRun(args: RunArgs): Promise<number> {
  const workflow = await openWorkflow(args.workflowPath);
  if (!workflow) return 1;
  const { logger, secrets } = openLog(args, workflow.settings);
  secrets.add(workflow.secrets);
  const interrupted = new AbortController();
  process.once('SIGINT', () => interrupted.abort(new Error('interrupted')));
  process.once('SIGTERM', () => interrupted.abort(new Error('interrupted')));
  try {
    await reportDryRun(
      workflow,
      { env: { ...process.env }, version: FORAY_VERSION, clock: { now: Date.now }, logger, secrets },
      interrupted.signal,
    );
    return 0;
  } catch (error) {
    logger.error('dry run failed', { error: error instanceof Error ? error.message : String(error) });
    return 1;
  }
}
