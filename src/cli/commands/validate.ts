import { readWorkflowFile } from '../../app/workflow.ts';
import { printProblems } from '../problems.ts';

/** Checks a workflow file without the network. Silent on a good one. */
export async function validate(args: { readonly workflowPath: string; readonly format: 'text' | 'json' }): Promise<number> {
  const { problems } = await readWorkflowFile(args.workflowPath, process.env);
  const errors = problems.filter((problem) => problem.severity === 'error');
  if (args.format === 'text') printProblems(problems);
  else {
    const shown = (severity: string) =>
      problems.filter((problem) => problem.severity === severity).map(({ check, message }) => ({ severity, check, message }));
    process.stdout.write(
      `${JSON.stringify({ valid: errors.length === 0, errors: shown('error'), warnings: shown('warning') })}\n`,
    );
  }
  return errors.length === 0 ? 0 : 1;
}
