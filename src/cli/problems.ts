import { formatProblem } from '../config/format.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import type { Problem } from '../domain/model/problem.ts';
import { readWorkflowFile, requireGood, WorkflowFault, type GoodWorkflow } from '../app/workflow.ts';

/**
 * Loads a workflow to run it. Errors are printed line by line and give null, as do warnings where they are not allowed;
 * other warnings become records of the run.
 */
export async function openWorkflow(args: {
  readonly workflowPath: string;
  readonly isStrict: boolean;
}): Promise<GoodWorkflow | null> {
  const loaded = await readWorkflowFile(args.workflowPath, process.env);
  if (args.isStrict && loaded.problems.length > 0) {
    printProblems(loaded.problems);
    return null;
  }
  return goodOrPrinted(loaded);
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
