import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeRemote } from '../../test/support/git/person.ts';
import { createRepository, createWorktree, publish, type Repository } from './index.ts';
import type { Worktree } from './worktree.ts';

const never = new AbortController().signal;
let home: string;
let outside: string;
let repository: Repository;
let worktree: Worktree;

beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'foray-links-'));
  const remote = makeRemote(home);
  const settings = { url: remote, folder: path.join(home, 'own'), token: null, baseBranch: null, timeoutMs: 20_000 };
  repository = createRepository(settings, { env: process.env, processes: { started: () => {}, ended: () => {} } });
  worktree = worktreeOf('T-1');
  await createWorktree(repository, worktree, never);
  outside = path.join(home, 'outside');
  fill(outside);
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function worktreeOf(name: string): Worktree {
  const place = path.join(home, 'workspaces', name);
  mkdirSync(place, { recursive: true });
  return { path: place, branch: `foray/${name}` };
}

/** Something of each kind that is written or deleted in a repository. */
function fill(folder: string): void {
  for (const name of ['.git/deep', 'heads', 'info', 'objects', 'refs/heads'])
    mkdirSync(path.join(folder, name), { recursive: true });
  const files = ['HEAD', 'config', 'commondir', '.git/deep/file', 'alternates', 'exclude', 'attributes', 'info/exclude'];
  const locks = ['packed-refs.lock', 'refs/old.lock', 'old.lock'];
  for (const name of [...files, ...locks]) writeFileSync(path.join(folder, name), '');
  for (const name of locks) utimesSync(path.join(folder, name), 1, 1);
  execFileSync(
    'mkfifo',
    ['pipe', 'info/pipe', 'objects/pipe'].map((name) => path.join(folder, name)),
  );
}

/** All that is in a folder, with what the files say. */
function contentOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const place = path.join(entry.parentPath, entry.name);
      return entry.isFile() ? `${place}: ${readFileSync(place, 'utf8')}` : place;
    })
    .sort();
}

function linkAt(place: string, target = outside): void {
  rmSync(`${place}.old`, { recursive: true, force: true });
  if (lstatSync(place, { throwIfNoEntry: false })) renameSync(place, `${place}.old`);
  else mkdirSync(path.dirname(place), { recursive: true });
  symlinkSync(target, place);
}

describe('a link that an agent puts', () => {
  it.each([
    'control.git',
    'control.git/refs',
    'control.git/objects/info',
    'control.git/objects/pack',
    'shared.git/info',
    'shared.git/objects/info',
    'shared.git/refs/heads/foray',
    'shared.git/logs',
    'shared.git/worktrees/T-2',
    'requests',
    'carried',
  ])('for the folder %s is replaced, and holds up nobody', async (name) => {
    const before = contentOf(outside);
    const place = path.join(path.dirname(repository.control), name);
    linkAt(place);
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
    linkAt(place);
    await createWorktree(repository, worktreeOf('T-2'), never);
    expect(contentOf(outside)).toEqual(before);
    expect(lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() ?? false).toBe(false);
  });

  it('for the repository that the worktrees share leads nowhere, and others go on in a new one', async () => {
    const before = contentOf(outside);
    linkAt(repository.shared);
    await expect(publish(repository, worktree, 'work', never)).rejects.toThrow('is no worktree of the repository any more');
    await createWorktree(repository, worktreeOf('T-2'), never);
    expect(contentOf(outside)).toEqual(before);
  });

  it.each(['config', 'FETCH_HEAD', 'packed-refs', 'worktrees/T-1/index', 'worktrees/T-1/logs/HEAD'])(
    'for the file %s has nothing written elsewhere',
    async (name) => {
      linkAt(path.join(repository.shared, name), path.join(outside, 'config'));
      writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
      expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
      await createWorktree(repository, worktreeOf('T-2'), never);
      expect(readFileSync(path.join(outside, 'config'), 'utf8')).toBe('');
    },
  );

  it.each(['own', 'repositories'])('for the folder of the repositories (%s) is refused with the remedy', async (which) => {
    const before = contentOf(outside);
    const folder = path.dirname(repository.control);
    linkAt(which === 'own' ? path.dirname(folder) : folder);
    const reason = /is a symbolic link; remove it by hand after a look at it/;
    await expect(publish(repository, worktree, 'work', never)).rejects.toThrow(reason);
    await expect(createWorktree(repository, worktreeOf('T-2'), never)).rejects.toThrow(reason);
    expect(contentOf(outside)).toEqual(before);
  });

  it('after things were put right is refused until they are again', async () => {
    const before = contentOf(outside);
    await repository.mend(never);
    linkAt(repository.control);
    const asked = repository.local(repository.control, ['for-each-ref'], never);
    await expect(asked).rejects.toThrow(/control\.git is a symbolic link/);
    await expect(repository.remote('fetch', ['fetch'], never)).rejects.toThrow(/control\.git is a symbolic link/);
    expect(contentOf(outside)).toEqual(before);
    await repository.refresh(never);
  });

  it('as git itself writes a reference, and to hooks that several share, is left alone', async () => {
    const hooks = path.join(repository.shared, 'hooks');
    linkAt(hooks);
    linkAt(path.join(repository.shared, 'worktrees', 'T-1', 'HEAD'), `refs/heads/${worktree.branch}`);
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
    expect(lstatSync(hooks).isSymbolicLink()).toBe(true);
  });
});
