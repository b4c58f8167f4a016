import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../ports/runtime.ts';
import { StoreError } from '../errors.ts';
import { adoptClaims, LEASE_MS } from '../records/claims.ts';
import { checkPlace, isBusy } from './errors.ts';
import { isAlive, readInstance, recordInstance } from './instance.ts';
import type { Instance, StoreOwner } from './instance.ts';
import { takeLock } from './lock.ts';
import type { Lock } from './lock.ts';
import { schemaVersion } from './migrate.ts';
import { prepare } from './prepare.ts';
import { openSqlite } from './sqlite.ts';
import type { Sqlite } from './sqlite.ts';
import { createSqliteStore } from './sqlite-store.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { errorText } from '../../lib/error-text.ts';

export interface OpenOptions {
  readonly path: string;
  readonly owner: StoreOwner;
  readonly clock: Clock;
  /** Told once when another program keeps it busy: it is waited for, and nobody should look at silence. */
  readonly onBusy?: (why: string) => void;
}

/** Opens the database for this daemon alone, making or upgrading it as needed. A failure is a StoreError. */
export async function openStore(options: OpenOptions): Promise<SqliteStore> {
  const { path, owner } = options;
  checkPlace(path);
  const lock = await takeLock(path);
  if (!lock) throw inUse(path, await findHolder(path, owner.host));
  try {
    return await openPatiently(options, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** SQLite waits in the way of everything else, so it is asked several times. */
async function openPatiently(options: OpenOptions, lock: Lock): Promise<SqliteStore> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await openLocked(options, lock);
    } catch (error) {
      if (!isBusy(error) || tries === OPEN_TRIES) throw error;
      if (tries === 1) options.onBusy?.(errorText(error));
      await delay(LOOK_EVERY_MS);
    }
  }
}

async function openLocked({ path, owner, clock }: OpenOptions, lock: Lock): Promise<SqliteStore> {
  const db = await openSqlite(path, { busyMs: OPEN_BUSY_MS });
  try {
    await refuseLivingHolder(db, owner);
    prepare(db, clock);
    db.transaction(() => {
      recordInstance(db, owner, clock.now());
      db.perform(adoptClaims({ owner: owner.id, leaseUntil: clock.now() + LEASE_MS }));
    });
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    return createSqliteStore(db, { owner, clock, lock });
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * The lock is ours, yet the daemon that recorded itself may live: someone deleted the lock file under it. A killed
 * process may look alive for a moment after the kernel freed its lock, hence the patience.
 */
async function refuseLivingHolder(db: Sqlite, owner: StoreOwner): Promise<void> {
  const livingHolder = () => {
    const holder = recordedInstance(db);
    return holder && holder.pid !== owner.pid && isAlive(holder, owner.host) ? holder : null;
  };
  const gone = await eventually(() => (livingHolder() ? null : true));
  if (!gone) throw inUse(db.path, livingHolder());
}

/** Who has the lock. Just after its start a daemon has not recorded itself yet, and the record is an older one's. */
async function findHolder(path: string, host: string): Promise<Instance | null> {
  try {
    const db = await openSqlite(path, { readOnly: true });
    const holder = await eventually(() => {
      const recorded = recordedInstance(db);
      return recorded && (recorded.host !== host || isAlive(recorded, host)) ? recorded : null;
    });
    db.close();
    return holder;
  } catch {
    // It is in use either way; only its name stays unknown.
    return null;
  }
}

function recordedInstance(db: Sqlite): Instance | null {
  return schemaVersion(db) === 0 ? null : readInstance(db);
}

/** A lock of somebody else is waited for beside the work, not in it: whoever writes tries again later. */
const BUSY_MS = 20;
/** Five seconds in all. */
const OPEN_BUSY_MS = 1000;
const OPEN_TRIES = 5;
const LOOKS = 20;
const LOOK_EVERY_MS = 50;

/** Looks until there is something to see, for about a second. */
async function eventually<T>(look: () => T | null): Promise<T | null> {
  for (let count = 0; count < LOOKS; count++) {
    const seen = look();
    if (seen !== null) return seen;
    await delay(LOOK_EVERY_MS);
  }
  return null;
}

function inUse(path: string, holder: Instance | null): StoreError {
  const facts = holder
    ? ` (pid ${holder.pid} on ${holder.host}, workflow ${holder.workflowPath}, started ${new Date(holder.startedAt).toISOString()})`
    : '';
  const remedy = 'stop that one first, or give this workflow a db_path of its own';
  return new StoreError({ path, kind: 'locked', what: `is in use by another foray${facts}`, remedy });
}
