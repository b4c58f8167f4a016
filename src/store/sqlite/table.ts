import type { z } from 'zod';
import { StoreError } from './errors.ts';
import type { Row, Sqlite } from './sqlite.ts';

/** One table and how its rows become records. */
export interface Table<In, Out> {
  readonly name: string;
  /** Inserts or replaces. A replaced row keeps its place in the order. */
  put(db: Sqlite, record: In): void;
  remove(db: Sqlite, key: string): void;
  /** All records in the order of their first insertion. */
  load(db: Sqlite): Out[];
  /** Reads one row; one that cannot be read is an error that names it, never left out. */
  read(db: Sqlite, row: Row): Out;
}

/** A table of records that each belong to one tracker. */
export interface TrackerTable<In, Out> {
  readonly name: string;
  put(db: Sqlite, tracker: string, record: In): void;
  remove(db: Sqlite, tracker: string, key: string): void;
  /** What an older version stored without a tracker is there for each. */
  load(db: Sqlite, tracker: string): Out[];
}

export interface TableSpec<In, Input extends Row, Columns, Out> {
  readonly name: string;
  readonly key: string;
  readonly columns: z.ZodType<Columns, Input>;
  /** Always the same columns, in the same order. */
  readonly toRow: (record: In) => NoInfer<Input>;
  readonly fromRow: (columns: Columns) => Out;
}

export function defineTable<In, Input extends Row, Columns, Out>(spec: TableSpec<In, Input, Columns, Out>): Table<In, Out> {
  const { name, key } = spec;
  const read = readerOf(spec);
  return {
    name,
    put: (db, record) => putRow(db, name, [key], spec.toRow(record)),
    remove: (db, value) => db.run(`DELETE FROM ${name} WHERE ${key} = ?`, value),
    load: (db) => db.all(`SELECT * FROM ${name} ORDER BY rowid`).map((row) => read(db, row)),
    read,
  };
}

export function defineTrackerTable<In, Input extends Row, Columns, Out>(
  spec: TableSpec<In, Input, Columns, Out>,
): TrackerTable<In, Out> {
  const { name, key } = spec;
  const read = readerOf(spec);
  return {
    name,
    put: (db, tracker, record) => putRow(db, name, ['tracker', key], { tracker, ...spec.toRow(record) }),
    remove: (db, tracker, value) => db.run(`DELETE FROM ${name} WHERE tracker = ? AND ${key} = ?`, tracker, value),
    load: (db, tracker) =>
      db.all(`SELECT * FROM ${name} WHERE tracker IN (?, '') ORDER BY rowid`, tracker).map((row) => read(db, row)),
  };
}

function readerOf<In, Input extends Row, Columns, Out>(spec: TableSpec<In, Input, Columns, Out>) {
  return (db: Sqlite, row: Row): Out => {
    try {
      return spec.fromRow(parseColumns(spec.columns, row));
    } catch (error) {
      throw unreadable(db.path, `row ${JSON.stringify(row[spec.key])} of table ${spec.name}`, error);
    }
  };
}

// Not INSERT OR REPLACE: that would delete the row first and give it a new place.
function putRow(db: Sqlite, table: string, keys: readonly string[], row: Row): void {
  const columns = Object.keys(row);
  const values = columns.map(() => '?').join(', ');
  const changes = columns.filter((column) => !keys.includes(column)).map((column) => `${column} = excluded.${column}`);
  const insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`;
  db.run(`${insert} ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`, ...Object.values(row));
}

function parseColumns<Columns>(schema: z.ZodType<Columns>, row: Row): Columns {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
}

function unreadable(path: string, row: string, error: unknown): StoreError {
  const what = `${row} cannot be read (${error instanceof Error ? error.message : String(error)})`;
  const remedy = 'restore the file from a backup, or correct or delete that row with the sqlite3 program';
  return new StoreError({ path, kind: 'unreadable-row', what, remedy, cause: error });
}
