import { existsSync, realpathSync } from 'node:fs';
import os from 'node:os';
import { defaultDbPath } from '../../config/paths.ts';
import type { LoadedWorkflow } from '../../config/workflow.ts';
import type { Durable } from '../../domain/model/durable.ts';
import { LEADER_AT_WORK_MS } from '../../domain/model/lease-times.ts';
import type { Settings } from '../../domain/model/settings.ts';
import type { Fleet } from '../../store/postgres/index.ts';
import { isAlive, type Instance } from '../../store/sqlite/instance.ts';
import { isLockTaken } from '../../store/sqlite/lock.ts';
import { openStoreReadOnly, type ReadOnlyStore } from '../../store/sqlite/read-only.ts';

/** What the database says, and the daemon that has it, if one is at work. */
export interface Records extends Pick<ReadOnlyStore, 'listRuns' | 'findRun' | 'listNotes' | 'statistics' | 'totals' | 'close'> {
  readonly daemon: Instance | null;
  /** The workflow file of that daemon, where the one that was asked about is another: nothing watches that. For people. */
  readonly otherFile: string | null;
  /** The tracker that the workflow file names, by the name it is stored under. */
  readonly tracker: string;
  load(): Promise<Durable>;
  /** Until when sessions that a change of leader cut short may go on elsewhere, by issue id. */
  endingElsewhere(): Promise<ReadonlyMap<string, number>>;
  /** Its workers; null where the database is not shared. */
  readonly fleet: () => Promise<Fleet | null>;
}

/** Where the records are. */
export type DatabaseSettings = Pick<Settings, 'dbPath' | 'storeUrl'>;

/**
 * Where the records of a workflow file are; null where nobody can tell. A file that cannot be read does not say it: then it
 * is the database in the default place, if the service of this file is at work on it.
 */
export async function databaseOf({ dbPath, storeUrl, path }: FoundDatabase): Promise<DatabaseSettings | null> {
  if (dbPath !== null) return { dbPath, storeUrl };
  const byDefault = { dbPath: defaultDbPath(path), storeUrl: null };
  if (!existsSync(byDefault.dbPath) || !(await isLockTaken(byDefault.dbPath))) return null;
  const watched = await withRecords(byDefault, { settings: null, path }, (records) => records?.daemon?.workflowPath);
  return watched === path ? byDefault : null;
}

type FoundDatabase = Pick<LoadedWorkflow, 'dbPath' | 'storeUrl' | 'path'>;

/** Whose records are read. */
type RecordsOf = Pick<LoadedWorkflow, 'settings' | 'path'>;

/** Opens the records of a workflow, has them read and closes them, whatever becomes of that. Before the first start they are null. */
export async function withRecords<T>(
  database: DatabaseSettings,
  workflow: RecordsOf,
  read: (records: Records | null) => T | Promise<T>,
): Promise<T> {
  const records = await openRecords(database, workflow);
  try {
    return await read(records);
  } finally {
    await records?.close();
  }
}

/** A file that does not say which tracker it watches can only mean the one there is. */
async function openRecords({ dbPath, storeUrl }: DatabaseSettings, { settings, path }: RecordsOf): Promise<Records | null> {
  const tracker = settings?.tracker.identity ?? null;
  if (storeUrl !== null) return openShared(storeUrl, tracker);
  const store = await openStoreReadOnly(dbPath);
  try {
    return store && recordsIn(store, tracker, path);
  } catch (error) {
    await store?.close();
    throw error;
  }
}

function recordsIn(store: ReadOnlyStore, tracker: string | null, path: string): Records {
  const recorded = store.instance();
  const identity = store.identityOf(tracker ?? store.trackers().at(-1) ?? '');
  const daemon = recorded !== null && isAlive(recorded, os.hostname()) ? recorded : null;
  return {
    ...store,
    load: () => store.load(identity),
    endingElsewhere: async () => new Map(),
    fleet: async () => null,
    tracker: identity,
    daemon,
    otherFile: daemon && isOtherFile(daemon.workflowPath, path) ? daemon.workflowPath : null,
  };
}

/** A file that is no longer where it was may have been renamed under its service. */
function isOtherFile(watched: string, asked: string): boolean {
  try {
    return realpathSync(watched) !== realpathSync(asked);
  } catch {
    return false;
  }
}

/** The leader counts as at work while it says so. */
async function openShared(url: string, tracker: string | null): Promise<Records | null> {
  const { createPostgresStore, isWatchedBy, openPostgres, readEnding, readFleet, readLeader, readLastTracker, isUpToDate } =
    await import('../../store/postgres/index.ts');
  const db = await openPostgres(url);
  try {
    if (!(await isUpToDate(db))) {
      await db.close();
      return null;
    }
    const store = createPostgresStore(db, { owner: '', clock: { now: Date.now }, epoch: null });
    const leader = await db.read(readLeader());
    const isAtWork = leader !== null && !leader.left && leader.silentMs < LEADER_AT_WORK_MS;
    const isOther = isAtWork && tracker !== null && (await db.read(isWatchedBy(leader, tracker))) === false;
    const identity = await store.identityOf(tracker ?? (await db.read(readLastTracker())));
    return {
      ...store,
      load: () => store.load(identity),
      endingElsewhere: () => db.read(readEnding(identity, Date.now())),
      fleet: () => db.read(readFleet()),
      tracker: identity,
      daemon: isAtWork ? { ...leader, startedAt: leader.since } : null,
      // Each of the daemons that share a database has its own copy of the file: it is another one where its tracker is.
      otherFile: isOther ? `${leader.workflowPath} on ${leader.host}` : null,
    };
  } catch (error) {
    await db.close();
    throw error;
  }
}
