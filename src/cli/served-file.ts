import { readServedFile } from '../app/commands/served-file.ts';
import type { LoadedWorkflow } from '../config/workflow.ts';
import { tellNote } from './problems.ts';

export interface ReadingSettings {
  readonly workflowPath: string;
  readonly asJson: boolean;
  /** Who looks again and again was told at first what there is to say of the file. */
  readonly isFirst?: boolean;
}

/** Reads a workflow file to ask its service; says so where that goes on with another database than the file names. */
export async function readServed({ workflowPath, asJson, isFirst = true }: ReadingSettings): Promise<LoadedWorkflow> {
  const { loaded, waits } = await readServedFile(workflowPath, process.env);
  if (waits !== null && isFirst)
    tellNote(
      'the running service keeps its database until it is restarted, and is asked there',
      `${loaded.dbPath}; the workflow file names ${waits}`,
      asJson,
    );
  return loaded;
}
