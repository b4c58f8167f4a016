import { askService } from '../../app/commands/ask-service.ts';
import { databaseOf, withRecords } from '../../app/commands/read-records.ts';
import { WorkflowFault } from '../../app/workflow.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import type { OperatorRequest } from '../../domain/model/operator.ts';
import { printJson } from '../output.ts';
import { printErrors, tellUnreadable } from '../problems.ts';
import { readServed } from '../served-file.ts';

/** Asks the service and prints its answer: what was taken on standard output, what was not on standard error. */
export async function askAndPrint(workflowPath: string, request: OperatorRequest, asJson: boolean): Promise<number> {
  try {
    const loaded = await readServed({ workflowPath, asJson });
    const { answer, byDaemon } = await askService(loaded, request);
    if (loaded.dbPath === null) tellUnreadable(loaded, asJson);
    const by = byDaemon ? `the running service${await ofOtherFile(loaded)}` : 'the database: no service is running';
    if (asJson) printJson({ ...request, outcome: answer.outcome, message: answer.message, service_running: byDaemon });
    else if (answer.outcome === 'taken') process.stdout.write(`${answer.message} (${by})\n`);
    else process.stderr.write(`foray: ${answer.message}\n`);
    return answer.outcome === 'taken' ? 0 : 1;
  } catch (error) {
    if (!(error instanceof WorkflowFault)) throw error;
    printErrors(error.problems);
    return 1;
  }
}

/** Whose service it is where the workflow file is not the one it watches. */
async function ofOtherFile(loaded: LoadedWorkflow): Promise<string> {
  const database = await databaseOf(loaded);
  const otherFile = database && (await withRecords(database, loaded, (records) => records?.otherFile));
  return otherFile == null ? '' : ` of ${otherFile}`;
}
