import { StoreError } from '../errors.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../migrations/index.ts';
import { all, get, run, type Work } from '../records/work.ts';
import type { Postgres } from './connection.ts';
import { postgresMigration, STAMP_EPOCH } from './dialect.ts';

/** Names the lock under which the schema is changed, among all advisory locks of the database. */
const MIGRATION_LOCK = 4_207_001;

/** Makes the schema `foray` or brings it up to date. Of several daemons that start together, one does it. */
export async function migratePostgres(db: Postgres, now: number): Promise<void> {
  if ((await db.read(versionOfSchema(db.address))) === SCHEMA_VERSION) return;
  await db.write(migrate(db.address, now));
}

/** Whether there are records that this version can read. A schema of an older version is brought up to date by the service. */
export async function isUpToDate(db: Postgres): Promise<boolean> {
  const version = await db.read(versionOfSchema(db.address));
  if (version === 0 || version === SCHEMA_VERSION) return version > 0;
  const remedy = 'restart the service with this version, or use the command of the version that runs';
  throw new StoreError({ path: db.address, kind: 'newer', what: 'is in use by a service of an older version', remedy });
}

/** By the catalogue, which also tells of tables that the role may not use: it then hears that it lacks a right. */
const TABLES =
  "SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'foray' AND relkind IN ('r', 'p', 'v')";

/**
 * 0 where there is no schema yet. Refuses one that this version does not know, that of another program, and a database that
 * cannot keep every text.
 */
export function* versionOfSchema(address: string): Work<number> {
  const encoding = String((yield* get("SELECT current_setting('server_encoding') AS encoding"))?.encoding);
  if (!WHOLE_ENCODINGS.has(encoding)) throw narrow(address, encoding);
  const tables = yield* all(TABLES);
  if (tables.length === 0) return 0;
  if (!tables.some(({ name }) => name === 'schema_migrations')) throw foreign(address);
  const version = Number((yield* get('SELECT max(version) AS version FROM foray.schema_migrations'))?.version ?? 0);
  if (version > SCHEMA_VERSION) throw newer(address, version);
  return version;
}

function* migrate(address: string, now: number): Work<void> {
  yield* run('SELECT pg_advisory_xact_lock(?)', MIGRATION_LOCK);
  const from = yield* versionOfSchema(address);
  if (from === 0) yield* makeSchema();
  yield* run("SELECT set_config('foray.epoch', '0', true)");
  for (const [index, migration] of MIGRATIONS.entries()) {
    const version = index + 1;
    if (version <= from) continue;
    const sql = typeof migration === 'string' ? migration : migration.postgres;
    if (sql !== '') yield* run(postgresMigration(sql));
    yield* run('INSERT INTO schema_migrations (version, applied_at) VALUES (?, ?)', version, now);
  }
}

// A role that may not create schemas can use one that was made for it.
function* makeSchema(): Work<void> {
  const [schema] = yield* all("SELECT 1 AS one FROM pg_namespace WHERE nspname = 'foray'");
  if (schema === undefined) yield* run('CREATE SCHEMA foray');
  yield* run('CREATE TABLE schema_migrations (version BIGINT PRIMARY KEY, applied_at DOUBLE PRECISION NOT NULL)');
  yield* run(STAMP_EPOCH);
}

/** A schema that is to be made and that the role may not make; null where the service could start. `hasQueue`: it needs that of the queue. */
export function* missingSchema(hasQueue: boolean): Work<string | null> {
  const row = yield* get(`SELECT has_database_privilege(current_database(), 'CREATE') AS may,
    EXISTS (SELECT FROM pg_namespace WHERE nspname = 'foray' AND has_schema_privilege(oid, 'CREATE')) AS foray,
    EXISTS (SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = 'graphile_worker' AND relname = 'migrations') AS queue`);
  if (row?.['may'] || (row?.['foray'] && (!hasQueue || row['queue']))) return null;
  return row?.['foray'] ? 'graphile_worker' : 'foray';
}

/** Those that take any letter: as it is, or without a look at it. */
const WHOLE_ENCODINGS: ReadonlySet<string> = new Set(['UTF8', 'SQL_ASCII']);

function narrow(address: string, encoding: string): StoreError {
  const what = `keeps its text in ${encoding}, which lacks letters that issues are written with`;
  const remedy = "make a database WITH ENCODING 'UTF8' TEMPLATE template0 and let store.url name it";
  return new StoreError({ path: address, kind: 'unwritable', what, remedy });
}

function foreign(address: string): StoreError {
  const remedy = 'let store.url name another database';
  return new StoreError({ path: address, kind: 'corrupt', what: 'has a schema foray of another program', remedy });
}

function newer(address: string, version: number): StoreError {
  const what = `was made by a newer version of foray (schema ${version}, this version knows ${SCHEMA_VERSION})`;
  return new StoreError({ path: address, kind: 'newer', what, remedy: 'upgrade foray, or let store.url name another database' });
}
