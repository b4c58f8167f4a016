import { constants, existsSync, statSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import { findRunWithEvents, listRuns, totals } from '../records/runs.ts';
import { listNotes } from '../records/notes.ts';
import { statistics } from '../records/statistics.ts';
import { storedIdentity } from '../records/trackers.ts';
import { loadDurable } from '../records/writes.ts';
import { refuseDirectory } from './errors.ts';
import { readInstance } from './instance.ts';
import type { Instance } from './instance.ts';
import { isLockTaken } from './lock.ts';
import { migrateSqlite, SCHEMA_VERSION, schemaVersion } from './migrate.ts';
import { openSqlite } from './sqlite.ts';
import { SQLITE_DAY_OF_START } from './sqlite-store.ts';
import type { Sqlite } from './sqlite.ts';

export interface ReadOnlyStore extends Pick<
  Store,
  'load' | 'listRuns' | 'findRun' | 'listNotes' | 'statistics' | 'totals' | 'close'
> {
  /** The daemon that recorded itself last and did not take leave. */
  instance(): Instance | null;
  /** The trackers whose issues are kept here. */
  trackers(): readonly string[];
  /** The name that a tracker is stored under. */
  identityOf(tracker: string): string;
}

/** For commands that only read: creates and changes nothing beside the workflow file. Null when there is no database yet. */
export async function openStoreReadOnly(path: string): Promise<ReadOnlyStore | null> {
  if (!existsSync(path)) return null;
  refuseDirectory(path);
  const { db, dispose } = await openUntouched(path);
  return {
    load: async (tracker) => db.snapshot(() => db.perform(loadDurable(db.perform(storedIdentity(tracker))))),
    listRuns: async (query) => db.perform(listRuns(query)),
    findRun: async (id) => db.perform(findRunWithEvents(id)),
    listNotes: async (query) => db.perform(listNotes(query)),
    statistics: async (query) => db.perform(statistics(query, SQLITE_DAY_OF_START)),
    totals: async () => db.perform(totals()),
    instance: () => readInstance(db),
    trackers: () => db.all('SELECT identity FROM trackers').map((row) => String(row.identity)),
    identityOf: (tracker) => db.perform(storedIdentity(tracker)),
    async close() {
      db.close();
      await dispose();
    },
  };
}

interface Untouched {
  readonly db: Sqlite;
  readonly dispose: () => Promise<void>;
}

/**
 * Reading in WAL mode makes the -wal and -shm files where they are missing. With a daemon at work they are there, so
 * the file is read as it is. Without one nobody writes: the file alone is read, or a copy of it where changes wait
 * in the -wal file or the schema is an older one.
 */
async function openUntouched(path: string): Promise<Untouched> {
  if (await isLockTaken(path)) return opened(await openSqlite(path, { readOnly: true }));
  if (hasContent(`${path}-wal`)) return openCopy(path);
  const alone = await openSqlite(path, { readOnly: true, location: `${pathToFileURL(path).href}?immutable=1` });
  if (closingOnError(alone, schemaVersion) === SCHEMA_VERSION) return opened(alone);
  alone.close();
  return openCopy(path);
}

function opened(db: Sqlite): Untouched {
  closingOnError(db, schemaVersion);
  return { db, dispose: async () => {} };
}

async function openCopy(path: string): Promise<Untouched> {
  const folder = await mkdtemp(join(tmpdir(), 'foray-read-'));
  const dispose = () => rm(folder, { recursive: true, force: true });
  try {
    const copy = join(folder, 'copy.db');
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
    if (hasContent(`${path}-wal`)) await copyFile(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
    const db = await openSqlite(path, { location: copy });
    closingOnError(db, (connection) => migrateSqlite(connection, BEGINNING));
    return { db, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** The copy lives too short for its dates to matter. */
const BEGINNING: Clock = { now: () => 0 };

function closingOnError<T>(db: Sqlite, work: (db: Sqlite) => T): T {
  try {
    return work(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
