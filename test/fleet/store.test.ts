import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openPostgres, type Postgres } from '../../src/store/postgres/connection.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { tryToLead, type InstanceFacts, type Leadership } from '../../src/store/postgres/leadership.ts';
import { storeContract } from '../contracts/store.ts';
import { openProcessRecords } from '../../src/store/postgres/processes.ts';
import { waitToLead } from '../../src/app/leading.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { aParked, CLOCK, fillStore, TRACKER } from '../support/store/database.ts';

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

storeContract('the PostgreSQL store', async () => {
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
});

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

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

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
