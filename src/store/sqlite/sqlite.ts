import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { StoreError } from '../errors.ts';
import { decode, encode } from '../records/text.ts';
import { UnreadableRow, type Row, type SqlValue, type Work } from '../records/work.ts';
import { storeErrorOf } from './errors.ts';

/** One connection. Whatever it throws is a StoreError. */
export interface Sqlite {
  readonly path: string;
  readonly closed: boolean;
  exec(sql: string): void;
  run(sql: string, ...values: SqlValue[]): void;
  all(sql: string, ...values: SqlValue[]): Row[];
  get(sql: string, ...values: SqlValue[]): Row | undefined;
  /** Carries out work that is told in steps. */
  perform<T>(work: Work<T>): T;
  /** Runs the work wholly or not at all. */
  transaction<T>(work: () => T): T;
  /** Reads one moment of the database, whatever others write meanwhile. */
  snapshot<T>(work: () => T): T;
  close(): void;
}

export interface SqliteOptions {
  readonly readOnly?: boolean;
  /** How long to wait for another connection's lock. */
  readonly busyMs?: number;
  /** What to open where it is not the path, such as a URI. */
  readonly location?: string;
}

/** The part of `node:sqlite` that is used here. */
interface Driver {
  DatabaseSync: new (location: string, options: { readOnly: boolean }) => Database;
}

interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface Statement {
  run(...values: SqlValue[]): unknown;
  all(...values: SqlValue[]): unknown[];
  iterate(...values: SqlValue[]): Iterable<unknown>;
  /** Rows as lists of values, which cost a third of objects. Newer than the oldest `node:sqlite` that is used. */
  setReturnArrays?(lists: boolean): void;
  columns?(): readonly { readonly name: string }[];
}

export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<Sqlite> {
  const { DatabaseSync } = await loadDriver(path);
  try {
    if (!options.readOnly && options.location === undefined) keepPrivate(path);
    const database = new DatabaseSync(options.location ?? path, { readOnly: options.readOnly ?? false });
    database.exec(`PRAGMA busy_timeout = ${options.busyMs ?? 5000}; PRAGMA foreign_keys = ON;`);
    return createConnection(path, database);
  } catch (error) {
    throw storeErrorOf(path, error);
  }
}

/**
 * It holds titles, prompts and what agents said: for its owner only. SQLite gives the files beside it the same mode. One
 * that belongs to somebody else is left as it is.
 */
function keepPrivate(path: string): void {
  // Never opened when it is there: closing a file lets go of every lock that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'wx', OWNER_ONLY));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found && (found.mode & 0o777) !== OWNER_ONLY && found.uid === process.getuid?.()) chmodSync(file, OWNER_ONLY);
  }
}

const OWNER_ONLY = 0o600;

/**
 * The package first: one tested build of SQLite on every Node. Where it has no binary for the platform, Node's own
 * module takes its place.
 */
async function loadDriver(path: string): Promise<Driver> {
  const builtIn: string = 'node:sqlite';
  try {
    // Bundled, a CommonJS package has all of its names under `default`.
    const library: Partial<Driver> & { readonly default?: unknown } = await import('@photostructure/sqlite');
    return (library.DatabaseSync ? library : library.default) as Driver;
  } catch (cause) {
    const what = `there is no SQLite for ${process.platform} ${process.arch} in this version of Node`;
    const missing = new StoreError({ path, kind: 'failed', what, remedy: 'run foray on Node 22.13 or later', cause });
    return (import(builtIn) as Promise<Driver>).catch(() => Promise.reject(missing));
  }
}

function createConnection(path: string, database: Database): Sqlite {
  const statements = new Map<string, Reader>();
  let closed = false;

  const guard = <T>(work: () => T): T => {
    if (closed) throw new StoreError({ path, kind: 'closed', what: 'is closed', remedy: 'open it again' });
    try {
      return work();
    } catch (error) {
      throw storeErrorOf(path, error);
    }
  };
  const prepared = (sql: string): Reader => {
    const known = statements.get(sql) ?? readerOf(database.prepare(sql));
    statements.set(sql, known);
    return known;
  };
  const exec = (sql: string) => guard(() => database.exec(sql));
  const all = (sql: string, ...values: SqlValue[]) => guard(() => prepared(sql).all(values.map(encode)));
  const records = <T>(read: (row: Row) => T, sql: string, ...values: SqlValue[]) =>
    guard(() => prepared(sql).records(read, values.map(encode)));
  const run = (sql: string, ...values: SqlValue[]) => guard(() => prepared(sql).run(values.map(encode)));
  const within = { exec, rollBack: () => rollBack(database) };

  return {
    path,
    get closed() {
      return closed;
    },
    exec,
    all,
    run,
    perform: (work) => explained(path, () => perform(work, { run, all, records })),
    get: (sql, ...values) => all(sql, ...values)[0],
    transaction: (work) => inTransaction(within, 'BEGIN IMMEDIATE', work),
    snapshot: (work) => inTransaction(within, 'BEGIN', work),
    close() {
      if (closed) return;
      closed = true;
      // The package finalizes statements only with the garbage collector: until then the files stay open, but unlocked.
      statements.clear();
      database.close();
    },
  };
}

interface Steps {
  readonly run: (sql: string, ...values: SqlValue[]) => void;
  readonly all: (sql: string, ...values: SqlValue[]) => Row[];
  readonly records: <T>(read: (row: Row) => T, sql: string, ...values: SqlValue[]) => T[];
}

/** Carries out work step by step, and hands each statement's rows back to it. */
function perform<T>(work: Work<T>, steps: Steps): T {
  let step = work.next();
  while (step.done !== true) {
    const { sql, values, wantsRows, read } = step.value;
    if (read) step = work.next(steps.records(read, sql, ...values) as Row[]);
    else step = work.next(wantsRows ? steps.all(sql, ...values) : (steps.run(sql, ...values), NO_ROWS));
  }
  return step.value;
}

interface TransactionParts {
  readonly exec: (sql: string) => void;
  readonly rollBack: () => void;
}

/** Runs the work between the beginning and a commit; where either fails, nothing of it stays. */
function inTransaction<T>(parts: TransactionParts, begin: string, work: () => T): T {
  parts.exec(begin);
  try {
    const result = work();
    parts.exec('COMMIT');
    return result;
  } catch (error) {
    parts.rollBack();
    throw error;
  }
}

// SQLite itself ends the transaction on some errors (a full disk); then there is nothing left to undo.
function rollBack(database: Database): void {
  try {
    database.exec('ROLLBACK');
  } catch {}
}

const NO_ROWS: readonly Row[] = [];

/** A prepared statement. */
interface Reader {
  run(values: readonly SqlValue[]): void;
  all(values: readonly SqlValue[]): Row[];
  records<T>(read: (row: Row) => T, values: readonly SqlValue[]): T[];
}

function readerOf(statement: Statement): Reader {
  const columns = statement.setReturnArrays ? (statement.columns?.() ?? []).map(({ name }) => name) : [];
  const inLists = columns.length > 0;
  if (inLists) statement.setReturnArrays?.(true);
  const toRow = inLists
    ? (list: unknown) => rowOf(columns, list as SqlValue[])
    : (row: unknown) => rowOf(Object.keys(row as Row), Object.values(row as Row));
  return {
    run: (values) => void statement.run(...values),
    all: (values) => statement.all(...values).map(toRow),
    records: (read, values) => Array.from(statement.iterate(...values), (found) => read(toRow(found))),
  };
}

function rowOf(columns: readonly string[], values: readonly SqlValue[]): Row {
  const row: Record<string, SqlValue> = {};
  // Counted, as a restart reads thousands: pairs of index and column cost as much as the row.
  for (let index = 0; index < columns.length; index += 1) row[columns[index] ?? ''] = decode(values[index] ?? null);
  return row;
}

/** A row that cannot be read is told with the place of the database. */
function explained<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof UnreadableRow ? storeErrorOf(path, error) : error;
  }
}
