import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NO_TOKENS } from '../../src/domain/model/agent-event.ts';
import type { Run } from '../../src/domain/model/run.ts';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openPostgres, type Postgres } from '../../src/store/postgres/connection.ts';
import { noteEnding, readEnding } from '../../src/store/postgres/ending.ts';
import { askThroughPostgres } from '../../src/store/postgres/operator.ts';
import { isUpToDate, migratePostgres } from '../../src/store/postgres/migrate.ts';
import { tryToLead, type InstanceFacts, type Leadership } from '../../src/store/postgres/leadership.ts';
import { storeContract } from '../contracts/store.ts';
import { openProcessRecords } from '../../src/store/postgres/processes.ts';
import { waitToLead } from '../../src/app/leader/leading.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { createLogRecorder } from '../support/workspaces.ts';
import { openLink } from './link.ts';
import { aParked, anIssue, CLOCK, fillStore, TRACKER } from '../support/store/database.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres?.remove());

const anInstance = (id: string): InstanceFacts => ({
  id,
  host: 'here',
  machine: 'm',
  pid: process.pid,
  processStart: '',
  workflowPath: '/WORKFLOW.md',
  version: '0',
  url: null,
});

interface Opened {
  readonly db: Postgres;
  readonly leadership: Leadership;
}

async function open(url: string, id: string): Promise<Opened> {
  const db = await openPostgres(url);
  await migratePostgres(db, 0);
  const leadership = await tryToLead(db, anInstance(id));
  if (leadership === null) throw new Error('another one leads');
  return { db, leadership };
}

const storeOf = ({ db, leadership }: Opened) =>
  createPostgresStore(db, { owner: 'instance-1', clock: CLOCK, epoch: leadership.epoch });

async function close({ db, leadership }: Opened): Promise<void> {
  await leadership.leave();
  await db.close();
}

/** The records are those of the other stores, which try more of them. */
const HISTORIES = 15;

storeContract(
  'the PostgreSQL store',
  async () => {
    const url = await postgres.createDatabase();
    let opened = await open(url, 'a');
    return {
      store: storeOf(opened),
      async reopen() {
        await close(opened);
        opened = await open(url, 'a');
        return storeOf(opened);
      },
      cleanup: () => close(opened),
    };
  },
  HISTORIES,
);

describe('the epoch', () => {
  it('lets only the present leader store, and marks every row with it', async () => {
    const url = await postgres.createDatabase();
    const first = await open(url, 'first');
    await fillStore(storeOf(first));
    await first.leadership.leave();
    const second = await open(url, 'second');
    expect(second.leadership.epoch).toBe(first.leadership.epoch + 1);
    await expect(storeOf(first).apply(TRACKER, [{ write: 'park', parked: aParked('9') }])).rejects.toThrow(
      'is led by another foray',
    );
    await storeOf(second).apply(TRACKER, [{ write: 'park', parked: aParked('3') }]);
    expect(await postgres.query('SELECT issue_id, epoch::integer FROM foray.parked ORDER BY rowid', url)).toEqual([
      { issue_id: '2', epoch: first.leadership.epoch },
      { issue_id: '3', epoch: second.leadership.epoch },
    ]);
    await expect(postgres.query('DELETE FROM foray.parked', url)).rejects.toThrow('foray.epoch');
    await first.db.close();
    await close(second);
  });

  it('is not taken from a leader that lives', async () => {
    const url = await postgres.createDatabase();
    const first = await open(url, 'first');
    const db = await openPostgres(url);
    expect(await tryToLead(db, anInstance('second'))).toBeNull();
    await db.close();
    await close(first);
  });
});

const aRunning = (id: string): Run => ({
  id,
  issue: anIssue(id),
  attempt: 0,
  trigger: 'fresh',
  agentKind: 'mock',
  status: 'running',
  startedAt: 1,
  endedAt: null,
  turns: 1,
  sessionId: '',
  workspacePath: '',
  model: null,
  tokens: NO_TOKENS,
  tokensMeasured: true,
  costUsd: null,
  error: null,
});

it('a command carries out what it asked of a leader that left without an answer', async () => {
  const url = await postgres.createDatabase();
  const led = await open(url, 'leader');
  const db = await openPostgres(url);
  const request = { configured: TRACKER, request: { kind: 'pause', reason: 'a holiday' }, by: 'somebody' } as const;
  const asking = askThroughPostgres(db, { ...anInstance('command'), machine: 'another' }, request);
  await expect.poll(() => storeOf(led).takeRequests([TRACKER])).toHaveLength(1);
  await close(led);
  expect(await asking).toMatchObject({ answer: { outcome: 'taken' }, byDaemon: false });
  const next = await open(url, 'next');
  expect((await storeOf(next).load(TRACKER)).operatorPause).toMatchObject({ reason: 'a holiday' });
  expect(await storeOf(next).takeRequests([TRACKER])).toEqual([]);
  await close(next);
  await db.close();
});

describe('what a change of leader cut short', () => {
  it('is known for as long as it may go on elsewhere, to a leader that starts again as well', async () => {
    const opened = await open(await postgres.createDatabase(), 'a');
    const store = storeOf(opened);
    const now = 1_000_000;
    const run = (id: string) => ({ write: 'run', run: aRunning(id) }) as const;
    const changed = (at: number) => opened.db.writeUnder(opened.leadership.epoch, noteEnding(at));
    await store.apply(TRACKER, [run('1')]);
    await changed(now - 45_001);
    await store.apply(TRACKER, [run('2'), { write: 'interrupt-runs', at: now - 5_000 }, run('3')]);
    await store.apply('another', [run('4')]);
    await changed(now - 5_000);
    await store.apply(TRACKER, [run('5')]);
    await changed(now + 9_000);
    expect(await opened.db.read(readEnding(TRACKER, now))).toEqual(
      new Map([
        ['3', now + 40_000],
        ['5', now + 45_000],
      ]),
    );
    await close(opened);
  });
});

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

it('one that stands by tells a fault of the database once, and again when it is another', async () => {
  const url = await postgres.createDatabase();
  const first = await open(url, 'first');
  const link = await openLink(postgres.port);
  const db = await openPostgres(link.through(url));
  const logger = createLogRecorder();
  const told = () => logger.records.map(({ attributes }) => String(attributes['error']));
  const stopped = new AbortController();
  const me = anInstance('second');
  const standing = waitToLead({ db, me }, () => Promise.resolve(me), logger, stopped.signal).catch(() => {});
  link.cut();
  await expect.poll(() => told().length, { timeout: 30_000 }).toBeGreaterThan(0);
  await postgres.query('DROP SCHEMA foray CASCADE', url);
  link.heal();
  await expect.poll(() => told().at(-1), { timeout: 30_000 }).toContain('has lost its tables of foray');
  await delay(2_500);
  expect(told().filter((text, index, all) => text === all[index - 1])).toEqual([]);
  stopped.abort();
  await standing;
  await db.close();
  await link.close();
  await close(first);
});

it('one that stands by does not lead on the tables of a newer version, and says so once', async () => {
  const url = await postgres.createDatabase();
  const first = await open(url, 'first');
  const db = await openPostgres(url);
  const logger = createLogRecorder();
  const me = anInstance('second');
  let looks = 0;
  const look = (): Promise<InstanceFacts> => Promise.resolve(((looks += 1), me));
  const term = waitToLead({ db, me }, look, logger, new AbortController().signal);
  await postgres.query('INSERT INTO foray.schema_migrations SELECT max(version) + 1, 1 FROM foray.schema_migrations', url);
  await first.leadership.leave();
  await expect.poll(() => logger.records.length, { timeout: 30_000 }).toBeGreaterThan(0);
  const before = looks;
  await expect.poll(() => looks, { timeout: 30_000 }).toBeGreaterThan(before + 1);
  expect(logger.records).toMatchObject([
    {
      level: 'error',
      message: 'not leading, the database is of a newer version',
      attributes: { error: expect.stringContaining('upgrade foray') as string },
    },
  ]);
  await postgres.query('DELETE FROM foray.schema_migrations WHERE applied_at = 1', url);
  const { leadership } = await term;
  await close({ db, leadership });
  await first.db.close();
});

it('services that start together on a role that prefers serializable transactions make the tables once', async () => {
  const url = await postgres.createDatabase();
  await postgres.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation TO 'serializable'`);
  const all = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)));
  await Promise.all(all.map((db) => migratePostgres(db, 0)));
  for (const db of all) await db.close();
});

it('a database that cannot keep every letter is refused, with what to do', async () => {
  for (const encoding of ['LATIN1', 'SQL_ASCII', 'UTF8']) {
    const name = `in_${encoding.toLowerCase()}`;
    await postgres.query(`CREATE DATABASE ${name} WITH ENCODING '${encoding}' TEMPLATE template0`);
    const db = await openPostgres(`postgres://postgres@127.0.0.1:${postgres.port}/${name}`);
    const refusal = /keeps its text in LATIN1, which lacks letters.*: make a database WITH ENCODING 'UTF8'/;
    if (encoding === 'LATIN1') {
      await expect(migratePostgres(db, 0)).rejects.toThrow(refusal);
      await expect(isUpToDate(db)).rejects.toThrow(refusal);
    } else {
      await migratePostgres(db, 0);
      expect(await isUpToDate(db)).toBe(true);
    }
    await db.close();
  }
});

describe('two daemons whose hosts have one name, and which have one pid', () => {
  it.each([
    ['on one machine', 'm', 0, 0],
    ['on two machines', 'another', 30_000, 45_000],
  ])('%s: what the lost leader ran begins again when it is surely over', async (_where, machine, atLeast, atMost) => {
    const url = await postgres.createDatabase();
    const first = await open(url, 'first');
    // Gone without taking leave, some time ago.
    first.leadership.overtaken();
    await postgres.query('UPDATE foray.leader SET renewed_at = renewed_at - 4000', url);
    const db = await openPostgres(url);
    const me = { ...anInstance('second'), machine };
    const { leadership, resumeDelayMs } = await waitToLead(
      { db, me },
      () => Promise.resolve(me),
      SILENT,
      AbortSignal.timeout(20_000),
    );
    expect(resumeDelayMs).toBeGreaterThanOrEqual(atLeast);
    expect(resumeDelayMs).toBeLessThanOrEqual(atMost);
    await leadership.leave();
    await db.close();
    await first.db.close();
  });

  it('know which processes are on their own machine', async () => {
    const first = await open(await postgres.createDatabase(), 'first');
    const { db } = first;
    const recordsOf = (machine: string, instance: string) => openProcessRecords(db, { machine, instance });
    const written = [await recordsOf('m', 'a'), await recordsOf('another', 'b')];
    for (const [index, records] of written.entries()) records.started(process.pid, `run-${index}`);
    await expect
      .poll(async () => (await recordsOf('m', 'next')).leftovers().map(({ owner }) => owner), { timeout: 30_000 })
      .toEqual(['run-0']);
    await expect
      .poll(async () => (await recordsOf('another', 'next')).leftovers().map(({ owner }) => owner), { timeout: 30_000 })
      .toEqual(['run-1']);
    expect((await recordsOf('third', 'next')).leftovers()).toEqual([]);
    for (const records of written) records.stop();
    await close(first);
  });
});
