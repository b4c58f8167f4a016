import { readServedFile } from '../app/commands/served-file.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import { tellNote } from './problems.ts';

/** Reads a workflow file to ask its service; says so where that goes on with another database than the file names. */
export async function readServed(workflowPath: string, asJson: boolean, isFirst = true): Promise<LoadedWorkflow> {
  const { loaded, waits } = await readServedFile(workflowPath, process.env);
  if (waits !== null && isFirst)
    tellNote(
      'the running service keeps its database until it is restarted, and is asked there',
      `${loaded.dbPath}; the workflow file names ${waits}`,
      asJson,
    );
  return loaded;
}
