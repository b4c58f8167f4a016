import { crashPoint } from '../../lib/crash-point.ts';
import type { Clock } from '../../ports/runtime.ts';
import { StoreError } from '../errors.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../migrations/index.ts';
import type { Sqlite } from './sqlite.ts';

export { SCHEMA_VERSION };

/** Brings the schema up to date, each step in a transaction of its own. */
export function migrateSqlite(db: Sqlite, clock: Clock): void {
  const from = schemaVersion(db);
  for (const [index, migration] of MIGRATIONS.entries()) {
    const version = index + 1;
    const sql = typeof migration === 'string' ? migration : migration.sqlite;
    if (version > from) step(db, version, sql, clock.now());
  }
}

function step(db: Sqlite, version: number, sql: string, now: number): void {
  db.transaction(() => {
    db.exec('CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER PRIMARY KEY, applied_at REAL NOT NULL) STRICT');
    db.exec(sql);
    crashPoint(`within migration ${version}`);
    db.run('INSERT INTO schema_migrations (version, applied_at) VALUES (?, ?)', version, now);
    crashPoint(`before committing migration ${version}`);
  });
  crashPoint(`after migration ${version}`);
}

/** 0 for an empty file. Refuses a schema that this version does not know, and the database of another program. */
export function schemaVersion(db: Sqlite): number {
  const tables = db.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  if (tables.length === 0) return 0;
  if (!tables.some((table) => table.name === 'schema_migrations')) throw foreign(db.path);
  const version = Number(db.get('SELECT max(version) AS version FROM schema_migrations')?.version ?? 0);
  if (version > SCHEMA_VERSION) throw newer(db.path, version);
  return version;
}

function foreign(path: string): StoreError {
  return new StoreError({ path, kind: 'corrupt', what: 'is a database of another program', remedy: 'change db_path' });
}

function newer(path: string, version: number): StoreError {
  const what = `was made by a newer version of foray (schema ${version}, this version knows ${SCHEMA_VERSION})`;
  return new StoreError({ path, kind: 'newer', what, remedy: 'upgrade foray, or change db_path' });
}
