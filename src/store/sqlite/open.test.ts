import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreError } from '../errors.ts';
import { storeErrorOf } from './errors.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import { openStore } from './open.ts';
import { prepare } from './prepare.ts';
import { createProcessRecords } from './processes.ts';
import { openSqlite } from './sqlite.ts';
import type { Sqlite } from './sqlite.ts';
import { anOwner, CLOCK, fillStore, makeFolder, TRACKER } from '../../../test/support/store/database.ts';
import { bundle, start } from '../../../test/support/store/process.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const open = (path: string) => openStore({ path, owner: anOwner(), clock: CLOCK });

/** A closed database with something in it, in one file. */
async function filledDatabase(name: string): Promise<string> {
  const made = folder.file(`made-for-${name}`);
  const store = await open(made);
  await fillStore(store);
  await store.close();
  const path = folder.file(name);
  copyFileSync(made, path);
  return path;
}

async function edited(name: string, edit: (db: Sqlite) => void): Promise<string> {
  const path = await filledDatabase(name);
  const db = await openSqlite(path);
  edit(db);
  db.close();
  return path;
}

interface Refusal {
  readonly title: string;
  readonly make: () => Promise<string> | string;
  readonly kind: StoreError['kind'];
  readonly says: (path: string) => string | RegExp;
}

const REFUSALS: readonly Refusal[] = [
  {
    title: 'a path that is a directory',
    make() {
      mkdirSync(folder.file('directory.db'));
      return folder.file('directory.db');
    },
    kind: 'unwritable',
    says: (path) => `database ${path}: is a directory: give db_path the name of a file`,
  },
  {
    title: 'a parent that is a file',
    make() {
      writeFileSync(folder.file('file'), '');
      return folder.file('file/x.db');
    },
    kind: 'unwritable',
    says: (path) => `database ${path}: ${folder.file('file')} is not a directory: change db_path`,
  },
  {
    title: 'a parent that does not exist',
    make: () => folder.file('nowhere/x.db'),
    kind: 'unwritable',
    says: (path) => `database ${path}: its directory ${folder.file('nowhere')} does not exist: create it or change db_path`,
  },
  {
    title: 'a file that is no database',
    make() {
      writeFileSync(folder.file('text.db'), 'Dear diary, '.repeat(500));
      return folder.file('text.db');
    },
    kind: 'corrupt',
    says: (path) => `database ${path}: is not a database (file is not a database): move the file away or change db_path`,
  },
  {
    title: 'a damaged page',
    async make() {
      const path = await filledDatabase('damaged.db');
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0xff, 4096 * 3, 4096 * 6));
      return path;
    },
    kind: 'corrupt',
    says: (path) => new RegExp(`^database ${path}: is corrupt \\(.+\\): restore it from a backup, or move it away`, 's'),
  },
  {
    title: 'a file that was cut off',
    async make() {
      const path = await filledDatabase('cut.db');
      truncateSync(path, 4096 * 2 + 100);
      return path;
    },
    kind: 'corrupt',
    says: (path) => new RegExp(`^database ${path}: is corrupt \\(.+\\): restore it`, 's'),
  },
  {
    title: 'a schema of a newer version',
    make: () => edited('newer.db', (db) => db.exec('INSERT INTO schema_migrations VALUES (99, 0)')),
    kind: 'newer',
    says: (path) =>
      `database ${path}: was made by a newer version of foray (schema 99, this version knows ${SCHEMA_VERSION}): upgrade foray, or change db_path`,
  },
  {
    title: 'the database of another program',
    async make() {
      const path = folder.file('other.db');
      const db = await openSqlite(path);
      db.exec('CREATE TABLE songs (title)');
      db.close();
      return path;
    },
    kind: 'corrupt',
    says: (path) => `database ${path}: is a database of another program: change db_path`,
  },
];

describe('opening refuses', () => {
  it.each(REFUSALS)('$title', async ({ make, kind, says }) => {
    const path = await make();
    const error = await open(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).kind).toBe(kind);
    expect((error as StoreError).message).toMatch(says(path));
  });

  it('leaves a database of a newer version as it is', async () => {
    const path = await edited('newer-kept.db', (db) => db.exec('INSERT INTO schema_migrations VALUES (99, 0)'));
    const before = readFileSync(path);
    await expect(open(path)).rejects.toThrow('newer version');
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe('opening without the right to write', () => {
  const OPENER = `
import { writeSync } from 'node:fs';
import { openStore } from './open.ts';
const owner = { id: 'x', pid: process.pid, host: 'h', workflowPath: '/w' };
const report = (text) => writeSync(1, text + '\\n');
await openStore({ path: process.argv[2], owner, clock: { now: () => 1 } }).then(() => report('opened'), (error) => report(error.message));
`;
  const place = { program: '' };
  // Permissions do not bind root, so root's tests ask as nobody.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  beforeAll(async () => {
    chmodSync(folder.path, 0o755);
    place.program = await bundle(OPENER, folder.path);
  });

  it.each([
    [
      'a directory that is read-only',
      0o555,
      0o666,
      (path: string) => `its directory ${path.replace(/\/[^/]+$/, '')} is not writable`,
    ],
    ['a file that is read-only', 0o777, 0o444, () => 'is not writable'],
  ])('refuses %s', async (title, folderMode, fileMode, what) => {
    const path = folder.file(`${title.replaceAll(' ', '-')}/x.db`);
    mkdirSync(path.replace('/x.db', ''));
    copyFileSync(await filledDatabase(`${fileMode}.db`), path);
    chmodSync(path, fileMode);
    chmodSync(path.replace('/x.db', ''), folderMode);
    const opener = start(place.program, [path], nobody);
    const remedy = 'make the file and its directory writable for this user, or change db_path';
    expect((await opener.lines.next()).value).toBe(`database ${path}: ${what(path)}: ${remedy}`);
    await opener.exited;
  });
});

it('a place that takes no file is told with its folder and the remedy', () => {
  const refused = Object.assign(new Error("EROFS: read-only file system, open '/data/x.db.lock'"), { code: 'EROFS' });
  expect(storeErrorOf('/data/x.db.lock', refused)).toMatchObject({
    kind: 'unwritable',
    message: `database /data/x.db.lock: its directory /data takes no file of ours (${refused.message}): make the file and its directory writable for this user, or change db_path`,
  });
});

/** The `synchronous` that outlives a power loss, see https://www.sqlite.org/pragma.html#pragma_synchronous. */
const FULL = 2;

describe('a database that opens', () => {
  it('is made with its migrations on record and in WAL mode', async () => {
    const path = folder.file('fresh.db');
    const store = await open(path);
    const db = await openSqlite(path);
    expect(db.all('SELECT version, applied_at FROM schema_migrations')).toEqual(
      Array.from({ length: SCHEMA_VERSION }, (_, index) => ({ version: index + 1, applied_at: CLOCK.now() })),
    );
    expect(db.get('PRAGMA journal_mode')).toEqual({ journal_mode: 'wal' });
    expect(db.get('PRAGMA foreign_keys')).toEqual({ foreign_keys: 1 });
    db.close();
    await store.close();
    expect(existsSync(`${path}-journal`)).toBe(false);
  });

  it('takes a pause that an earlier version left behind as one that was told', async () => {
    const path = await edited('paused.db', (db) => {
      db.exec('ALTER TABLE forgotten_runs DROP COLUMN unpriced_runs; DROP TABLE told');
      db.exec('DELETE FROM schema_migrations WHERE version > 14; DELETE FROM operator_pause');
      db.exec("INSERT INTO operator_pause VALUES (1, 'a release', 'Ada', 5)");
    });
    const store = await open(path);
    expect((await store.load(TRACKER)).told).toEqual([{ subject: 'pause', what: 'a release' }]);
    await store.close();
  });

  it('is left as it was by an upgrade that fails half way, which can be made again', async () => {
    const path = await edited('half.db', (db) => {
      db.exec('ALTER TABLE forgotten_runs DROP COLUMN unpriced_runs; DROP TABLE told');
      db.exec('DELETE FROM schema_migrations WHERE version > 14; ALTER TABLE operator_pause RENAME TO away');
    });
    await expect(open(path)).rejects.toThrow('operator_pause');
    const db = await openSqlite(path);
    expect(db.get('SELECT max(version) AS version FROM schema_migrations')).toEqual({ version: 14 });
    expect(db.all("SELECT name FROM sqlite_schema WHERE name = 'told'")).toEqual([]);
    db.exec('ALTER TABLE away RENAME TO operator_pause');
    db.close();
    const store = await open(path);
    expect((await store.load(TRACKER)).told).toEqual([]);
    await store.close();
  });

  it('waits for a program that keeps it busy, and tells so once', async () => {
    const path = await filledDatabase('busy.db');
    const other = await openSqlite(path);
    other.exec('BEGIN EXCLUSIVE');
    const told: string[] = [];
    const onBusy = (why: string): void => {
      told.push(why);
      other.exec('COMMIT');
      other.close();
    };
    const store = await openStore({ path, owner: anOwner(), clock: CLOCK, onBusy });
    expect(told).toEqual([expect.stringMatching(/busy\.db: is kept busy by another program .*: close the program/)]);
    await store.close();
  });

  it('gives the claims of an earlier owner to the new one, with a lease', async () => {
    const path = await filledDatabase('adopted.db');
    const store = await openStore({ path, owner: anOwner({ id: 'next' }), clock: CLOCK });
    const db = await openSqlite(path);
    const holds = db.all('SELECT DISTINCT owner, lease_until FROM claims');
    expect(holds).toEqual([{ owner: 'next', lease_until: CLOCK.now() + 60_000 }]);
    db.close();
    await store.close();
  });

  it('has every commit wait for the disk, also after a write that does not, and one of these that failed', async () => {
    const db = await openSqlite(folder.file('durable.db'));
    const waits = () => db.get('PRAGMA synchronous')?.synchronous;
    prepare(db, CLOCK);
    expect(waits()).toBe(FULL);
    const processes = createProcessRecords(db, 'instance-1');
    processes.started(process.pid, 'run-1');
    expect(waits()).toBe(FULL);
    processes.ended(process.pid);
    expect(waits()).toBe(FULL);
    db.exec('DROP TABLE processes');
    expect(() => processes.ended(process.pid)).toThrow('no such table');
    expect(waits()).toBe(FULL);
    db.close();
  });

  it('answers nothing once it is closed', async () => {
    const store = await open(folder.file('closed.db'));
    await store.close();
    await expect(store.ping()).rejects.toThrow(`database ${folder.file('closed.db')}: is closed: open it again`);
    await expect(store.apply(TRACKER, [{ write: 'release', issueId: '1' }])).rejects.toThrow('is closed');
  });
});

describe.runIf(process.getuid !== undefined)('the files of a database', () => {
  const modes = (path: string) =>
    ['', '-wal', '-shm', '.lock'].map((suffix) => (statSync(`${path}${suffix}`).mode & 0o777).toString(8));

  it('are for their owner only, whatever the umask', async () => {
    const before = process.umask(0);
    const store = await open(folder.file('private.db'));
    process.umask(before);
    expect(modes(folder.file('private.db'))).toEqual(['600', '600', '600', '600']);
    await store.close();
  });

  it('become so when an earlier version left them readable', async () => {
    const path = await filledDatabase('readable.db');
    chmodSync(path, 0o644);
    writeFileSync(`${path}.lock`, '', { mode: 0o644 });
    const store = await open(path);
    expect(modes(path)).toEqual(['600', '600', '600', '600']);
    await store.close();
  });
});
