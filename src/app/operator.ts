import os from 'node:os';
import type { Env } from '../config/expand.ts';
import type { OperatorRequest } from '../domain/model/operator.ts';
import { askThroughDatabase, type OperatorReply } from '../store/sqlite/operator.ts';
import { readWorkflowFile, WorkflowFault } from './workflow.ts';

/** Asks the service of a workflow file. Faults of the file do no harm while its database is known. */
export async function askService(workflowPath: string, env: Env, request: OperatorRequest): Promise<OperatorReply> {
  const { dbPath, settings, problems } = await readWorkflowFile(workflowPath, env);
  if (dbPath === null) throw new WorkflowFault(problems);
  return askThroughDatabase({ path: dbPath, tracker: settings?.tracker.identity ?? null }, request, whoAsks());
}

function whoAsks(): string {
  try {
    return `${os.userInfo().username}, command line`;
  } catch {
    // A user id without an entry in the user database.
    return 'command line';
  }
}
