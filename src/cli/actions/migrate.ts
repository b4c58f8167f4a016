import { moveRecords } from '../../app/commands/move-records.ts';
import { addressProblem, expandAddress } from '../../config/store.ts';
import { NO_SETTINGS } from '../../domain/model/no-settings.ts';
import { readWorkflowFile } from '../../app/workflow.ts';
import { UsageError } from '../command.ts';
import { openLog } from '../logging.ts';
import { printJson, printLine, printTable } from '../output.ts';
import { printErrors } from '../problems.ts';

export interface MigrateArgs {
  /** Null takes `store.url` of the workflow file. */
  readonly to: string | null;
  readonly workflowPath: string;
  readonly asJson: boolean;
}

/** Moves the records of a workflow file from its database file to PostgreSQL. */
export async function moveDatabase({ to: target, workflowPath, asJson }: MigrateArgs): Promise<number> {
  const { dbPath, storeUrl, path, problems } = await readWorkflowFile(workflowPath, process.env);
  if (dbPath === null) {
    printErrors(problems);
    return 1;
  }
  const url = target === null ? storeUrl : addressOf(target);
  if (url === null) throw new UsageError('needs --to URL, since the workflow file has no store.url');
  const { logger } = openLog({ logLevel: null, logFormat: asJson ? 'json' : null }, NO_SETTINGS);
  const { to, tables } = await moveRecords(dbPath, url, { workflowPath: path, logger });
  if (asJson) {
    printJson({ from: dbPath, to, tables });
    return 0;
  }
  printTable(
    ['TABLE', 'ROWS', 'SHA-256, BOTH SIDES'],
    tables.map(({ table, rows, digest }) => [table, String(rows), digest.slice(0, 16)]),
  );
  printLine(`${dbPath} is now at ${to}, compared row by row. Set store.url in the workflow file and start the service.`);
  return 0;
}

function addressOf(written: string): string {
  const { address } = expandAddress(written, process.env);
  const problem = addressProblem(address);
  if (problem !== null) throw new UsageError(`--to ${problem}`);
  return address.value;
}
