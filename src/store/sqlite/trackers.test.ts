import { afterAll, expect, it } from 'vitest';
import { aParked, anOwner, CLOCK, makeFolder } from '../../../test/support/store/database.ts';
import { INITIAL } from '../migrations/001-initial.ts';
import { openStore } from './open.ts';
import { askThroughDatabase } from './operator.ts';
import { openStoreReadOnly } from './read-only.ts';
import { openSqlite } from './sqlite.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const names = (identity: string) => ({ identity, configured: identity, label: identity });

/** A database as the first version left it, with one parked issue. */
async function oldDatabase(name: string): Promise<string> {
  const path = folder.file(name);
  const db = await openSqlite(path);
  db.exec(INITIAL);
  db.exec('CREATE TABLE schema_migrations (version INTEGER PRIMARY KEY, applied_at REAL NOT NULL) STRICT');
  db.exec('INSERT INTO schema_migrations VALUES (1, 0)');
  db.exec(
    "INSERT INTO parked VALUES ('1', 'ABC-1', NULL, 'Title', 'https://tracker.test/1', 'todo', 'blocked', 'waits for a key', 1, 'todo')",
  );
  db.close();
  return path;
}

it('gives what an older version stored to the first tracker that is watched, and to no other', async () => {
  const path = await oldDatabase('old.db');
  const readOnly = await openStoreReadOnly(path);
  expect((await readOnly?.load('first'))?.parked).toEqual([aParked('1')]);
  await readOnly?.close();
  const store = await openStore({ path, owner: anOwner(), clock: CLOCK });
  expect(await store.enter(names('first'))).toEqual([]);
  expect((await store.load('first')).parked).toEqual([aParked('1')]);
  expect(await store.enter(names('second'))).toMatchObject([{ label: 'first', parked: 1 }]);
  expect((await store.load('second')).parked).toEqual([]);
  await store.close();
});

it('finds the tracker of a workflow file by the name that the file uses for it', async () => {
  const path = folder.file('names.db');
  const store = await openStore({ path, owner: anOwner(), clock: CLOCK });
  await store.enter({
    identity: 'nsproject https://gitlab.com 42',
    configured: 'nsproject https://gitlab.com a/b',
    label: 'a/b',
  });
  await store.apply('nsproject https://gitlab.com 42', [{ write: 'park', parked: aParked('1') }]);
  await store.enter(names('other'));
  await store.close();
  const unpark = async (tracker: string | null) =>
    (await askThroughDatabase({ path, tracker }, { kind: 'unpark', identifier: 'ABC-1' }, 'somebody')).answer.outcome;
  expect(await unpark('other')).toBe('unknown');
  await expect(unpark(null)).rejects.toThrow('holds the issues of several trackers');
  expect(await unpark('nsproject https://gitlab.com a/b')).toBe('taken');
});
