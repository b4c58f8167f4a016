import { requestUnpark } from '../../store/operator.ts';
import { openWorkflow } from '../problems.ts';

/** Lets a parked issue run again. */
export async function unpark(args: { readonly identifier: string; readonly workflowPath: string }): Promise<number> {
  const workflow = await openWorkflow(args.workflowPath);
  if (!workflow) return 1;
  const outcome = await requestUnpark(workflow.settings.dbPath, args.identifier);
  if (outcome === 'not-parked') {
    process.stderr.write(`foray: ${args.identifier} is not parked\n`);
    return 1;
  }
  process.stdout.write(
    outcome === 'requested' ? `${args.identifier}: the running service releases it now\n` : `${args.identifier}: released\n`,
  );
  return 0;
}
