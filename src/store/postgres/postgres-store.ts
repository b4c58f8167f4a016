import type { Clock } from '../../ports/runtime.ts';
import type { Store, Write } from '../../ports/store.ts';
import { LEASE_MS } from '../records/claims.ts';
import { addNotes, listNotes } from '../records/notes.ts';
import { addRequest, createOperatorRequests, findAnswer, withdrawRequest } from '../records/operator-requests.ts';
import { forgetHistory } from '../records/forget.ts';
import { findRunWithEvents, listRuns, totals } from '../records/runs.ts';
import { statistics } from '../records/statistics.ts';
import { enterTracker, nameTracker, storedIdentity } from '../records/trackers.ts';
import { get, type Work } from '../records/work.ts';
import { applyWrites, loadDurable } from '../records/writes.ts';
import { wasCommitted, type Postgres } from './connection.ts';
import { POSTGRES_DAY_OF_START } from './dialect.ts';
import { InDoubt, postgresErrorOf, TAKES_NO_WRITES } from './errors.ts';
import { findSpent } from './spent.ts';

export interface PostgresStoreDeps {
  /** Names this start of the daemon. */
  readonly owner: string;
  readonly clock: Clock;
  /** The epoch under which this daemon writes; null for one that only reads. */
  readonly epoch: number | null;
}

/** The store over a database that is open and up to date. Every write but a request of an operator is under the epoch. */
export function createPostgresStore(db: Postgres, { owner, clock, epoch }: PostgresStoreDeps): Store {
  const requests = createOperatorRequests();
  const inDoubt = new WeakMap<readonly Write[], string>();
  const underEpoch: Postgres['write'] = (work) => (epoch === null ? Promise.reject(readsOnly(db)) : db.writeUnder(epoch, work));

  /** The caller tries a unit again that failed; one that came true meanwhile is not stored twice. */
  async function isStored(writes: readonly Write[]): Promise<boolean> {
    const transaction = inDoubt.get(writes);
    if (transaction === undefined) return false;
    const committed = await wasCommitted(db, transaction);
    if (committed === null) throw postgresErrorOf(db.address, new Error('the connection broke and the server is still at it'));
    inDoubt.delete(writes);
    return committed;
  }

  return {
    enter: (tracker) => underEpoch(enterTracker(tracker)),
    identityOf: (name) => db.read(storedIdentity(name)),
    nameTracker: (name, identity) => underEpoch(nameTracker(name, identity)),
    load: (tracker) => db.read(loadDurable(tracker)),
    async apply(tracker, writes) {
      if (writes.length === 0 || (await isStored(writes))) return;
      const hold = { owner, leaseUntil: clock.now() + LEASE_MS };
      try {
        await underEpoch(applyWrites(writes, { tracker, hold }));
      } catch (error) {
        if (error instanceof InDoubt) inDoubt.set(writes, error.transaction);
        throw error;
      }
    },
    spentOn: (tracker, issueIds) => db.read(findSpent(tracker, issueIds)),
    listRuns: (query) => db.read(listRuns(query)),
    findRun: (id) => db.read(findRunWithEvents(id)),
    totals: () => db.read(totals()),
    addNotes: (notes) => underEpoch(addNotes(notes)),
    listNotes: (query) => db.read(listNotes(query)),
    forgetRuns: (endedBefore, limit) => underEpoch(forgetHistory(endedBefore, limit)),
    statistics: (query) => db.read(statistics(query, POSTGRES_DAY_OF_START)),
    addRequest: (request, by, tracker) => db.write(addRequest(request, by, tracker)),
    takeRequests: (trackers) => db.read(requests.take(trackers)),
    findAnswer: (requestId) => db.read(findAnswer(requestId)),
    withdrawRequest: (requestId) => db.write(withdrawRequest(requestId)),
    async ping() {
      await db.read(requireWritable());
    },
    close: () => db.close(),
  };
}

/** A server that answers and takes no writes is of no use. */
function* requireWritable(): Work<void> {
  const row = yield* get(
    "SELECT max(version) AS version, pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS blocked FROM schema_migrations",
  );
  if (row?.blocked) throw Object.assign(new Error('it is a replica'), { code: TAKES_NO_WRITES });
}

function readsOnly(db: Postgres): Error {
  return postgresErrorOf(db.address, Object.assign(new Error('this one does not lead'), { code: 'FRY01' }));
}
