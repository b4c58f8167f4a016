import { processStartTime } from '../../lib/process-identity.ts';
import { leftoverOf, type ProcessRecords } from '../records/processes.ts';
import type { Sqlite } from './sqlite.ts';
import { withoutSync } from './without-sync.ts';

const PUT = 'INSERT OR REPLACE INTO processes (pid, start_time, owner, instance) VALUES (?, ?, ?, ?)';

/** Each is written down at once. */
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
      return rows.map(leftoverOf);
    },
    clear() {
      db.run('DELETE FROM processes WHERE instance <> ?', instance);
    },
  };
}
