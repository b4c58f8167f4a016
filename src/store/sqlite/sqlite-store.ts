import type { Clock } from '../../ports/runtime.ts';
import type { Store } from '../../ports/store.ts';
import { LEASE_MS } from '../records/claims.ts';
import { addNotes, listNotes } from '../records/notes.ts';
import { addRequest, createOperatorRequests, findAnswer, withdrawRequest } from '../records/operator-requests.ts';
import { forgetHistory } from '../records/forget.ts';
import { findRunWithEvents, listRuns, totals } from '../records/runs.ts';
import { SPENT } from '../records/spent.ts';
import { statistics } from '../records/statistics.ts';
import { enterTracker, storedIdentity, nameTracker } from '../records/trackers.ts';
import { applyWrites, loadDurable } from '../records/writes.ts';
import { forgetInstance } from './instance.ts';
import type { StoreOwner } from './instance.ts';
import type { Lock } from './lock.ts';
import { createProcessRecords } from './processes.ts';
import type { ProcessRecords } from '../records/processes.ts';
import { createFileCheck } from './same-file.ts';
import type { Sqlite } from './sqlite.ts';
import { withoutSync } from './without-sync.ts';

export interface SqliteStore extends Store {
  readonly processes: ProcessRecords;
  /** Runs under way when the last daemon ended, of whatever tracker. */
  runningRuns(): readonly string[];
  /** What marks of workspaces are signed with. */
  workspaceKey(): string;
}

export const SQLITE_DAY_OF_START = "strftime('%Y-%m-%d', started_at / 1000, 'unixepoch')";

/** Runs under way when the last daemon ended, of whatever tracker. */
export function runningRunsIn(db: Sqlite): readonly string[] {
  return db.all("SELECT run_id FROM claims WHERE phase = 'running'").map((row) => String(row.run_id));
}

/** The store over a database that is open, up to date and locked for this owner. */
export function createSqliteStore(db: Sqlite, deps: { owner: StoreOwner; clock: Clock; lock: Lock }): SqliteStore {
  const requests = createOperatorRequests();
  const requireSameFile = createFileCheck(db.path);
  return {
    processes: createProcessRecords(db, deps.owner.id),
    runningRuns: () => runningRunsIn(db),
    identityOf: async (name) => db.perform(storedIdentity(name)),
    nameTracker: async (name, identity) => db.perform(nameTracker(name, identity)),
    workspaceKey: () => String(db.get('SELECT key FROM workspace_key')?.key),
    enter: async (tracker) => db.transaction(() => db.perform(enterTracker(tracker))),
    load: async (tracker) => db.snapshot(() => db.perform(loadDurable(tracker))),
    async apply(tracker, writes) {
      if (writes.length === 0) return;
      requireSameFile();
      const hold = { owner: deps.owner.id, leaseUntil: deps.clock.now() + LEASE_MS };
      db.transaction(() => db.perform(applyWrites(writes, { tracker, hold })));
    },
    spentOn: async (tracker, issueIds) => db.perform(SPENT.find(tracker, issueIds)),
    listRuns: async (query) => db.perform(listRuns(query)),
    findRun: async (id) => db.perform(findRunWithEvents(id)),
    totals: async () => db.perform(totals()),
    addNotes: async (notes) => db.transaction(() => db.perform(addNotes(notes))),
    listNotes: async (query) => db.perform(listNotes(query)),
    forgetRuns: async (endedBefore, limit) => forgetPiece(db, endedBefore, limit),
    statistics: async (query) => db.perform(statistics(query, SQLITE_DAY_OF_START)),
    addRequest: async (request, by, tracker) => db.perform(addRequest(request, by, tracker)),
    takeRequests: async (trackers) => db.perform(requests.take(trackers)),
    findAnswer: async (requestId) => db.perform(findAnswer(requestId)),
    withdrawRequest: async (requestId) => db.perform(withdrawRequest(requestId)),
    async ping() {
      requireSameFile();
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

/** Everything else waits meanwhile. */
const FORGET_MS = 5;
/** Pages in the log from which on they are brought into the file, at which everything waits too: a little at a time, and as SQLite does by itself. */
const PAGES_MEANWHILE = 300;
const PAGES_ALWAYS = 1_000;

/** What a crash of the machine brings back is forgotten again. */
function forgetPiece(db: Sqlite, before: number, limit: number): boolean {
  const until = performance.now() + FORGET_MS;
  const mayGoOn = () => performance.now() < until;
  db.exec(`PRAGMA wal_autocheckpoint = ${PAGES_MEANWHILE}`);
  try {
    return withoutSync(db, () => db.transaction(() => db.perform(forgetHistory(before, limit, mayGoOn))));
  } finally {
    db.exec(`PRAGMA wal_autocheckpoint = ${PAGES_ALWAYS}`);
  }
}
