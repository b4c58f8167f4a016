import type { OperatorRequest } from '../../ports/store.ts';
import type { Sqlite } from './sqlite.ts';

export interface OperatorRequests {
  take(): OperatorRequest[];
  /** Forgets what was handed out. */
  settle(): void;
}

/**
 * Requests are handed out once, but forgotten only with the next call: by then they have been acted upon. A crash in
 * between hands them out again, which does no harm, where deleting them at once would lose them.
 */
export function createOperatorRequests(db: Sqlite): OperatorRequests {
  const handedOut = { upTo: 0, pending: false };

  const settle = () => {
    if (!handedOut.pending) return;
    db.run('DELETE FROM operator_requests WHERE id <= ?', handedOut.upTo);
    handedOut.pending = false;
  };
  return {
    settle,
    take() {
      settle();
      const rows = db.all('SELECT id, identifier FROM operator_requests WHERE id > ? ORDER BY id', handedOut.upTo);
      const last = rows.at(-1);
      if (last) Object.assign(handedOut, { upTo: Number(last.id), pending: true });
      return rows.map((row) => ({ kind: 'unpark', identifier: String(row.identifier) }));
    },
  };
}

export function addUnparkRequest(db: Sqlite, identifier: string): void {
  db.run("INSERT INTO operator_requests (kind, identifier) VALUES ('unpark', ?)", identifier);
}

/** A request is done in the same moment as the issue is released, so it cannot release a later parking. */
export function forgetUnparkRequests(db: Sqlite, issueId: string): void {
  const parked = 'SELECT identifier FROM parked WHERE issue_id = ?';
  db.run(`DELETE FROM operator_requests WHERE kind = 'unpark' AND identifier IN (${parked})`, issueId);
}
