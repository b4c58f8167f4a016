import type { Sqlite } from './sqlite.ts';

/**
 * Writes without waiting for the disk. A crash of ours does not undo it; one of the machine may, wholly, until the next
 * write that is waited for.
 */
export function withoutSync<T>(db: Sqlite, write: () => T): T {
  db.run('PRAGMA synchronous = NORMAL');
  try {
    return write();
  } finally {
    db.run('PRAGMA synchronous = FULL');
  }
}
