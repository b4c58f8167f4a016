import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RemovalJob } from '../../src/ports/run-queue.ts';
import { createAsk } from '../../src/runners/queue/worker/asking.ts';
import { startWorker } from '../../src/runners/queue/worker/index.ts';
import { openPostgres } from '../../src/store/postgres/connection.ts';
import { tryToLead, type InstanceFacts } from '../../src/store/postgres/leadership.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openRunQueue } from '../../src/store/postgres/run-queue.ts';
import { openWorkerConnection } from '../../src/store/postgres/worker-connection.ts';
import { createStoreWriter } from '../../src/orchestrator/store-writer.ts';
import type { Write } from '../../src/ports/store.ts';
import { createPlayground, fileWorkflow } from '../support/daemon.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { openLink } from './link.ts';
import { createChance } from '../support/random.ts';
import { createLogRecorder } from '../support/workspaces.ts';
import { aParked, CLOCK, TRACKER } from '../support/store/database.ts';

let postgres: TestPostgres;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'foray-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  for (const [keyOut, out] of [
    [key, cert],
    [join(folder, 'other-key.pem'), join(folder, 'other.pem')],
  ] as const) {
    const args = [...request, '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', keyOut, '-out', out];
    execFileSync('openssl', args, { stdio: 'ignore' });
  }
  if (process.getuid?.() === 0) for (const path of [folder, key, cert]) chownSync(path, 65534, 65534);
  postgres = await startPostgres({ settings: { ssl: 'on', ssl_cert_file: cert, ssl_key_file: key } });
});
afterAll(async () => {
  await postgres?.remove();
  await rm(folder, { recursive: true, force: true });
});

const me = (id: string): InstanceFacts => ({
  id,
  host: 'h',
  machine: 'm',
  pid: 1,
  processStart: '',
  workflowPath: '',
  version: '',
  url: null,
});

describe('a connection that breaks', () => {
  it('loses no unit of work and stores none twice, wherever it is cut', async () => {
    const url = await postgres.createDatabase();
    const link = await openLink(postgres.port);
    const db = await openPostgres(link.through(url));
    await migratePostgres(db, 0);
    const leadership = await tryToLead(db, me('a'));
    const store = createPostgresStore(db, { owner: 'a', clock: CLOCK, epoch: leadership?.epoch ?? 0 });
    const writer = createStoreWriter({ store: { apply: (writes) => store.apply(TRACKER, writes) }, onStoreFault: () => {} });
    const chance = createChance(7);
    const units = 40;
    for (let unit = 0; unit < units; unit += 1) {
      if (chance.happens(0.5)) link.cutAtCommit();
      else link.cutAfter(chance.below(900));
      const healing = setTimeout(() => link.heal(), 10);
      const text = `unit ${unit}`;
      const writes: readonly Write[] = [
        { write: 'park', parked: aParked(String(unit)) },
        { write: 'run-events', events: [{ runId: 'r', at: unit, type: 'message', text }], maxBytes: 1_000_000 },
      ];
      await writer.store(writes);
      clearTimeout(healing);
      link.heal();
    }
    const events = await postgres.query('SELECT text FROM foray.run_events ORDER BY seq', url);
    expect(events.map(({ text }) => text)).toEqual(Array.from({ length: units }, (_, unit) => `unit ${unit}`));
    expect(await postgres.query('SELECT count(*)::integer AS n FROM foray.parked', url)).toEqual([{ n: units }]);
    await leadership?.leave();
    await db.close();
    await link.close();
  });
});

/** A leader, and the connection of a worker whose way to the server can be cut. */
async function openQueue() {
  const url = await postgres.createDatabase();
  const db = await openPostgres(url);
  await migratePostgres(db, 0);
  const leadership = await tryToLead(db, me('a'));
  const queue = await openRunQueue(url, db, leadership?.epoch ?? 0);
  const link = await openLink(postgres.port);
  const facts = { name: 'w', identity: 'w', labels: [], slots: 1, version: '0.1.0' };
  const connection = await openWorkerConnection(link.through(url), facts);
  await connection.beat({ load: 0, draining: false });
  const look = () => queue.look({ heard: [], answering: [] });
  const workerId = (await look()).workers[0]?.id ?? '';
  const job = { removal: {}, removedDays: 0, markKey: 'k' } as unknown as RemovalJob;
  return {
    queue,
    link,
    connection,
    look,
    give: (id: string) => queue.give([{ id, workerId, job }]),
    async close() {
      await connection.close();
      await queue.close();
      await leadership?.leave();
      await db.close();
      await link.close();
    },
  };
}

describe('a worker whose connection breaks', () => {
  it('gets the answer of the leader that it was taking just then', async () => {
    const { queue, link, connection, look, give, close } = await openQueue();
    await give('r');
    const asked = createAsk(connection, 'r', new AbortController().signal)({ ask: 'state' }, AbortSignal.timeout(20_000));
    await vi.waitUntil(async () => (await look()).requests.length === 1, 30_000);
    link.cutAtCommit();
    await queue.answer((await look()).requests[0]?.id ?? '', { ok: true, value: 'todo' });
    await delay(600);
    link.heal();
    expect(await asked).toEqual({ ok: true, value: 'todo' });
    await close();
  });

  it('at the end of a run goes on to take runs, and waits for what runs when it leaves', async () => {
    const { link, connection, give, close } = await openQueue();
    const worked: string[] = [];
    let finish = (): void => {};
    const taking = await connection.takeJobs(async (id) => {
      worked.push(id);
      if (id === 'long') await new Promise<void>((resolve) => (finish = resolve));
      else link.cut();
    });
    await give('long');
    // Otherwise the cut may take it away on its way here.
    await vi.waitUntil(() => worked.length === 1, 30_000);
    await give('short');
    await vi.waitUntil(() => worked.length === 2, 30_000);
    await delay(500);
    link.heal();
    await give('next');
    await vi.waitUntil(() => worked.length === 3, 30_000);
    link.heal();
    let isDrained = false;
    const drained = taking.drain().then(() => (isDrained = true));
    await delay(300);
    expect(isDrained).toBe(false);
    finish();
    await drained;
    await close();
  });
});

describe('a job that is lost on its way to the worker that took it', () => {
  it('is begun all the same, once, and ends', async () => {
    const { link, connection, look, give, close } = await openQueue();
    const removed: string[] = [];
    const worker = await startWorker({
      connection,
      logger: createLogRecorder(),
      loadNow: () => 0,
      adaptersFor: () => expect.unreachable('there are no runs here'),
      remove: async ({ markKey }) => {
        removed.push(markKey);
        return { removed: true, path: '/w', aside: null };
      },
    });
    link.cutAt('get_job');
    await give('removal-1');
    await delay(2_000);
    link.heal();
    await vi.waitUntil(async () => (await look()).batches.length > 0, 30_000);
    expect((await look()).batches).toMatchObject([{ runId: 'removal-1', messages: [{ removed: { ok: true } }] }]);
    await delay(5_000);
    expect(removed).toEqual(['k']);
    worker.drain();
    await worker.done;
    await close();
  });
});

describe('two that each believe they lead', () => {
  it.each([1, 2, 3, 4])('store nothing under an epoch that is over (seed %i)', async (seed) => {
    const url = await postgres.createDatabase();
    const db = await openPostgres(url);
    await migratePostgres(db, 0);
    const chance = createChance(seed);
    const epochs: { epoch: number; leave(): Promise<void> }[] = [];
    const accepted: { id: string; epoch: number }[] = [];
    for (let step = 0; step < 60; step += 1) {
      if (epochs.length === 0 || chance.happens(0.2)) {
        await epochs.at(-1)?.leave();
        const next = await tryToLead(db, me(`d${step}`));
        if (next !== null) epochs.push(next);
        continue;
      }
      // Old leaders wake up at any moment, several at once, also while the next one begins.
      const tries = Array.from({ length: 3 }, () => chance.pick(epochs));
      await Promise.all(
        tries.map(async (leader, index) => {
          const id = `${step}-${index}`;
          const { epoch } = leader;
          const store = createPostgresStore(db, { owner: 'x', clock: CLOCK, epoch });
          await store.apply(TRACKER, [{ write: 'park', parked: aParked(id) }]).then(
            () => accepted.push({ id, epoch }),
            (error: unknown) => expect(String(error)).toContain('is led by another foray'),
          );
        }),
      );
    }
    const stored = await postgres.query('SELECT issue_id AS id, epoch::integer FROM foray.parked ORDER BY rowid', url);
    expect(stored.map(({ epoch }) => Number(epoch))).toEqual(stored.map(({ epoch }) => Number(epoch)).toSorted((a, b) => a - b));
    expect(new Set(stored.map(({ id, epoch }) => `${String(id)} ${String(epoch)}`))).toEqual(
      new Set(accepted.map(({ id, epoch }) => `${id} ${epoch}`)),
    );
    await epochs.at(-1)?.leave();
    await db.close();
  });
});

describe('a login without a password', () => {
  it('is told with what to do about it, and the command ends at once', async () => {
    const url = await postgres.createDatabase();
    await postgres.query("CREATE ROLE svc LOGIN PASSWORD 'secret'");
    const rules = join(postgres.folder, 'data', 'pg_hba.conf');
    await writeFile(rules, `host all svc all scram-sha-256\n${await readFile(rules, 'utf8')}`);
    await postgres.query('SELECT pg_reload_conf()');
    const ground = await createPlayground();
    await ground.write('WORKFLOW.md', fileWorkflow({ store: 'url: $DATABASE_URL' }));
    const env = { DATABASE_URL: url.replace('postgres@', 'svc@') };
    for (const command of [['status'], ['worker', '--url', '$DATABASE_URL', '--root', ground.path('root')]]) {
      const begun = performance.now();
      const { code, stderr } = await ground.run(command, { env });
      expect(code).toBe(1);
      expect(stderr).toContain('refuses the login (SASL: ');
      expect(stderr).toContain('PGPASSWORD');
      expect(performance.now() - begun).toBeLessThan(30_000);
    }
    await ground.cleanup();
  });
});

describe('TLS', () => {
  it('is used as the address asks, and a certificate that nobody vouches for is refused', async () => {
    const byNumber = await postgres.createDatabase();
    const byName = byNumber.replace('127.0.0.1', 'localhost');
    const tried = async (query: string, address = byName): Promise<unknown> => {
      const db = await openPostgres(`${address}?${query}`);
      try {
        await migratePostgres(db, 0);
        return await db.read(
          (function* () {
            return (yield {
              sql: 'SELECT ssl::text AS ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()',
              values: [],
              wantsRows: true,
            })[0]?.ssl;
          })(),
        );
      } finally {
        await db.close();
      }
    };
    expect(await tried(`sslmode=verify-full&sslrootcert=${join(folder, 'cert.pem')}`)).toBe('true');
    const other = `sslmode=verify-full&sslrootcert=${join(folder, 'other.pem')}`;
    for (const query of ['sslmode=verify-full', other]) {
      await expect(tried(query), query).rejects.toThrow(/has a certificate that is not trusted.*check sslmode and sslrootcert/);
    }
    const named = `sslmode=verify-full&sslrootcert=${join(folder, 'cert.pem')}`;
    expect(await tried(named, byNumber)).toBe('true');
    const elsewhere = await openLink(postgres.port, '127.0.0.2');
    await expect(tried(named, elsewhere.through(byNumber))).rejects.toThrow('has a certificate for another name');
    await elsewhere.close();
    expect(await tried('sslmode=disable')).toBe('false');
  });
});
