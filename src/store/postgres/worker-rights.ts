import { StoreError } from '../errors.ts';
import { all, type Work } from '../records/work.ts';

/** What the role of a worker may do to each table, as docs/workers.md lists it; a column where the right is for columns. */
const NEEDED: readonly (readonly [table: string, right: string, column?: string])[] = [
  ['foray.schema_migrations', 'SELECT'],
  ['foray.worker_hosts', 'SELECT'],
  ['foray.worker_hosts', 'INSERT'],
  ['foray.worker_hosts', 'UPDATE', 'load'],
  ['foray.worker_hosts', 'UPDATE', 'heard_at'],
  ['foray.worker_hosts', 'UPDATE', 'draining'],
  ['foray.worker_hosts', 'DELETE'],
  ['foray.worker_runs', 'SELECT'],
  ['foray.worker_runs', 'UPDATE', 'rowid'],
  ['foray.worker_words', 'INSERT'],
  ['foray.worker_requests', 'SELECT'],
  ['foray.worker_requests', 'INSERT'],
  ['foray.worker_requests', 'DELETE'],
  ['graphile_worker.migrations', 'SELECT'],
  ['graphile_worker._private_tasks', 'SELECT'],
  ['graphile_worker._private_tasks', 'INSERT'],
  ['graphile_worker._private_jobs', 'SELECT'],
  ['graphile_worker._private_jobs', 'UPDATE'],
  ['graphile_worker._private_jobs', 'DELETE'],
  ['graphile_worker._private_job_queues', 'SELECT'],
  ['graphile_worker._private_job_queues', 'UPDATE'],
];

/** Tables that do not exist yet are left to those who make them. */
const TABLES = `SELECT nspname || '.' || relname AS name, pg_class.oid, nspname AS schema
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname IN ('foray', 'graphile_worker')`;

const wanted = NEEDED.map(([table, right, column]) => `('${table}', '${right}', ${column ? `'${column}'` : 'NULL'})`).join(', ');

const MISSING_RIGHTS = `SELECT needed.privilege || coalesce(' (' || needed.col || ')', '') || ' ON ' || needed.name AS missing
  FROM (VALUES ${wanted}) AS needed (name, privilege, col) JOIN (${TABLES}) AS tables ON tables.name = needed.name
  WHERE NOT CASE WHEN needed.col IS NULL THEN has_table_privilege(tables.oid, needed.privilege)
    ELSE has_column_privilege(tables.oid, needed.col, needed.privilege) END`;

const MISSING_USAGE = `SELECT DISTINCT 'USAGE ON SCHEMA ' || schema AS missing FROM (${TABLES}) AS tables
  WHERE NOT has_schema_privilege(schema, 'USAGE')`;

/** Without one the queue looks empty. */
const MISSING_POLICIES = `SELECT 'POLICY ON ' || tables.name AS missing FROM (${TABLES}) AS tables
  WHERE tables.name IN ('graphile_worker._private_tasks', 'graphile_worker._private_jobs', 'graphile_worker._private_job_queues')
    AND row_security_active(tables.oid) AND NOT EXISTS (SELECT FROM pg_policy
      WHERE polrelid = tables.oid AND EXISTS (SELECT FROM unnest(polroles) AS role WHERE role = 0 OR pg_has_role(role, 'USAGE')))`;

/** Refuses a role that could take runs and not say what became of them. */
export function* requireWorkerRights(address: string): Work<void> {
  const missing = [...(yield* all(MISSING_USAGE)), ...(yield* all(MISSING_RIGHTS)), ...(yield* all(MISSING_POLICIES))];
  if (missing.length === 0) return;
  throw lacking(
    address,
    missing.map((row) => String(row['missing'])),
  );
}

/** A role that has none of them is told the first few. */
const MOST_NAMED = 5;

function lacking(address: string, missing: readonly string[]): StoreError {
  const named = missing.slice(0, MOST_NAMED).join(', ');
  const more = missing.length > MOST_NAMED ? ` and ${missing.length - MOST_NAMED} more` : '';
  const what = `lacks rights for a worker (${named}${more})`;
  return new StoreError({
    path: address,
    kind: 'unwritable',
    what,
    remedy: 'grant them to the role of its address, as docs/workers.md lists them',
  });
}
