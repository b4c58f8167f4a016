import { moveRecords } from '../app/move-records.ts';
import { expandAddress } from '../config/store.ts';
import { readWorkflowFile } from '../app/workflow.ts';
import { UsageError } from './command.ts';
import { printJson, printLine, printTable } from './output.ts';
import { printProblems } from './problems.ts';

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
    printProblems(problems);
    return 1;
  }
  const url = target === null ? storeUrl : expandAddress(target, process.env).address.value;
  if (url === null) throw new UsageError('needs --to URL, since the workflow file has no store.url');
  if (!/^postgres(ql)?:\/\//.test(url)) throw new UsageError('--to must be the address of a PostgreSQL database: postgres://…');
  const { to, tables } = await moveRecords(dbPath, url, path);
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
