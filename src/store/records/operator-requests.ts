import { z } from 'zod';
import { once } from '../../lib/once.ts';
import type { AskedRequest, OperatorAnswer, OperatorRequest } from '../../domain/model/operator.ts';
import { ISSUE_REQUEST_KINDS } from '../../domain/model/operator.ts';
import { storedIdentity } from './trackers.ts';
import { all, get, records, run, type Row, type Work } from './work.ts';

/** Answered requests are kept this long, for whoever wants to know who asked for what. */
const KEEP_MS = 30 * 86_400_000;

/**
 * Requests are handed out once per daemon, those of the trackers it works on; the others wait for one that does. Each stays
 * until its answer is stored, in the same moment as what it changed: a crash in between hands it out again, and none is
 * carried out twice.
 */
export function createOperatorRequests(): { take(trackers: readonly string[]): Work<AskedRequest[]> } {
  let handedOut: ReadonlySet<string> = new Set();
  return {
    *take(trackers) {
      const waiting = yield* records(askedOf, WAITING);
      const mine = waiting.filter(({ tracker }) => tracker === '' || trackers.includes(tracker));
      const fresh = mine.filter(({ id }) => !handedOut.has(id));
      handedOut = new Set(waiting.map(({ id }) => id).filter((id) => handedOut.has(id) || mine.some((asked) => asked.id === id)));
      return fresh;
    },
  };
}

const OWN_RUNS = "(operator_requests.tracker = '' OR runs.tracker = operator_requests.tracker)";
const HAS_RUNS = `CASE WHEN EXISTS (SELECT 1 FROM runs WHERE lower(runs.identifier) = lower(operator_requests.identifier) AND ${OWN_RUNS}) THEN 1 ELSE 0 END AS has_runs`;
/** The name that it was asked under may have been found to be another one's meanwhile. */
const OWNER =
  'COALESCE((SELECT identity FROM tracker_names WHERE tracker_names.name = operator_requests.tracker), operator_requests.tracker) AS tracker';
const WAITING = `SELECT id, kind, identifier, reason, asked_by, ${OWNER}, ${HAS_RUNS} FROM operator_requests WHERE outcome IS NULL ORDER BY id`;

/** A request of the tracker as the workflow file configures it, or null when the file does not say. A pause is of no tracker. */
export function* addRequest(request: OperatorRequest, by: string, configured: string | null): Work<string> {
  const isOfIssue = 'identifier' in request;
  const row = yield* get(
    'INSERT INTO operator_requests (kind, identifier, reason, asked_by, tracker) VALUES (?, ?, ?, ?, ?) RETURNING id',
    request.kind,
    isOfIssue ? request.identifier : null,
    request.kind === 'pause' ? request.reason : null,
    by,
    isOfIssue && configured !== null ? yield* storedIdentity(configured) : '',
  );
  return String(row?.id);
}

/** One request as it waits, by its id. */
export function* readRequest(id: string): Work<AskedRequest | null> {
  const row = (yield* all(WAITING)).find((waiting) => String(waiting.id) === id);
  return row ? askedOf(row) : null;
}

/** Takes back a request that nobody answered, so that it does not come true later. Gives the answer that came meanwhile. */
export function* withdrawRequest(id: string): Work<OperatorAnswer | null> {
  yield* run('DELETE FROM operator_requests WHERE id = ? AND outcome IS NULL', Number(id));
  return yield* findAnswer(id);
}

export function* writeAnswer(id: string, answer: OperatorAnswer, at: number): Work<void> {
  const sql = 'UPDATE operator_requests SET outcome = ?, message = ?, answered_at = ? WHERE id = ?';
  yield* run(sql, answer.outcome, answer.message, at, Number(id));
  yield* run('DELETE FROM operator_requests WHERE answered_at < ?', at - KEEP_MS);
}

export function* findAnswer(id: string): Work<OperatorAnswer | null> {
  const row = yield* get('SELECT outcome, message FROM operator_requests WHERE id = ? AND outcome IS NOT NULL', Number(id));
  return row ? Answer().parse(row) : null;
}

const Answer = once(() => z.object({ outcome: z.enum(['taken', 'refused', 'unknown']), message: z.string() }));

const Asked = once(() =>
  z.union([
    z.object({ kind: z.enum(ISSUE_REQUEST_KINDS), identifier: z.string() }),
    z.object({ kind: z.literal('pause'), reason: z.string() }),
    z.object({ kind: z.literal('resume') }),
  ]),
);

function askedOf(row: Row): AskedRequest {
  const request = Asked().parse(row);
  const hasRuns = Number(row.has_runs) === 1;
  return { id: String(row.id), request, tracker: String(row.tracker), by: String(row.asked_by), hasRuns };
}
