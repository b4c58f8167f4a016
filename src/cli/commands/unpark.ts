import { askService } from '../../app/operator.ts';
import { WorkflowFault } from '../../app/workflow.ts';
import { printProblems } from '../problems.ts';

/** Lets a parked issue run again, with or without a running service. */
export async function unpark(args: { readonly identifier: string; readonly workflowPath: string }): Promise<number> {
  try {
    const { answer } = await askService(args.workflowPath, process.env, { kind: 'unpark', identifier: args.identifier });
    (answer.outcome === 'taken' ? process.stdout : process.stderr).write(`${answer.message}\n`);
    return answer.outcome === 'taken' ? 0 : 1;
  } catch (error) {
    if (!(error instanceof WorkflowFault)) throw error;
    printProblems(error.problems);
    return 1;
  }
}
