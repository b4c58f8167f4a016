import os from 'node:os';
import type { Durable } from '../domain/model/durable.ts';
import { isAlive, type Instance } from '../store/sqlite/instance.ts';
import { openStoreReadOnly, type ReadOnlyStore } from '../store/sqlite/read-only.ts';

/** What the database says, and the daemon that has it, if one is at work. */
export interface Records extends Pick<ReadOnlyStore, 'listRuns' | 'findRun' | 'statistics' | 'totals' | 'close'> {
  readonly daemon: Instance | null;
  load(): Promise<Durable>;
}

/**
 * Opens the records of a workflow to read them; null when there are none yet. A file that does not say which tracker it
 * watches can only mean the one there is.
 */
export async function openRecords(dbPath: string, tracker: string | null): Promise<Records | null> {
  const store = await openStoreReadOnly(dbPath);
  if (store === null) return null;
  const recorded = store.instance();
  const load = () => store.load(tracker ?? store.trackers().at(-1) ?? '');
  return { ...store, load, daemon: recorded !== null && isAlive(recorded, os.hostname()) ? recorded : null };
}
