import type { Pool } from 'pg';
import { driverAddress } from './address.ts';
import { checkedClient } from './checked-client.ts';

/** By the clock of the database, which all hosts share. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';

/** The jobs of one worker: nobody else takes them. */
export function taskOf(workerId: string): string {
  return `foray run ${workerId}`;
}

const CONNECT_MS = 5_000;
/** Longer than any statement of the queue takes: by then the server or the way to it is gone. */
const ANSWER_MS = 20_000;
/** Nobody waits longer for what a process that was stopped has locked. */
const STANDS_STILL_MS = 4_000;

/** Connections of the job queue, which keeps its tables in a schema of its own. */
export async function openJobPool(url: string, max = 4): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    Client: await checkedClient(),
    connectionString: driverAddress(url),
    max,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: ANSWER_MS,
    idle_in_transaction_session_timeout: STANDS_STILL_MS,
    keepAlive: true,
    application_name: 'foray jobs',
  });
  // A connection that breaks is replaced at the next use.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** The queue itself. Bundled, a library of this kind has nothing but its default export. */
export async function jobLibrary() {
  return (await import('graphile-worker')).default;
}

/** What the queue has to tell of itself, we tell in our own words. */
export async function silentLogger() {
  const { Logger } = await jobLibrary();
  return new Logger(() => () => {});
}
