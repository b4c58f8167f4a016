import { afterAll, expect, it } from 'vitest';
import { openStore } from './open.ts';
import { addUnparkRequest, createOperatorRequests } from './operator-requests.ts';
import { openSqlite } from './sqlite.ts';
import { anOwner, CLOCK, makeFolder } from '../../../test/support/store/database.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

it('hands a request out again when the daemon died before it could act upon it', async () => {
  const path = folder.file('crash.db');
  await (await openStore({ path, owner: anOwner(), clock: CLOCK })).close();
  const db = await openSqlite(path);
  addUnparkRequest(db, 'ABC-1');

  const dies = createOperatorRequests(db);
  expect(dies.take()).toHaveLength(1);

  const next = createOperatorRequests(db);
  expect(next.take()).toEqual([{ kind: 'unpark', identifier: 'ABC-1' }]);
  expect(next.take()).toEqual([]);
  expect(createOperatorRequests(db).take()).toEqual([]);
  db.close();
});
