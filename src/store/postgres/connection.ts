import type { Pool, PoolClient, QueryResult } from 'pg';
import { crashPoint } from '../../lib/crash-point.ts';
import { decode, encode } from '../records/text.ts';
import type { Row, SqlValue, Work } from '../records/work.ts';
import { addressOf, driverAddress } from './address.ts';
import { checkedClient } from './checked-client.ts';
import { numbered } from './dialect.ts';
import { InDoubt, postgresErrorOf, TAKES_NO_WRITES } from './errors.ts';

/** A database on a server. Whatever it throws is a StoreError. */
export interface Postgres {
  /** Where it is, for people. */
  readonly address: string;
  /** Reads one moment of the database. */
  read<T>(work: Work<T>): Promise<T>;
  /** Carries out the work wholly or not at all. */
  write<T>(work: Work<T>): Promise<T>;
  /** The same under an epoch: refused when it is over. */
  writeUnder<T>(epoch: number, work: Work<T>): Promise<T>;
  /** Runs statements that take no values. */
  exec(sql: string): Promise<void>;
  /** A connection of one's own, for what a session holds, such as a lock. */
  session(): Promise<Session>;
  close(): Promise<void>;
}

export interface Session {
  all(sql: string, ...values: SqlValue[]): Promise<readonly Row[]>;
  /** Resolves when the connection is gone, by whatever cause. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

const CONNECT_MS = 5_000;
/** Longer than any statement of ours takes: by then the server or the way to it is gone. */
const ANSWER_MS = 15_000;
const MAX_CONNECTIONS = 6;
const WRITE = 'BEGIN';

/** What is written is made for it: one that waited for another sees what that one did, whatever the role prefers. */
const ISOLATION = 'read committed';
/** A leader that is stopped in the middle of a unit of work keeps the next one waiting no longer than this: it holds its epoch. */
const UNIT_STANDS_STILL = '4s';
const SETUP = `SET search_path TO foray; SET timezone TO 'UTC'; SET default_transaction_isolation TO '${ISOLATION}'; SET idle_in_transaction_session_timeout TO '${UNIT_STANDS_STILL}'`;

/** Opens a pool of connections; none is made before the first use. */
export async function openPostgres(url: string): Promise<Postgres> {
  const address = addressOf(url);
  const { default: pg } = await import('pg');
  const types = new pg.TypeOverrides();
  for (const type of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC]) types.setTypeParser(type, Number);
  const pool = new pg.Pool({
    Client: await checkedClient(),
    connectionString: driverAddress(url),
    types,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    keepAlive: true,
    application_name: 'foray',
    pipeline: true,
  });
  // An idle connection that breaks is replaced at the next use.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.query(SETUP).catch(() => {}));

  const explained = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw postgresErrorOf(address, error);
    }
  };
  const transaction = <T>(begin: string, work: Work<T>, epoch: number | null = null): Promise<T> =>
    explained(() => withClient(pool, (client) => within(client, { address, begin, epoch }, work)));

  return {
    address,
    read: (work) => transaction('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work),
    write: (work) => transaction(WRITE, work),
    writeUnder: (epoch, work) => transaction(WRITE, work, epoch),
    exec: (sql) => explained(() => withClient(pool, async (client) => void (await client.query(sql)))),
    session: () => explained(async () => createSession(await pool.connect(), address)),
    async close() {
      await pool.end().catch(() => {});
    },
  };
}

async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  // What breaks is told by the statements themselves.
  const ignore = (): void => {};
  client.on('error', ignore);
  try {
    const result = await work(client);
    broken = false;
    return result;
  } catch (error) {
    broken = !isServersWord(error);
    throw error;
  } finally {
    client.off('error', ignore);
    client.release(broken);
  }
}

/**
 * The server refused the statement; the connection itself is sound. One that takes no writes (it is no longer the primary)
 * is left: the next connection may lead to the one that does.
 */
function isServersWord(error: unknown): boolean {
  if (!(error instanceof Error) || !('severity' in error) || error.severity !== 'ERROR') return false;
  return !('code' in error) || error.code !== TAKES_NO_WRITES;
}

/** How a transaction is carried out, and on which database. */
interface How {
  readonly address: string;
  readonly begin: string;
  readonly epoch: number | null;
}

/**
 * One transaction. Steps whose rows nobody waits for are sent at once after each other, so that a unit of work takes two
 * rounds to the server however many writes it has. The commit is asked for only when the epoch was confirmed.
 */
async function within<T>(client: PoolClient, how: How, work: Work<T>): Promise<T> {
  const sent: Promise<QueryResult<Row>>[] = [];
  const send = (sql: string, values: readonly SqlValue[] = [], wantsRows = true): Promise<QueryResult<Row>> => {
    const answer = client.query<Row>(values.length === 0 ? sql : queryOf(sql, values, wantsRows));
    answer.catch(() => {});
    sent.push(answer);
    return answer;
  };
  let transactionId: string | null = null;
  let committing = false;
  try {
    void send(how.begin);
    const confirmed = how.epoch === null ? null : send('SELECT require_epoch(?) AS id', [how.epoch]);
    const result = await perform(send, work);
    transactionId = confirmed === null ? null : String((await confirmed).rows[0]?.id);
    await Promise.all(sent);
    if (how.begin === WRITE) crashPoint('before committing');
    committing = true;
    await client.query('COMMIT');
    if (how.begin === WRITE) crashPoint('after committing');
    return result;
  } catch (error) {
    if (committing) throw isServersWord(error) || transactionId === null ? error : new InDoubt(how.address, transactionId, error);
    await client.query('ROLLBACK').catch(() => {});
    throw (await firstFailure(sent)) ?? error;
  }
}

/** The cause: what was sent after a refused statement fails too, for its sake. */
async function firstFailure(sent: readonly Promise<unknown>[]): Promise<unknown> {
  return (await Promise.allSettled(sent)).find((outcome) => outcome.status === 'rejected')?.reason as unknown;
}

/**
 * Statements that give no rows are prepared once for each connection. Those that do are not: while a newer version changes
 * a table, what was prepared for its columns would be refused.
 */
function queryOf(sql: string, values: readonly SqlValue[], wantsRows: boolean) {
  const query = { text: numbered(sql), values: values.map(encode) };
  return wantsRows ? query : { ...query, name: nameOf(sql) };
}

const names = new Map<string, string>();

function nameOf(sql: string): string {
  const known = names.get(sql) ?? `foray_${names.size + 1}`;
  names.set(sql, known);
  return known;
}

async function perform<T>(
  send: (sql: string, values: readonly SqlValue[], wantsRows: boolean) => Promise<QueryResult<Row>>,
  work: Work<T>,
): Promise<T> {
  let step = work.next();
  while (step.done !== true) {
    const { sql, values, wantsRows, read } = step.value;
    const answer = send(sql, values, wantsRows);
    const rows = wantsRows ? (await answer).rows.map(decodeRow) : [];
    step = work.next(read ? (rows.map(read) as Row[]) : rows);
  }
  return step.value;
}

function decodeRow(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, decode(value)]));
}

function createSession(client: PoolClient, address: string): Session {
  let leave = (): void => {};
  let isClosed = false;
  const ended = new Promise<void>((resolve) => {
    leave = resolve;
  });
  client.on('error', () => leave());
  client.on('end', () => leave());
  return {
    ended,
    async all(sql, ...values) {
      try {
        return (await client.query<Row>({ text: numbered(sql), values: values.map(encode) })).rows.map(decodeRow);
      } catch (error) {
        if (!isServersWord(error)) leave();
        throw postgresErrorOf(address, error);
      }
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      client.release(true);
      leave();
    },
  };
}

/** Whether a transaction that was in doubt came true; null while the server is still at it. */
export async function wasCommitted(db: Postgres, transaction: string): Promise<boolean | null> {
  const status = await db.read(statusOf(transaction));
  return status === 'in progress' ? null : status === 'committed';
}

function* statusOf(transaction: string): Work<string> {
  const [row] = yield { sql: 'SELECT pg_xact_status(?::xid8) AS status', values: [transaction], wantsRows: true };
  return String(row?.status);
}
