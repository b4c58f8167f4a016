import { existsSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { StoreError } from './errors.ts';
import { openStore } from './open.ts';
import { requestUnpark } from './operator.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { anIssue, anOwner, aParked, CLOCK, makeFolder } from '../../../test/support/store/database.ts';

const folder = makeFolder();
afterAll(() => folder.remove());

const open = (path: string) => openStore({ path, owner: anOwner(), clock: CLOCK });

/** A database where `ABC-1` and `ABC-2` are parked and have spent something. */
async function parkedDatabase(name: string): Promise<{ path: string; store: SqliteStore }> {
  const path = folder.file(name);
  const store = await open(path);
  for (const id of ['1', '2']) {
    const spent = { issueId: id, sessions: 3, tokens: 100, costUsd: 1 };
    await store.apply([
      { write: 'park', parked: aParked(id) },
      { write: 'spent', spent },
    ]);
  }
  return { path, store };
}

describe('unparking without a daemon', () => {
  it('releases the issue and gives it its budgets back', async () => {
    const { path, store } = await parkedDatabase('alone.db');
    await store.close();
    expect(await requestUnpark(path, 'ABC-1')).toBe('released');
    const after = await open(path);
    const { parked, spent } = await after.load();
    expect(parked.map((entry) => entry.issue.identifier)).toEqual(['ABC-2']);
    expect(spent.map((entry) => entry.issueId)).toEqual(['2']);
    expect(await after.takeRequests()).toEqual([]);
    await after.close();
  });

  it('takes the identifier in any case', async () => {
    const { path, store } = await parkedDatabase('case.db');
    await store.close();
    expect(await requestUnpark(path, 'abc-1')).toBe('released');
    expect(await requestUnpark(path, 'abc-1')).toBe('not-parked');
  });

  it('prefers the spelling it was given', async () => {
    const { path, store } = await parkedDatabase('exact.db');
    await store.apply([{ write: 'park', parked: { ...aParked('3'), issue: { ...anIssue('3'), identifier: 'abc-2' } } }]);
    await store.close();
    expect(await requestUnpark(path, 'abc-2')).toBe('released');
    const after = await open(path);
    expect((await after.load()).parked.map((entry) => entry.issue.identifier)).toEqual(['ABC-1', 'ABC-2']);
    await after.close();
  });

  it('says when the issue is not parked', async () => {
    const { path, store } = await parkedDatabase('other.db');
    await store.close();
    expect(await requestUnpark(path, 'ABC-9')).toBe('not-parked');
  });

  it('fails where there is no database, and makes none', async () => {
    const path = folder.file('missing.db');
    const error = await requestUnpark(path, 'ABC-1').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).kind).toBe('missing');
    expect((error as StoreError).message).toContain(`database ${path}: does not exist: check the path of the workflow file`);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });
});

describe('unparking with a daemon', () => {
  it('asks the daemon, by the name the issue has, and touches nothing itself', async () => {
    const { path, store } = await parkedDatabase('daemon.db');
    expect(await requestUnpark(path, 'abc-1')).toBe('requested');
    expect(await requestUnpark(path, 'ABC-9')).toBe('not-parked');
    expect((await store.load()).parked).toHaveLength(2);
    expect(await store.takeRequests()).toEqual([{ kind: 'unpark', identifier: 'ABC-1' }]);
    await store.close();
  });

  it('forgets a request in the moment in which the issue is released', async () => {
    const { path, store } = await parkedDatabase('done.db');
    await requestUnpark(path, 'ABC-1');
    await store.apply([{ write: 'unpark', issueId: '1' }]);
    expect(await store.takeRequests()).toEqual([]);
    await store.close();
  });
});
