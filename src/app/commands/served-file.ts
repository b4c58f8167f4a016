import { realpathSync } from 'node:fs';
import type { Env } from '../../config/expand.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import { StoreError } from '../../store/errors.ts';
import { databaseName } from '../daemon/own-store.ts';
import { readSignpost } from '../daemon/signpost.ts';
import { readWorkflowFile } from '../workflow.ts';

export interface ServedFile {
  readonly loaded: LoadedWorkflow;
  /** The database that the file names, where its service goes on with the one it started with. */
  readonly waits: string | null;
}

/** A workflow file for a command that asks its service: with the database which that uses, whatever an edit names meanwhile. */
export async function readServedFile(workflowPath: string, env: Env): Promise<ServedFile> {
  const loaded = await readWorkflowFile(workflowPath, env);
  const { dbPath, storeUrl, settings } = loaded;
  const used = dbPath === null ? null : readSignpost(loaded.path, env);
  if (dbPath === null || used === null) return { loaded, waits: null };
  const named = databaseName({ dbPath, storeUrl });
  if (isSame(named, used.database)) return { loaded, waits: null };
  if (used.isShared) throw outOfReach(used.database, used.pid);
  const database = { dbPath: used.database, storeUrl: null };
  return { loaded: { ...loaded, ...database, settings: settings && { ...settings, ...database } }, waits: named };
}

function isSame(one: string, other: string): boolean {
  return one === other || realOf(one) === realOf(other);
}

function realOf(database: string): string {
  try {
    return realpathSync(database);
  } catch {
    return database;
  }
}

/** What it takes to get there, such as a password, is in the file no longer. */
function outOfReach(address: string, pid: number): StoreError {
  const what = `the running service (pid ${pid}) uses it, but the workflow file names another database since`;
  return new StoreError({
    path: address,
    kind: 'failed',
    what,
    remedy: 'restart the service, or take the edit of store.url back',
  });
}
