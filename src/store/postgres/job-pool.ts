import type { Pool } from 'pg';

/** By the clock of the database, which all hosts share. */
export const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';

/** The jobs of one worker: nobody else takes them. */
export function taskOf(workerId: string): string {
  return `foray run ${workerId}`;
}

const CONNECT_MS = 5_000;

/** Connections of the job queue, which keeps its tables in a schema of its own. */
export async function openJobPool(url: string, max = 4): Promise<Pool> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_MS,
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
