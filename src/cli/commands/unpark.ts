import { readWorkflowFile } from '../../app/workflow.ts';
import { requestUnpark } from '../../store/sqlite/operator.ts';
import { printProblems } from '../problems.ts';

/** Lets a parked issue run again. Only the place of the database matters here: other faults of the file do no harm. */
export async function unpark(args: { readonly identifier: string; readonly workflowPath: string }): Promise<number> {
  const { dbPath, problems } = await readWorkflowFile(args.workflowPath, process.env);
  if (dbPath === null) {
    printProblems(problems);
    return 1;
  }
  const outcome = await requestUnpark(dbPath, args.identifier);
  if (outcome === 'not-parked') {
    process.stderr.write(`foray: ${args.identifier} is not parked\n`);
    return 1;
  }
  process.stdout.write(
    outcome === 'requested' ? `${args.identifier}: the running service releases it now\n` : `${args.identifier}: released\n`,
  );
  return 0;
}
