import type { ForeignRecords, TrackerNames } from '../../ports/store.ts';
import { all, get, run, type Work } from './work.ts';

/** The tables whose records belong to a tracker, and by what they are known there. */
const TABLES = {
  claims: 'issue_id',
  parked: 'issue_id',
  outbox: 'id',
  workspaces: 'path',
  spent: 'issue_id',
  watches: 'issue_id',
  approvals: 'issue_id',
  runs: 'id',
} as const;

/** Notes the names of the tracker, adopts what has none yet, and counts what belongs to others. */
export function* enterTracker({ identity, configured, label }: TrackerNames): Work<readonly ForeignRecords[]> {
  yield* run(`${ADD_TRACKER} ON CONFLICT (identity) DO UPDATE SET label = excluded.label`, identity, label);
  yield* run(`${ADD_NAME} ON CONFLICT (name) DO UPDATE SET identity = excluded.identity`, configured, identity);
  yield* adoptNameless(identity);
  return yield* foreignRecords(identity);
}

const ADD_TRACKER = 'INSERT INTO trackers (identity, label) VALUES (?, ?)';
const ADD_NAME = 'INSERT INTO tracker_names (name, identity) VALUES (?, ?)';

/** What an older version stored belongs to the first tracker that asks for it. */
export function* adoptNameless(identity: string): Work<string> {
  for (const [table, key] of Object.entries(TABLES)) {
    const own = `SELECT 1 FROM ${table} AS own WHERE own.tracker = ? AND own.${key} = ${table}.${key}`;
    yield* run(`UPDATE ${table} SET tracker = ? WHERE tracker = '' AND NOT EXISTS (${own})`, identity, identity);
  }
  return identity;
}

/** The identity that a tracker was found to have, by the name it is configured by. A new one has that name itself. */
export function* storedIdentity(configured: string): Work<string> {
  const row = yield* get('SELECT identity FROM tracker_names WHERE name = ?', configured);
  return row ? String(row.identity) : configured;
}

/** Lets another name lead to this identity, unless it leads to one already. Says to which it leads. */
export function* nameTracker(name: string, identity: string): Work<string> {
  yield* run(`${ADD_NAME} ON CONFLICT DO NOTHING`, name, identity);
  return yield* storedIdentity(name);
}

function* foreignRecords(identity: string): Work<readonly ForeignRecords[]> {
  const others = yield* all(
    "SELECT identity, label FROM trackers WHERE identity <> ? AND identity <> '' ORDER BY rowid",
    identity,
  );
  const records: ForeignRecords[] = [];
  for (const other of others) records.push(yield* recordsOf(String(other.identity), String(other.label)));
  return records.filter(holdsAny);
}

function* recordsOf(identity: string, label: string): Work<ForeignRecords> {
  return {
    identity,
    label,
    claims: yield* count("claims WHERE phase <> 'waiting'", identity),
    retries: yield* count("claims WHERE phase = 'waiting'", identity),
    parked: yield* count('parked WHERE true', identity),
    outbox: yield* count('outbox WHERE true', identity),
    watches: yield* count('watches WHERE true', identity),
    workspaces: yield* count('workspaces WHERE true', identity),
  };
}

function* count(from: string, tracker: string): Work<number> {
  return Number((yield* get(`SELECT count(*) AS n FROM ${from} AND tracker = ?`, tracker))?.n);
}

function holdsAny(records: ForeignRecords): boolean {
  return Object.values(records).some((value) => typeof value === 'number' && value > 0);
}
