import os from 'node:os';
import type { Env } from '../config/expand.ts';
import type { OperatorAnswer, OperatorRequest } from '../domain/model/operator.ts';
import { askThroughDatabase } from '../store/sqlite/operator.ts';
import { readWorkflowFile, WorkflowFault } from './workflow.ts';

/** What a command asks for, and how it went. */
export interface OperatorReply {
  readonly answer: OperatorAnswer;
  /** Whether the running service answered, or the database was changed without one. */
  readonly byDaemon: boolean;
}

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
