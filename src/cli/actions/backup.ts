import { backUp } from '../../store/sqlite/backup.ts';
import { printLine } from '../output.ts';
import { printErrors } from '../problems.ts';
import { readServed } from '../served-file.ts';

/** Copies the database of a workflow file. */
export async function backup(file: string, workflowPath: string): Promise<number> {
  const { dbPath, storeUrl, problems } = await readServed({ workflowPath, asJson: false });
  if (dbPath === null) {
    printErrors(problems);
    return 1;
  }
  if (storeUrl !== null) {
    process.stderr.write('foray: the records are on a PostgreSQL server: back up its schema with pg_dump --schema=foray\n');
    return 1;
  }
  const { bytes, runs } = await backUp(dbPath, file);
  printLine(`${file} written: ${runs} runs, ${bytes} bytes, checked`);
  return 0;
}
