import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { openStore } from './open.ts';
import { openStoreReadOnly } from './read-only.ts';
import { openSqlite } from './sqlite.ts';
import { anOwner, aParked, CLOCK, fillStore, makeFolder, TRACKER } from '../../../test/support/store/database.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const open = (path: string) => openStore({ path, owner: anOwner(), clock: CLOCK });

/** Every file beside the database and what is in it, but for the index of the WAL, which is no content. */
function contents(path: string): Record<string, string> {
  const directory = join(path, '..');
  const names = readdirSync(directory).filter((name) => !name.endsWith('-shm'));
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(directory, name)).toString('base64')]));
}

function namesBeside(path: string): string[] {
  return readdirSync(join(path, '..')).toSorted();
}

/** Copies the named parts of a database that is in use: what a crash at this moment would leave behind. */
function leftBehind(path: string, name: string, parts: readonly string[]): string {
  mkdirSync(folder.file(name));
  const left = folder.file(`${name}/.foray.db`);
  for (const part of parts) copyFileSync(`${path}${part}`, `${left}${part}`);
  return left;
}

/** Reads and closes: who is parked, and whether anything changed on the disk. */
async function readOnce(path: string): Promise<{ parked: string[] | undefined; untouched: boolean }> {
  const [before, names] = [contents(path), namesBeside(path)];
  const store = await openStoreReadOnly(path);
  const durable = await store?.load(TRACKER);
  const during = contents(path);
  await store?.close();
  const untouched =
    [during, contents(path)].every((now) => isDeepStrictEqual(now, before)) && isDeepStrictEqual(namesBeside(path), names);
  return { parked: durable?.parked.map((entry) => entry.issue.id), untouched };
}

describe('reading for a dry run', () => {
  it('finds nothing where there is no database, and makes none', async () => {
    mkdirSync(folder.file('empty'));
    expect(await openStoreReadOnly(folder.file('empty/.foray.db'))).toBeNull();
    expect(readdirSync(folder.file('empty'))).toEqual([]);
  });

  it.each([
    ['that was closed, the file alone', ['']],
    ['that was killed, with all its files', ['', '-wal', '-shm']],
    ['that was killed, its -shm file lost', ['', '-wal']],
  ])('reads a database %s', async (title, parts) => {
    mkdirSync(folder.file(`of ${title}`));
    const path = folder.file(`of ${title}/.foray.db`);
    const store = await open(path);
    await fillStore(store);
    if (!parts.includes('-wal')) await store.close();
    const left = leftBehind(path, title, parts);
    await store.close();
    expect(await readOnce(left)).toEqual({ parked: ['2'], untouched: true });
  });

  it('reads beside a daemon at work, as of the moment of each load', async () => {
    mkdirSync(folder.file('live'));
    const path = folder.file('live/.foray.db');
    const store = await open(path);
    await fillStore(store);
    expect(await readOnce(path)).toEqual({ parked: ['2'], untouched: true });
    const reader = await openStoreReadOnly(path);
    await store.apply(TRACKER, [{ write: 'park', parked: aParked('3') }]);
    expect((await reader?.load(TRACKER))?.parked.map((entry) => entry.issue.id)).toEqual(['2', '3']);
    await reader?.close();
    await store.close();
  });

  it('reads a database that was not brought up to date yet', async () => {
    mkdirSync(folder.file('older'));
    writeFileSync(folder.file('older/.foray.db'), '');
    expect(await readOnce(folder.file('older/.foray.db'))).toEqual({ parked: [], untouched: true });
  });

  it.each([
    ['a newer version', 'INSERT INTO schema_migrations VALUES (99, 0)', 'made by a newer version'],
    ['another program', 'DROP TABLE schema_migrations', 'is a database of another program'],
  ])('refuses a database of %s', async (title, sql, says) => {
    const path = folder.file(`${title}.db`);
    await (await open(path)).close();
    const db = await openSqlite(path);
    db.exec(sql);
    await expect(openStoreReadOnly(path)).rejects.toThrow(says);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    await expect(openStoreReadOnly(path)).rejects.toThrow(says);
    db.close();
  });

  it('refuses a file that is no database', async () => {
    writeFileSync(folder.file('text.db'), 'Dear diary, '.repeat(500));
    await expect(openStoreReadOnly(folder.file('text.db'))).rejects.toThrow(
      `database ${folder.file('text.db')}: is not a database`,
    );
  });
});
