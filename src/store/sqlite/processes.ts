import type { ProcessLedger } from '../../ports/agent.ts';
import { processStartTime } from '../../lib/process-identity.ts';
import type { Sqlite } from './sqlite.ts';
import { withoutSync } from './without-sync.ts';

/** Process groups of sessions, written down at once so that a crash leaves a trace of them. */
export interface ProcessRecords extends ProcessLedger {
  /** Groups that an earlier daemon started and did not see end. */
  leftovers(): readonly Leftover[];
  /** Forgets the leftovers; those of this daemon stay. */
  clear(): void;
}

export interface Leftover {
  readonly pid: number;
  /** Empty when the leader was gone before it could be recorded. */
  readonly startTime: string;
  readonly owner: string;
}

const PUT = 'INSERT OR REPLACE INTO processes (pid, start_time, owner, instance) VALUES (?, ?, ?, ?)';

export function createProcessRecords(db: Sqlite, instance: string): ProcessRecords {
  return {
    started(pid, owner) {
      // The wait for the disk would leave a moment in which a process lives that nobody has heard of. A crash of ours cannot
      // undo the write, and a crash of the machine ends the processes too.
      withoutSync(db, () => db.run(PUT, pid, processStartTime(pid) ?? '', owner, instance));
    },
    ended(pid) {
      // A process may outlive the store by a moment; the next start finds that it is gone.
      if (!db.closed) withoutSync(db, () => db.run('DELETE FROM processes WHERE pid = ?', pid));
    },
    leftovers() {
      const rows = db.all('SELECT pid, start_time, owner FROM processes WHERE instance <> ? ORDER BY rowid', instance);
      return rows.map((row) => ({ pid: Number(row.pid), startTime: String(row.start_time), owner: String(row.owner) }));
    },
    clear() {
      db.run('DELETE FROM processes WHERE instance <> ?', instance);
    },
  };
}
