import { errorText } from '../../lib/error-text.ts';

export type SqlValue = string | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

/** One step on a database, in SQL that both SQLite and PostgreSQL understand; `?` stands for a value. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  /** Whether the work goes on with what it gives; otherwise the next step need not wait for it. */
  readonly wantsRows: boolean;
  /** What each row becomes as it comes, so that thousands are not held twice, as rows and as records. */
  readonly read?: (row: Row) => unknown;
}

/**
 * What is to be done on a database, step by step. It is told once, here, and carried out by each database in its own way:
 * SQLite does a step at once, PostgreSQL when the server has answered.
 */
export type Work<T> = Generator<Statement, T, readonly Row[]>;

export function* run(sql: string, ...values: SqlValue[]): Work<void> {
  yield { sql, values, wantsRows: false };
}

export function* all(sql: string, ...values: SqlValue[]): Work<readonly Row[]> {
  return yield { sql, values, wantsRows: true };
}

/** All, each read as it comes. */
export function* records<T>(read: (row: Row) => T, sql: string, ...values: SqlValue[]): Work<readonly T[]> {
  // Whoever carries a step out hands back what its reader made.
  return (yield { sql, values, wantsRows: true, read }) as unknown as readonly T[];
}

export function* get(sql: string, ...values: SqlValue[]): Work<Row | undefined> {
  return (yield { sql, values, wantsRows: true })[0];
}

/** A row that no record can be made of. */
export class UnreadableRow extends Error {
  constructor(row: string, cause: unknown) {
    super(`${row} cannot be read (${errorText(cause)})`, { cause });
    this.name = 'UnreadableRow';
  }
}
