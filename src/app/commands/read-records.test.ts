import { expect, it, onTestFinished } from 'vitest';
import { anOwner, CLOCK, makeFolder } from '../../../test/support/store/database.ts';
import { openStore } from '../../store/sqlite/open.ts';
import { withRecords, type Records } from './read-records.ts';

const NOBODY = { settings: null, path: '/flows/WORKFLOW.md' };

it('records are closed also where they could not be read', async () => {
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  const database = { dbPath: folder.file('foray.db'), storeUrl: null };
  const store = await openStore({ path: database.dbPath, owner: anOwner(), clock: CLOCK });
  await store.close();
  const opened: (Records | null)[] = [];
  const read = withRecords(database, NOBODY, async (records) => {
    opened.push(records);
    expect(await records?.listRuns({ limit: 1 })).toEqual([]);
    throw new Error('a record is damaged');
  });
  await expect(read).rejects.toThrow('a record is damaged');
  await expect(opened[0]?.listRuns({ limit: 1 })).rejects.toThrow(database.dbPath);
});

it('there are none before the first start', async () => {
  expect(await withRecords({ dbPath: '/nowhere/foray.db', storeUrl: null }, NOBODY, (records) => records)).toBeNull();
});
