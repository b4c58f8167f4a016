import { statSync } from 'node:fs';
import type { Clock } from '../../ports/runtime.ts';
import { StoreError } from '../errors.ts';
import { migrateSqlite } from './migrate.ts';
import type { Sqlite } from './sqlite.ts';

/** Up to this size the whole file is looked through on every start; that takes well under 100 ms. */
const CHECK_UP_TO_BYTES = 16 * 1024 * 1024;

/** Readies a database that only this process may write: checked, in WAL mode and with the newest schema. */
export function prepare(db: Sqlite, clock: Clock): void {
  if (statSync(db.path).size <= CHECK_UP_TO_BYTES) checkContent(db);
  db.exec('PRAGMA journal_mode = WAL');
  writeDurably(db);
  migrateSqlite(db, clock);
}

/** Every commit reaches the disk before it counts, so a power loss takes no claim either. */
export function writeDurably(db: Sqlite): void {
  db.exec('PRAGMA synchronous = FULL');
}

function checkContent(db: Sqlite): void {
  const finding = Object.values(db.get('PRAGMA quick_check(1)') ?? {})[0];
  if (finding === 'ok') return;
  const remedy = 'restore it from a backup, or move it away to start with an empty one';
  throw new StoreError({ path: db.path, kind: 'corrupt', what: `is corrupt (${finding})`, remedy });
}
