import { formatProblem, problemAttributes } from '../config/format.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import type { Problem } from '../domain/model/problem.ts';
import { readWorkflowFile, requireGood, tellWarnings, type GoodWorkflow } from '../app/workflow.ts';
import { createLog } from '../lib/log.ts';
import type { LogFormat, RunSettings } from './run-settings.ts';

/**
 * Loads a workflow to run it. Errors are told and give null, as do warnings where they are not allowed; other warnings are
 * records of the run.
 */
export async function openWorkflow(
  args: Pick<RunSettings, 'workflowPath' | 'isStrict' | 'logFormat'>,
): Promise<GoodWorkflow | null> {
  const loaded = await readWorkflowFile(args.workflowPath, process.env);
  const { problems, settings } = loaded;
  if (settings !== null && (!args.isStrict || problems.length === 0)) return requireGood(loaded);
  tellProblems(loaded, args.logFormat ?? settings?.logging.format ?? 'text', args.isStrict);
  return null;
}

/** Warnings are records of a start, whose errors are lines like those of `validate`; where records are JSON, so are they. */
function tellProblems(loaded: Pick<LoadedWorkflow, 'problems' | 'path'>, format: LogFormat, isStrict: boolean): void {
  const logger = createLog({
    level: 'warn',
    format,
    write: (line) => process.stderr.write(line),
    now: Date.now,
    // Messages of the loader have their secrets hidden.
    mask: (text) => text,
  });
  const refused = loaded.problems.filter(({ severity }) => isStrict || severity === 'error');
  if (!isStrict) tellWarnings(loaded, logger);
  if (format === 'text') printProblems(refused);
  else for (const problem of refused) logger.error('workflow error', problemAttributes(problem, loaded.path));
}

/** The workflow, or null after its errors were told in the form that was asked for. */
export function goodOrTold(loaded: LoadedWorkflow, asJson: boolean): GoodWorkflow | null {
  if (loaded.settings !== null) return requireGood(loaded);
  tellFaults(loaded, asJson);
  return null;
}

/** What keeps a command from reading a workflow file. */
export function tellFaults(loaded: Pick<LoadedWorkflow, 'problems' | 'path'>, asJson: boolean): void {
  if (asJson) tellProblems(loaded, 'json', false);
  else printProblems(loaded.problems);
}

export function printProblems(problems: readonly Problem[]): void {
  for (const problem of problems) process.stderr.write(`${formatProblem(problem)}\n`);
}
