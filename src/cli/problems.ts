import { formatProblem, problemAttributes } from '../config/format.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import type { Problem } from '../domain/model/problem.ts';
import { readWorkflowFile, requireGood, tellWarnings, WorkflowFault, type GoodWorkflow } from '../app/workflow.ts';
import { createLog } from '../lib/log.ts';
import type { RunSettings } from './run-settings.ts';

/**
 * Loads a workflow to run it. Errors are told and give null, as do warnings where they are not allowed; other warnings are
 * records of the run.
 */
export async function openWorkflow(
  args: Pick<RunSettings, 'workflowPath' | 'isStrict' | 'logFormat'>,
): Promise<GoodWorkflow | null> {
  const loaded = await readWorkflowFile(args.workflowPath, process.env);
  const { problems, settings, path } = loaded;
  if (settings !== null && (!args.isStrict || problems.length === 0)) return requireGood(loaded);
  const format = args.logFormat ?? settings?.logging.format ?? 'text';
  const logger = createLog({
    level: 'warn',
    format,
    write: (line) => process.stderr.write(line),
    now: Date.now,
    // Messages of the loader have their secrets hidden.
    mask: (text) => text,
  });
  const refused = problems.filter(({ severity }) => args.isStrict || severity === 'error');
  if (!args.isStrict) tellWarnings(loaded, logger);
  if (format === 'text') printProblems(refused);
  else for (const problem of refused) logger.error('workflow error', problemAttributes(problem, path));
  return null;
}

/** The workflow, or null after its errors were printed. */
export function goodOrPrinted(loaded: LoadedWorkflow): GoodWorkflow | null {
  try {
    return requireGood(loaded);
  } catch (error) {
    if (!(error instanceof WorkflowFault)) throw error;
    printProblems(loaded.problems);
    return null;
  }
}

export function printProblems(problems: readonly Problem[]): void {
  for (const problem of problems) process.stderr.write(`${formatProblem(problem)}\n`);
}
