import { afterAll, describe, expect, it } from 'vitest';
import { StoreError } from '../errors.ts';
import { openStore } from './open.ts';
import { records, UnreadableRow, type Row } from '../records/work.ts';
import { openSqlite } from './sqlite.ts';
import { anOwner, CLOCK, fillStore, makeFolder, TRACKER } from '../../../test/support/store/database.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

/** Each breaks one row so that no record can be made of it. */
const BREAKAGES: readonly { table: string; key: string; sql: string; says: string }[] = [
  { table: 'claims', key: '"1"', sql: "UPDATE claims SET phase = 'dancing'", says: 'phase: ' },
  { table: 'claims', key: '"1"', sql: "UPDATE claims SET reaction = '{'", says: 'reaction: ' },
  {
    table: 'claims',
    key: '"1"',
    sql: 'UPDATE claims SET reaction = \'{"mergeConflict":{}}\'',
    says: 'reaction.mergeConflict.prNumber: ',
  },
  {
    table: 'claims',
    key: '"1"',
    sql: 'UPDATE claims SET trigger = NULL',
    says: 'trigger: a waiting claim needs a trigger or a handoff',
  },
  { table: 'claims', key: '"1"', sql: 'UPDATE claims SET due_at = NULL', says: 'due_at: ' },
  { table: 'parked', key: '"2"', sql: "UPDATE parked SET reason = 'bored'", says: 'reason: ' },
  { table: 'outbox', key: '"o1"', sql: "UPDATE outbox SET kind = 'song'", says: 'kind: ' },
  { table: 'watches', key: '"1"', sql: "UPDATE watches SET reactions = '[]'", says: 'reactions: ' },
];

describe('a row that cannot be read is reported with its table and key', () => {
  it.each(BREAKAGES)('$table after $sql', async ({ table, key, sql, says }) => {
    const error = await afterBreaking(sql, (store) => store.load(TRACKER));
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).kind).toBe('unreadable-row');
    expect((error as StoreError).message).toContain(`: row ${key} of table ${table} cannot be read (${says}`);
    expect((error as StoreError).message).toContain('restore the file from a backup, or correct or delete that row');
  });

  it('runs after an unknown status', async () => {
    const error = await afterBreaking("UPDATE runs SET status = 'odd'", (store) => store.listRuns({ limit: 1 }));
    expect((error as StoreError).message).toContain('row "r1" of table runs cannot be read (status: ');
  });
});

it('a reading that breaks off leaves nothing open behind it', async () => {
  const db = await openSqlite(folder.file('broken-off.db'));
  try {
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE things (n INTEGER); INSERT INTO things VALUES (1), (2), (3)');
    const read = (row: Row): number => {
      if (row.n === 2) throw new UnreadableRow('row 2', 'it is odd');
      return Number(row.n);
    };
    const load = () => db.perform(records(read, 'SELECT n FROM things WHERE n <> ? ORDER BY n', 0));
    expect(load).toThrow('row 2 cannot be read (it is odd)');
    expect(db.get('PRAGMA wal_checkpoint(TRUNCATE)'), 'no reader holds the log').toMatchObject({ busy: 0, log: 0 });
    db.run('DELETE FROM things WHERE n = ?', 2);
    expect(load(), 'and the same statement reads from its beginning').toEqual([1, 3]);
  } finally {
    db.close();
  }
});

async function afterBreaking(sql: string, read: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>) {
  const path = folder.file(`${Buffer.from(sql).toString('hex').slice(-40)}.db`);
  const store = await openStore({ path, owner: anOwner(), clock: CLOCK });
  try {
    await fillStore(store);
    const db = await openSqlite(path);
    db.exec(sql);
    db.close();
    return await read(store).catch((error: unknown) => error);
  } finally {
    await store.close();
  }
}

describe('a value that cannot be stored', () => {
  it.each([
    ['a number that is none, in a column', { issueId: '1', sessions: 1, tokens: NaN, costUsd: 0 }],
    ['an endless number, in a column', { issueId: '1', sessions: 1, tokens: 1, costUsd: Infinity }],
    ['a missing field', { issueId: '1', sessions: 1, tokens: 1, costUsd: undefined as unknown as number }],
  ])('%s fails the whole unit of work', async (title, spent) => {
    const store = await openStore({ path: folder.file(`${title}.db`), owner: anOwner(), clock: CLOCK });
    const pause = { agentKind: 'mock', until: 1, reason: '' };
    await expect(
      store.apply(TRACKER, [
        { write: 'pause', pause },
        { write: 'spent', spent },
      ]),
    ).rejects.toThrow(StoreError);
    expect((await store.load(TRACKER)).pauses).toEqual([]);
    await store.apply(TRACKER, [{ write: 'pause', pause }]);
    expect((await store.load(TRACKER)).pauses).toEqual([pause]);
    await store.close();
  });
});
