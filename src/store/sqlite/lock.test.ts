import { readdirSync, rmSync, symlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTHING_DURABLE } from '../../ports/store.ts';
import { StoreError } from '../errors.ts';
import { isLockTaken } from './lock.ts';
import { openStore } from './open.ts';
import { openSqlite } from './sqlite.ts';
import { anOwner, CLOCK, makeFolder, TRACKER } from '../../../test/support/store/database.ts';
import { bundle, start } from '../../../test/support/store/process.ts';
import type { TestProcess } from '../../../test/support/store/process.ts';

/** A daemon as far as the database can tell: opens it, says so and stays until it is killed. */
const DAEMON = `
import { writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { openStore } from './open.ts';
const owner = { id: 'first', pid: process.pid, host: hostname(), workflowPath: '/flows/FIRST.md' };
try {
  await openStore({ path: process.argv[2], owner, clock: { now: () => Date.UTC(2026, 5, 7, 8, 9, 10) } });
  // Nothing refers to the store any more: the garbage collector must not take the lock with it.
  await new Promise(setImmediate);
  globalThis.gc();
  await new Promise(setImmediate);
  writeSync(1, 'open\\n');
  setInterval(() => {}, 1000);
} catch (error) {
  writeSync(1, error.message + '\\n');
}
`;

const folder = makeFolder();
const place = { program: '' };
beforeAll(async () => {
  place.program = await bundle(DAEMON, folder.path);
});
afterAll(() => folder.remove());

const open = (path: string) => openStore({ path, owner: anOwner({ id: 'second' }), clock: CLOCK });
const refusal = (path: string) =>
  open(path).then(
    () => expect.fail('the second daemon was let in'),
    (error: unknown) => error as StoreError,
  );

async function withDaemon(path: string, work: (daemon: TestProcess) => Promise<void>): Promise<void> {
  const daemon = start(place.program, [path], { execArgv: ['--expose-gc'] });
  try {
    expect((await daemon.lines.next()).value).toBe('open');
    await work(daemon);
  } finally {
    daemon.child.kill('SIGKILL');
    await daemon.exited;
  }
}

describe('one daemon per database', () => {
  it('refuses a second process and names the first, also when it comes by a symbolic link', async () => {
    const link = folder.file('link.db');
    symlinkSync(folder.file('real.db'), link);
    await withDaemon(folder.file('real.db'), async ({ child }) => {
      expect(await isLockTaken(link)).toBe(true);
      const error = await refusal(link);
      expect(error).toBeInstanceOf(StoreError);
      expect(error.kind).toBe('locked');
      expect(error.message).toBe(
        `database ${link}: is in use by another foray (pid ${child.pid} on ${hostname()}, workflow /flows/FIRST.md, ` +
          'started 2026-06-07T08:09:10.000Z): stop that one first, or give this workflow a db_path of its own',
      );
      expect(readdirSync(folder.path).filter((name) => name.startsWith('link'))).toEqual(['link.db']);
    });
  });

  it('lets the next one in right after the first was killed with SIGKILL', async () => {
    const path = folder.file('killed.db');
    for (let round = 0; round < 3; round++) {
      await withDaemon(path, async ({ child }) => {
        child.kill('SIGKILL');
        const next = await open(path);
        expect(await next.load(TRACKER)).toEqual(NOTHING_DURABLE);
        await next.close();
      });
    }
  });

  it('refuses although the lock file was deleted, for the first one still runs', async () => {
    const path = folder.file('unlocked.db');
    await withDaemon(path, async ({ child }) => {
      rmSync(`${path}.lock`);
      expect((await refusal(path)).message).toContain(`pid ${child.pid} on`);
    });
    await (await open(path)).close();
  });

  it('refuses a second store of the same process, and lets it in once the first is closed', async () => {
    const path = folder.file('same.db');
    const first = await openStore({ path, owner: anOwner({ id: 'first' }), clock: CLOCK });
    expect((await refusal(path)).message).toContain(`pid ${process.pid} on ${hostname()}, workflow /flows/WORKFLOW.md`);
    await first.close();
    await first.close();
    await (await open(path)).close();
  });

  it('gives the lock back when the database itself cannot be used', async () => {
    const path = folder.file('newer.db');
    const first = await open(path);
    await first.close();
    const raw = await openSqlite(path);
    raw.exec('INSERT INTO schema_migrations VALUES (99, 0)');
    expect((await refusal(path)).kind).toBe('newer');
    raw.exec('DELETE FROM schema_migrations WHERE version = 99');
    raw.close();
    await (await open(path)).close();
  });
});
