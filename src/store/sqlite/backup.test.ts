import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { anOwner, aParked, CLOCK, fillStore, makeFolder, TRACKER } from '../../../test/support/store/database.ts';
import { backUp } from './backup.ts';
import { openStore } from './open.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const open = (name: string) => openStore({ path: folder.file(name), owner: anOwner(), clock: CLOCK });

describe('a backup', () => {
  it('is whole and of one moment while the daemon writes, and a daemon goes on from it', async () => {
    const store = await open('live.db');
    await fillStore(store);
    let written = 0;
    let over = false;
    const writing = (async () => {
      while (!over) {
        await store.apply(TRACKER, [
          { write: 'park', parked: aParked(`a${written}`) },
          { write: 'park', parked: aParked(`b${written}`) },
        ]);
        written += 1;
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const facts = await backUp(folder.file('live.db'), folder.file('copy.db'));
    over = true;
    await writing;
    expect(facts).toEqual({ bytes: statSync(folder.file('copy.db')).size, runs: 1 });
    expect(statSync(folder.file('copy.db')).mode & 0o777).toBe(0o600);
    await store.apply(TRACKER, [{ write: 'park', parked: aParked('after') }]);
    await store.close();

    copyFileSync(folder.file('copy.db'), folder.file('restored.db'));
    const restored = await open('restored.db');
    const { parked, claims, outbox, watches } = await restored.load(TRACKER);
    const ids = parked.map(({ issue }) => issue.id);
    expect(ids).not.toContain('after');
    expect(ids.filter((id) => id.startsWith('a'))).toHaveLength(ids.filter((id) => id.startsWith('b')).length);
    expect([claims.length, outbox.length, watches.length]).toEqual([1, 1, 1]);
    await restored.close();
  });

  it('overwrites nothing, and leaves nothing behind when it fails', async () => {
    await (await open('quiet.db')).close();
    writeFileSync(folder.file('kept'), 'mine');
    await expect(backUp(folder.file('quiet.db'), folder.file('kept'))).rejects.toThrow(/kept exists already.*another file/);
    expect(readFileSync(folder.file('kept'), 'utf8')).toBe('mine');
    await expect(backUp(folder.file('none.db'), folder.file('new'))).rejects.toThrow(/no database yet/);
    await expect(backUp(folder.file('quiet.db'), folder.file('no-such-folder/new'))).rejects.toThrow(/may write to/);
    writeFileSync(folder.file('broken.db'), 'this is no database at all, whatever its name says');
    await expect(backUp(folder.file('broken.db'), folder.file('new'))).rejects.toThrow(/not a database/);
    expect(existsSync(folder.file('new'))).toBe(false);
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});
