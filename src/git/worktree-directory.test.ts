import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { worktreeEnvironment } from './worktree-directory.ts';

let home: string;
let shared: string;
let worktree: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(path.join(tmpdir(), 'foray-worktrees-')));
  shared = path.join(home, 'shared.git');
  worktree = path.join(home, 'T-1');
  mkdirSync(worktree);
});
afterEach(() => rmSync(home, { recursive: true }));

function put(name: string, place = path.join(worktree, '.git')): string {
  const directory = path.join(shared, 'worktrees', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'gitdir'), `${place}\n`);
  return directory;
}

const found = async (): Promise<string | undefined> => (await worktreeEnvironment(shared, worktree))['GIT_DIR'];

describe('the repository of a worktree', () => {
  it('is found by its name, by what the worktree says, and by search', async () => {
    const other = put('other');
    expect(await found()).toBe(other);
    const named = put('T-12');
    writeFileSync(path.join(worktree, '.git'), `gitdir: ${named}\n`);
    expect(await found()).toBe(named);
    const own = put('T-1');
    expect(await found()).toBe(own);
  });

  it('is none that the worktree only names', async () => {
    put('other', path.join(home, 'T-2', '.git'));
    const elsewhere = path.join(home, 'elsewhere');
    mkdirSync(elsewhere);
    for (const place of [elsewhere, shared]) writeFileSync(path.join(place, 'gitdir'), `${path.join(worktree, '.git')}\n`);
    for (const named of [elsewhere, shared, path.join(shared, 'worktrees', '..'), path.join(shared, 'worktrees', 'other')]) {
      writeFileSync(path.join(worktree, '.git'), `gitdir: ${named}\n`);
      await expect(found()).rejects.toThrow('is no worktree of the repository any more');
    }
  });

  it('is searched for among very many while the service goes on', async () => {
    for (let at = 0; at < 1_000; at += 1) put(`other-${at}`, '/nowhere/.git');
    const rounds = { seen: 0, isOver: false };
    const next = (): void => {
      rounds.seen += 1;
      if (!rounds.isOver) setImmediate(next);
    };
    setImmediate(next);
    await expect(found()).rejects.toThrow('is no worktree of the repository any more');
    rounds.isOver = true;
    expect(rounds.seen).toBeGreaterThanOrEqual(10);
  });
});
