import { randomBytes } from 'node:crypto';
import os from 'node:os';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import type { OperatorRequest } from '../../domain/model/operator.ts';
import type { CommandRequest } from '../../store/records/answer-alone.ts';
import type { OperatorReply } from '../../store/records/await-answer.ts';
import { askThroughDatabase } from '../../store/sqlite/operator.ts';
import { StoreError } from '../../store/errors.ts';
import { instanceFacts } from '../leader/leading.ts';
import { databaseOf } from './read-records.ts';
import { WorkflowFault } from '../workflow.ts';

/** Asks the service of a workflow file, which was read. Faults of the file do no harm while its database is known. */
export async function askService(loaded: LoadedWorkflow, request: OperatorRequest): Promise<OperatorReply> {
  const database = await databaseOf(loaded);
  if (database === null) throw new WorkflowFault(loaded.problems);
  const { dbPath, storeUrl } = database;
  const tracker = loaded.settings?.tracker.identity ?? null;
  if (storeUrl !== null) return askShared(storeUrl, { configured: tracker, request, by: whoAsks() }, loaded.path);
  return askThroughDatabase({ path: dbPath, tracker }, request, whoAsks());
}

/** The same where several daemons share the database. */
async function askShared(url: string, request: CommandRequest, workflowPath: string): Promise<OperatorReply> {
  const { askThroughPostgres, migratePostgres, openPostgres, isUpToDate } = await import('../../store/postgres/index.ts');
  const db = await openPostgres(url);
  try {
    if (!(await isUpToDate(db))) {
      // To pause before the first start is the careful way to begin.
      if (request.request.kind !== 'pause') throw nothingYet(db.address);
      await migratePostgres(db, Date.now());
    }
    return await askThroughPostgres(db, instanceFacts(`command-${randomBytes(5).toString('hex')}`, workflowPath, ''), request);
  } finally {
    await db.close();
  }
}

function nothingYet(address: string): StoreError {
  const remedy = 'check store.url; there is nothing to act on before the first start';
  return new StoreError({ path: address, kind: 'missing', what: 'has no records yet', remedy });
}

function whoAsks(): string {
  try {
    return `${os.userInfo().username}, command line`;
  } catch {
    // A user id without an entry in the user database.
    return 'command line';
  }
}
