import type { Clock } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import { LEASE_MS } from './claims.ts';
import { forgetInstance } from './instance.ts';
import type { StoreOwner } from './instance.ts';
import type { Lock } from './lock.ts';
import { addRequest, createOperatorRequests, findAnswer } from './operator-requests.ts';
import { createProcessRecords } from './processes.ts';
import type { ProcessRecords } from './processes.ts';
import { eventsOfRun } from './run-events.ts';
import { findRun, forgetRuns, listRuns, totals } from './runs.ts';
import { statistics } from './statistics.ts';
import type { Sqlite } from './sqlite.ts';
import { enterTracker, storedIdentity, nameTracker } from './trackers.ts';
import { applyWrite, loadDurable } from './writes.ts';

export interface SqliteStore extends Store {
  readonly processes: ProcessRecords;
  /** Runs under way when the last daemon ended, of whatever tracker. */
  runningRuns(): readonly string[];
  /** What marks of workspaces are signed with. */
  workspaceKey(): string;
}

/** The store over a database that is open, up to date and locked for this owner. */
export function createSqliteStore(db: Sqlite, deps: { owner: StoreOwner; clock: Clock; lock: Lock }): SqliteStore {
  const requests = createOperatorRequests(db);
  return {
    processes: createProcessRecords(db, deps.owner.id),
    runningRuns: () => db.all("SELECT run_id FROM claims WHERE phase = 'running'").map((row) => String(row.run_id)),
    identityOf: async (name) => storedIdentity(db, name),
    nameTracker: async (name, identity) => nameTracker(db, name, identity),
    workspaceKey: () => String(db.get('SELECT key FROM workspace_key')?.key),
    enter: async (tracker) => enterTracker(db, tracker),
    load: async (tracker) => loadDurable(db, tracker),
    async apply(tracker, writes) {
      if (writes.length === 0) return;
      const hold = { owner: deps.owner.id, leaseUntil: deps.clock.now() + LEASE_MS };
      db.transaction(() => {
        for (const write of writes) applyWrite(db, write, { tracker, hold });
      });
    },
    listRuns: async (query) => listRuns(db, query),
    async findRun(id) {
      const run = findRun(db, id);
      return run && { run, events: eventsOfRun(db, id) };
    },
    totals: async () => totals(db),
    forgetRuns: async (endedBefore, limit) => forgetRuns(db, endedBefore, limit),
    statistics: async (query) => statistics(db, query),
    addRequest: async (request, by) => addRequest(db, request, by),
    takeRequests: async () => requests.take(),
    findAnswer: async (requestId) => findAnswer(db, requestId),
    async ping() {
      db.get('SELECT max(version) FROM schema_migrations');
    },
    async close() {
      if (db.closed) return;
      try {
        forgetInstance(db, deps.owner.id);
        db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      } finally {
        db.close();
        deps.lock.release();
      }
    },
  };
}
