import { createHash } from 'node:crypto';
import { StoreError } from '../errors.ts';
import { all, get, run, type Row, type SqlValue, type Work } from '../records/work.ts';
import type { Sqlite } from '../sqlite/sqlite.ts';

/** One table that was moved. */
export interface ImportedTable {
  readonly table: string;
  readonly rows: number;
  /** Of all its rows in their order, the same on both sides. */
  readonly digest: string;
}

/** What belongs to one start of one daemon, and what each database says of itself. */
const LEFT_BEHIND: ReadonlySet<string> = new Set(['instance', 'processes', 'schema_migrations']);
/** Made with the schema, one row each: replaced by what comes. */
const MADE_WITH_SCHEMA: ReadonlySet<string> = new Set(['workspace_key', 'forgotten_runs']);
const PAGE = 500;

/** Copies every table and compares both sides, as one unit of work: whatever differs undoes all of it. */
export function* importAll(source: Sqlite, epoch: number, address: string): Work<readonly ImportedTable[]> {
  yield* run("SELECT set_config('foray.epoch', ?, true)", String(epoch));
  const tables = tablesOf(source);
  yield* refuseUsed(tables, address);
  const moved: ImportedTable[] = [];
  for (const table of tables) {
    const columns = columnsOf(source, table);
    yield* run(`DELETE FROM ${table}`);
    const here = yield* copyTable(source, table, columns);
    const there = yield* targetDigest(table, columns);
    if (here.rows !== there.rows || here.digest !== there.digest) throw differs(address, table, here, there);
    moved.push({ table, ...here });
  }
  yield* continueCounting();
  yield* get('SELECT require_epoch(?) AS id', epoch);
  return moved;
}

/** The records of another database are never mixed with these. */
function* refuseUsed(tables: readonly string[], address: string): Work<void> {
  for (const table of tables) {
    if (MADE_WITH_SCHEMA.has(table)) continue;
    if ((yield* all(`SELECT 1 AS one FROM ${table} LIMIT 1`)).length === 0) continue;
    const remedy = 'give an empty database, or drop the schema foray of this one if nobody needs it';
    throw new StoreError({ path: address, kind: 'failed', what: `has records already (table ${table})`, remedy });
  }
}

function tablesOf(source: Sqlite): readonly string[] {
  const rows = source.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name");
  return rows.map(({ name }) => String(name)).filter((name) => !LEFT_BEHIND.has(name));
}

function columnsOf(source: Sqlite, table: string): readonly string[] {
  return source.all(`SELECT name FROM pragma_table_info('${table}') ORDER BY cid`).map(({ name }) => String(name));
}

type Values = readonly SqlValue[];

/** All rows in the order of their insertion, some at a time. */
function* pagesOf(source: Sqlite, table: string, columns: readonly string[]): Generator<readonly Values[]> {
  const sql = `SELECT rowid AS row_number, ${columns.join(', ')} FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT ${PAGE}`;
  for (let last = -1; ;) {
    const rows = source.all(sql, last);
    if (rows.length === 0) return;
    last = Number(rows.at(-1)?.row_number);
    yield rows.map((row) => valuesOf(row, columns));
  }
}

function valuesOf(row: Row, columns: readonly string[]): Values {
  return columns.map((column) => row[column] ?? null);
}

function* insertPage(table: string, columns: readonly string[], rows: readonly Values[]): Work<void> {
  const marks = `(${columns.map(() => '?').join(', ')})`;
  const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => marks).join(', ')}`;
  // Waited for, so that a large database does not pile up in memory.
  yield { sql: `${sql} RETURNING 1 AS one`, values: rows.flat(), wantsRows: true };
}

interface Compared {
  readonly rows: number;
  readonly digest: string;
}

/** Sums up what comes by, page after page. */
function createSum() {
  const hash = createHash('sha256');
  let count = 0;
  return {
    add(rows: readonly Values[]): void {
      for (const row of rows) hash.update(`${JSON.stringify(row)}\n`);
      count += rows.length;
    },
    end: (): Compared => ({ rows: count, digest: hash.digest('hex') }),
  };
}

/** Summed up on the way: the server ends a unit of work that stands still for long. */
function* copyTable(source: Sqlite, table: string, columns: readonly string[]): Work<Compared> {
  const sum = createSum();
  for (const page of pagesOf(source, table, columns)) {
    yield* insertPage(table, columns, page);
    sum.add(page);
  }
  return sum.end();
}

/** The same of what the server gives back, by a cursor: rows are in no index by their order. */
function* targetDigest(table: string, columns: readonly string[]): Work<Compared> {
  const sum = createSum();
  yield* run(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${columns.join(', ')} FROM ${table} ORDER BY rowid`);
  for (;;) {
    const rows = yield* all(`FETCH ${PAGE} FROM copied`);
    if (rows.length === 0) break;
    sum.add(rows.map((row) => valuesOf(row, columns)));
  }
  yield* run('CLOSE copied');
  return sum.end();
}

/** New rows are numbered after the ones that came. */
function* continueCounting(): Work<void> {
  const counted = yield* all(
    "SELECT table_name AS name, column_name AS key FROM information_schema.columns WHERE table_schema = 'foray' AND identity_generation = 'BY DEFAULT'",
  );
  for (const { name, key } of counted) {
    const next = `(SELECT coalesce(max(${key}), 0) + 1 FROM ${name})`;
    yield* run(`SELECT setval(pg_get_serial_sequence('foray.${name}', '${key}'), ${next}, false)`);
  }
}

function differs(address: string, table: string, here: Compared, there: Compared): StoreError {
  const what = `got ${there.rows} rows of table ${table} where the file has ${here.rows}, or other ones`;
  const remedy = 'nothing was changed; please report this with the version of the server';
  return new StoreError({ path: address, kind: 'failed', what, remedy });
}
