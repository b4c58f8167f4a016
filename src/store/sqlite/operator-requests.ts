import { z } from 'zod';
import type { AskedRequest, OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import { ISSUE_REQUEST_KINDS } from '../../domain/model/operator.ts';
import type { Row, Sqlite } from './sqlite.ts';

/** Answered requests are kept this long, for whoever wants to know who asked for what. */
const KEEP_MS = 30 * 86_400_000;

/**
 * Requests are handed out once per daemon. Each stays until its answer is stored, in the same moment as what it changed:
 * a crash in between hands it out again, and none is carried out twice.
 */
export function createOperatorRequests(db: Sqlite): { take(): AskedRequest[] } {
  let handedOut = 0;
  return {
    take() {
      const rows = db.all(WAITING, handedOut);
      handedOut = Number(rows.at(-1)?.id ?? handedOut);
      return rows.map(askedOf);
    },
  };
}

const HAS_RUNS = 'EXISTS (SELECT 1 FROM runs WHERE runs.identifier = operator_requests.identifier) AS has_runs';
const WAITING = `SELECT id, kind, identifier, reason, asked_by, ${HAS_RUNS} FROM operator_requests WHERE outcome IS NULL AND id > ? ORDER BY id`;

export function addRequest(db: Sqlite, request: OperatorRequest, by: string): string {
  const identifier = 'identifier' in request ? request.identifier : null;
  const reason = request.kind === 'pause' ? request.reason : null;
  db.run(
    'INSERT INTO operator_requests (kind, identifier, reason, asked_by) VALUES (?, ?, ?, ?)',
    request.kind,
    identifier,
    reason,
    by,
  );
  return String(db.get('SELECT last_insert_rowid() AS id')?.id);
}

/** One request as it waits, by its id. */
export function readRequest(db: Sqlite, id: string): AskedRequest | null {
  const row = db.get(WAITING, Number(id) - 1);
  return row && String(row.id) === id ? askedOf(row) : null;
}

/** Takes back a request that nobody answered, so that it does not come true later. False when it was answered meanwhile. */
export function withdrawRequest(db: Sqlite, id: string): void {
  db.run('DELETE FROM operator_requests WHERE id = ? AND outcome IS NULL', Number(id));
}

export function writeAnswer(db: Sqlite, id: string, answer: OperatorAnswer, at: number): void {
  const sql = 'UPDATE operator_requests SET outcome = ?, message = ?, answered_at = ? WHERE id = ?';
  db.run(sql, answer.outcome, answer.message, at, Number(id));
  db.run('DELETE FROM operator_requests WHERE answered_at < ?', at - KEEP_MS);
}

export function findAnswer(db: Sqlite, id: string): OperatorAnswer | null {
  const row = db.get('SELECT outcome, message FROM operator_requests WHERE id = ? AND outcome IS NOT NULL', Number(id));
  return row ? Answer.parse(row) : null;
}

const Answer = z.object({ outcome: z.enum(['taken', 'refused', 'unknown']), message: z.string() });

const Asked = z.union([
  z.object({ kind: z.enum(ISSUE_REQUEST_KINDS), identifier: z.string() }),
  z.object({ kind: z.literal('pause'), reason: z.string() }),
  z.object({ kind: z.literal('resume') }),
]);

function askedOf(row: Row): AskedRequest {
  return { id: String(row.id), by: String(row.asked_by), hasRuns: Number(row.has_runs) === 1, request: Asked.parse(row) };
}
