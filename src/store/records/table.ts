import type { z } from 'zod';
import { records, run, UnreadableRow, type Row, type SqlValue, type Work } from './work.ts';

/** One table and how its rows become records. */
export interface Table<In, Out> {
  readonly name: string;
  /** Inserts or replaces. A replaced row keeps its place in the order. */
  put(record: In): Work<void>;
  remove(key: string): Work<void>;
  /** All records in the order of their first insertion. */
  load(): Work<readonly Out[]>;
  /** Reads one row; one that cannot be read is an error that names it, never left out. */
  read(row: Row): Out;
}

/** A table of records that each belong to one tracker. */
export interface TrackerTable<In, Out> {
  readonly name: string;
  put(tracker: string, record: In): Work<void>;
  remove(tracker: string, key: string): Work<void>;
  /** What an older version stored without a tracker is there for each. */
  load(tracker: string): Work<readonly Out[]>;
  /** Those with one of these keys, in no order. */
  find(tracker: string, keys: readonly string[]): Work<Out[]>;
  read(row: Row): Out;
}

export interface TableSpec<In, Input extends Row, Columns, Out> {
  readonly name: string;
  readonly key: string;
  /** Made when the first row is read: to make a schema takes time, and many tables are never read. */
  readonly columns: () => z.ZodType<Columns, Input>;
  /** Always the same columns, in the same order. */
  readonly toRow: (record: In) => NoInfer<Input>;
  readonly fromRow: (columns: Columns) => Out;
}

export function defineTable<In, Input extends Row, Columns, Out>(spec: TableSpec<In, Input, Columns, Out>): Table<In, Out> {
  const { name, key } = spec;
  const read = readerOf(spec);
  const put = putterOf(name, [key], []);
  return {
    name,
    put: (record) => put([], spec.toRow(record)),
    remove: (value) => run(`DELETE FROM ${name} WHERE ${key} = ?`, value),
    load: () => records(read, `SELECT * FROM ${name} ORDER BY rowid`),
    read,
  };
}

export function defineTrackerTable<In, Input extends Row, Columns, Out>(
  spec: TableSpec<In, Input, Columns, Out>,
): TrackerTable<In, Out> {
  const { name, key } = spec;
  const read = readerOf(spec);
  const put = putterOf(name, ['tracker', key], ['tracker']);
  return {
    name,
    put: (tracker, record) => put([tracker], spec.toRow(record)),
    remove: (tracker, value) => run(`DELETE FROM ${name} WHERE tracker = ? AND ${key} = ?`, tracker, value),
    load: (tracker) => records(read, `SELECT * FROM ${name} WHERE tracker IN (?, '') ORDER BY rowid`, tracker),
    *find(tracker, keys) {
      const found: Out[] = [];
      for (let start = 0; start < keys.length; start += KEYS_AT_ONCE) {
        const some = Array.from({ length: KEYS_AT_ONCE }, (_, index) => keys[start + index] ?? keys[start] ?? '');
        const sql = `SELECT * FROM ${name} WHERE tracker IN (?, '') AND ${key} IN (${KEY_MARKS})`;
        found.push(...(yield* records(read, sql, tracker, ...some)));
      }
      return found;
    },
    read,
  };
}

/** Always so many, a key repeated where there are fewer: each text of SQL is kept prepared. */
const KEYS_AT_ONCE = 100;
const KEY_MARKS = Array.from({ length: KEYS_AT_ONCE }, () => '?').join(', ');

function readerOf<In, Input extends Row, Columns, Out>(spec: TableSpec<In, Input, Columns, Out>) {
  return (row: Row): Out => {
    try {
      return spec.fromRow(parseColumns(spec.columns(), row));
    } catch (error) {
      throw new UnreadableRow(`row ${JSON.stringify(row[spec.key])} of table ${spec.name}`, error);
    }
  };
}

type Put = (first: readonly SqlValue[], row: Row) => Work<void>;

/** Rows of one table have the same columns, so the statement is made of the first one. */
function putterOf(table: string, keys: readonly string[], first: readonly string[]): Put {
  let statement: string | null = null;
  return (values, row) => {
    statement ??= putStatement(table, keys, [...first, ...Object.keys(row)]);
    return run(statement, ...values, ...Object.values(row));
  };
}

// Not INSERT OR REPLACE: that would delete the row first and give it a new place.
function putStatement(table: string, keys: readonly string[], columns: readonly string[]): string {
  const values = columns.map(() => '?').join(', ');
  const changes = columns.filter((column) => !keys.includes(column)).map((column) => `${column} = excluded.${column}`);
  const insert = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values})`;
  return `${insert} ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
}

function parseColumns<Columns>(schema: z.ZodType<Columns>, row: Row): Columns {
  const parsed = schema.safeParse(row);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '));
}
