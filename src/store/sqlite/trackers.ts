import type { ForeignRecords, TrackerNames } from '../../ports/store.ts';
import type { Sqlite } from './sqlite.ts';

/** The tables whose records belong to a tracker. */
const TABLES = ['claims', 'parked', 'outbox', 'workspaces', 'spent', 'watches', 'approvals', 'runs'] as const;

/** Notes the names of the tracker, adopts what has none yet, and counts what belongs to others. */
export function enterTracker(db: Sqlite, { identity, configured, label }: TrackerNames): readonly ForeignRecords[] {
  return db.transaction(() => {
    db.run('INSERT INTO trackers VALUES (?, ?) ON CONFLICT DO UPDATE SET label = excluded.label', identity, label);
    db.run(
      'INSERT INTO tracker_names VALUES (?, ?) ON CONFLICT DO UPDATE SET identity = excluded.identity',
      configured,
      identity,
    );
    adoptNameless(db, identity);
    return foreignRecords(db, identity);
  });
}

/** What an older version stored belongs to the first tracker that asks for it. */
export function adoptNameless(db: Sqlite, identity: string): string {
  for (const table of TABLES) db.run(`UPDATE OR IGNORE ${table} SET tracker = ? WHERE tracker = ''`, identity);
  return identity;
}

/** The identity that a tracker was found to have, by the name it is configured by. A new one has that name itself. */
export function storedIdentity(db: Sqlite, configured: string): string {
  const row = db.get('SELECT identity FROM tracker_names WHERE name = ?', configured);
  return row ? String(row.identity) : configured;
}

/** Lets another name lead to this identity, unless it leads to one already. Says to which it leads. */
export function nameTracker(db: Sqlite, name: string, identity: string): string {
  db.run('INSERT INTO tracker_names VALUES (?, ?) ON CONFLICT DO NOTHING', name, identity);
  return storedIdentity(db, name);
}

function foreignRecords(db: Sqlite, identity: string): readonly ForeignRecords[] {
  const others = db.all("SELECT identity, label FROM trackers WHERE identity <> ? AND identity <> '' ORDER BY rowid", identity);
  return others.map((other) => recordsOf(db, String(other.identity), String(other.label))).filter(holdsAny);
}

function recordsOf(db: Sqlite, identity: string, label: string): ForeignRecords {
  const count = (from: string) => Number(db.get(`SELECT count(*) AS n FROM ${from} AND tracker = ?`, identity)?.n);
  return {
    identity,
    label,
    claims: count("claims WHERE phase <> 'waiting'"),
    retries: count("claims WHERE phase = 'waiting'"),
    parked: count('parked WHERE true'),
    outbox: count('outbox WHERE true'),
    watches: count('watches WHERE true'),
    workspaces: count('workspaces WHERE true'),
  };
}

function holdsAny(records: ForeignRecords): boolean {
  return Object.values(records).some((value) => typeof value === 'number' && value > 0);
}
