import { formatProblem } from '../config/format.ts';
import type { Problem } from '../domain/model/problem.ts';
import { readWorkflowFile, requireGood, WorkflowFault, type GoodWorkflow } from '../app/workflow.ts';

/** Loads a workflow to run it. Errors are printed line by line and give null; warnings are printed and do no harm. */
export async function openWorkflow(path: string): Promise<GoodWorkflow | null> {
  const loaded = await readWorkflowFile(path, process.env);
  printProblems(loaded.problems);
  try {
    return requireGood(loaded);
  } catch (error) {
    if (error instanceof WorkflowFault) return null;
    throw error;
  }
}

export function printProblems(problems: readonly Problem[]): void {
  for (const problem of problems) process.stderr.write(`${formatProblem(problem)}\n`);
}
