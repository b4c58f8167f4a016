import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { git, makeRemote } from '../../test/support/git/person.ts';
import { createRepository, createWorktree, publish, updateWorktree, type Repository } from './index.ts';
import type { Worktree } from './worktree.ts';

const never = new AbortController().signal;
let home: string;
let remote: string;
let repository: Repository;
let worktree: Worktree;

beforeEach(async () => {
  home = mkdtempSync(path.join(tmpdir(), 'foray-traps-'));
  remote = makeRemote(home);
  const settings = { url: remote, folder: path.join(home, 'own'), token: null, baseBranch: null, timeoutMs: 20_000 };
  repository = createRepository(settings, { env: process.env, processes: { started: () => {}, ended: () => {} } });
  worktree = { path: path.join(home, 'workspaces', 'T-1'), branch: 'foray/T-1' };
  mkdirSync(worktree.path, { recursive: true });
  await createWorktree(repository, worktree, never);
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function pipeAt(...parts: string[]): void {
  const file = path.join(...parts);
  rmSync(file, { force: true });
  execFileSync('mkfifo', [file]);
}

describe('what an agent puts into the repository of the worktrees', () => {
  it('holds nobody up, where a pipe stands for the place of a worktree', async () => {
    mkdirSync(path.join(repository.shared, 'worktrees', 'other'));
    pipeAt(repository.shared, 'worktrees', 'other', 'gitdir');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
    pipeAt(repository.shared, 'worktrees', 'T-1', 'gitdir');
    await expect(publish(repository, worktree, 'work', never)).rejects.toThrow('is no worktree of the repository any more');
  });

  it.each([
    'packed-refs',
    'config',
    'HEAD',
    'FETCH_HEAD',
    'info/exclude',
    'info/attributes',
    'objects/info/alternates',
    'refs/heads/other',
    'worktrees/T-1/index',
    'worktrees/T-1/ORIG_HEAD',
    'worktrees/T-1/logs/HEAD',
    '../control.git/packed-refs',
    '../control.git/config',
  ])('holds up neither its own work nor that of others by a pipe in the place of %s', async (name) => {
    const pipe = path.join(repository.shared, name);
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    mkdirSync(path.dirname(pipe), { recursive: true });
    pipeAt(pipe);
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
    pipeAt(pipe);
    const other = { path: path.join(home, 'workspaces', 'T-2'), branch: 'foray/T-2' };
    mkdirSync(other.path);
    await createWorktree(repository, other, never);
    expect(readFileSync(path.join(other.path, 'README.md'), 'utf8')).toBe('hello');
  });

  it('holds nobody up by a link to a pipe, which is replaced', async () => {
    pipeAt(home, 'pipe');
    symlinkSync(path.join(home, 'pipe'), path.join(repository.shared, 'packed-refs'));
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
    expect(existsSync(path.join(home, 'pipe'))).toBe(true);
  });

  it('is refused where a pipe stands for a file of the work that git reads', async () => {
    pipeAt(worktree.path, '.gitignore');
    for (const work of [publish(repository, worktree, 'work', never), updateWorktree(repository, worktree, never)])
      await expect(work).rejects.toThrow(/\.gitignore is a pipe or a device, .*; remove it by hand after a look at it/);
  });

  it('holds up its own work no longer than a command may take, and is told with the command, the place and the remedy', async () => {
    mkdirSync(path.join(worktree.path, 'deep'));
    pipeAt(worktree.path, 'deep', '.gitignore');
    const settings = { url: remote, folder: path.join(home, 'own'), token: null, baseBranch: null, timeoutMs: 300 };
    const hasty = createRepository(settings, { env: process.env, processes: { started: () => {}, ended: () => {} } });
    await expect(publish(hasty, worktree, 'work', never)).rejects.toThrow(
      /git status in .*\/T-1 did not end within 0\.3 s: see that .* no pipe stands there/,
    );
  });

  it('leads no write of ours elsewhere, and is put right', async () => {
    const theirs = path.join(home, 'theirs');
    const exclude = path.join(repository.shared, 'info', 'exclude');
    const alternates = path.join(repository.shared, 'objects', 'info', 'alternates');
    writeFileSync(theirs, 'theirs');
    rmSync(exclude, { force: true });
    symlinkSync(theirs, exclude);
    pipeAt(alternates);
    expect(await updateWorktree(repository, worktree, never)).toBe(true);
    expect(readFileSync(theirs, 'utf8')).toBe('theirs');
    expect(readFileSync(exclude, 'utf8')).toBe('/.foray/\n');
    expect(readFileSync(alternates, 'utf8')).toContain('control.git');
  });

  it.each(['control', 'shared'] as const)('leads git to no other settings than those of %s', async (which) => {
    const theirs = path.join(home, 'theirs');
    git(home, 'init', '--quiet', '--bare', theirs);
    git(theirs, 'config', 'url./nowhere.insteadOf', remote);
    git(theirs, 'config', 'core.bare', 'nonsense');
    writeFileSync(path.join(repository[which], 'commondir'), `${theirs}\n`);
    writeFileSync(path.join(repository[which], '.git'), `gitdir: ${theirs}\n`);
    writeFileSync(path.join(repository.shared, 'worktrees', 'T-1', 'commondir'), `${theirs}\n`);
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
    expect(git(remote, 'show', 'foray/T-1:a.txt')).toBe('work');
  });

  it.each(['pipe', 'link', 'folder'])(
    'is replaced where a %s stands for the helper that git asks for a password',
    async (kind) => {
      const helper = path.join(path.dirname(repository.control), 'askpass');
      const theirs = path.join(home, 'theirs');
      writeFileSync(theirs, 'theirs');
      rmSync(helper);
      if (kind === 'pipe') pipeAt(helper);
      else if (kind === 'link') symlinkSync(theirs, helper);
      else mkdirSync(path.join(helper, 'deep'), { recursive: true });
      writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
      expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
      expect(readFileSync(helper, 'utf8')).toContain('#!/bin/sh');
      expect(readFileSync(theirs, 'utf8')).toBe('theirs');
    },
  );

  it('borrows no objects from elsewhere for a push', async () => {
    const other = path.join(home, 'other');
    git(home, 'init', '--quiet', other);
    writeFileSync(path.join(other, 'private.txt'), 'private');
    git(other, 'add', '--all');
    git(other, 'commit', '--quiet', '-m', 'private');
    const alternates = path.join(repository.shared, 'objects', 'info', 'alternates');
    writeFileSync(alternates, `${readFileSync(alternates, 'utf8')}${path.join(other, '.git', 'objects')}\n`);
    await updateWorktree(repository, worktree, never);
    expect(() => git(worktree.path, 'cat-file', '-e', git(other, 'rev-parse', 'HEAD'))).toThrow();
  });

  it('runs no program when another worktree is made, brought up to date and published', async () => {
    const ran = path.join(home, 'ran');
    const thief = path.join(home, 'thief.sh');
    writeFileSync(thief, `#!/bin/sh\necho "$0" >> ${ran}\nexit 1\n`, { mode: 0o755 });
    const { shared } = repository;
    mkdirSync(path.join(shared, 'hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'reference-transaction', 'pre-auto-gc', 'post-merge', 'pre-commit'])
      writeFileSync(path.join(shared, 'hooks', hook), readFileSync(thief), { mode: 0o755 });
    const settings = {
      'core.alternateRefsCommand': thief,
      'protocol.ext.allow': 'always',
      [`url.ext::${thief} .insteadOf`]: path.join(home, 'nowhere'),
      'core.sshCommand': thief,
    };
    for (const [key, value] of Object.entries(settings)) git(shared, '-c', 'core.hooksPath=/dev/null', 'config', key, value);
    const other = { path: path.join(home, 'workspaces', 'T-2'), branch: 'foray/T-2' };
    mkdirSync(other.path);
    await createWorktree(repository, other, never);
    writeFileSync(path.join(other.path, 'b.txt'), 'work');
    expect(await publish(repository, other, 'work', never)).not.toBeNull();
    expect(await updateWorktree(repository, other, never)).toBe(true);
    expect(existsSync(ran) ? readFileSync(ran, 'utf8') : '').toBe('');
  });

  it('decides neither what another worktree begins with nor what of it is published', async () => {
    const evil = path.join(home, 'evil');
    git(home, 'clone', '--quiet', remote, evil);
    git(evil, 'commit', '--quiet', '--allow-empty', '-m', 'by the other agent');
    const { shared, control } = repository;
    for (const address of [control, path.dirname(control), '../control.git', 'f', ''])
      git(shared, 'config', '--add', `url.${evil}.insteadOf`, address);
    const other = { path: path.join(home, 'workspaces', 'T-2'), branch: 'foray/T-2' };
    mkdirSync(other.path);
    await createWorktree(repository, other, never);
    git(shared, 'config', '--remove-section', `url.${evil}`);
    const first = git(remote, 'rev-parse', 'trunk');
    expect(git(other.path, 'rev-parse', 'HEAD')).toBe(first);
    writeFileSync(path.join(other.path, 'b.txt'), 'work');
    git(other.path, 'add', '--all');
    git(other.path, 'commit', '--quiet', '-m', 'work');
    git(shared, 'update-ref', 'refs/remotes/origin/trunk', git(other.path, 'rev-parse', 'HEAD'));
    expect(await publish(repository, other, 'work', never)).not.toBeNull();
    expect(git(remote, 'log', '--format=%s', other.branch)).toBe('work\nfirst');
  });

  it('is taken out with few commands, however many settings it is', async () => {
    const file = path.join(repository.shared, 'config');
    const sections = Array.from({ length: 300 }, (_none, at) => `[includeIf "gitdir:/${at}/"]\n\tpath = /nowhere\n`);
    writeFileSync(file, readFileSync(file, 'utf8') + sections.join(''));
    let commands = 0;
    const settings = { url: remote, folder: path.join(home, 'own'), token: null, baseBranch: null, timeoutMs: 20_000 };
    const processes = { started: () => void (commands += 1), ended: () => {} };
    await createRepository(settings, { env: process.env, processes }).mend(never);
    expect(commands).toBeLessThan(20);
    expect(readFileSync(file, 'utf8')).not.toContain('includeIf');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
  });

  it('has no commit stand for another in the worktree that is made next', async () => {
    writeFileSync(path.join(worktree.path, 'evil.txt'), 'by the other agent');
    git(worktree.path, 'add', '--all');
    git(worktree.path, 'commit', '--quiet', '-m', 'by the other agent');
    git(worktree.path, 'replace', git(remote, 'rev-parse', 'trunk'), 'HEAD');
    const other = { path: path.join(home, 'workspaces', 'T-2'), branch: 'foray/T-2' };
    mkdirSync(other.path);
    await createWorktree(repository, other, never);
    expect(existsSync(path.join(other.path, 'evil.txt'))).toBe(false);
  });

  it('leads no exchange between our own repositories elsewhere by the settings of the user', async () => {
    writeFileSync(path.join(home, '.gitconfig'), `[url "${home}/nowhere"]\n\tinsteadOf = ${home}\n\tinsteadOf = ${remote}\n`);
    const settings = { url: remote, folder: path.join(home, 'own'), token: null, baseBranch: null, timeoutMs: 20_000 };
    const env = { ...process.env, HOME: home };
    const same = createRepository(settings, { env, processes: { started: () => {}, ended: () => {} } });
    expect(await updateWorktree(same, worktree, never)).toBe(true);
    writeFileSync(path.join(worktree.path, 'a.txt'), 'work');
    expect(await publish(same, worktree, 'work', never)).not.toBeNull();
  });

  it('runs no program for a comparison', async () => {
    const ran = path.join(home, 'ran');
    const settings = {
      'diff.external': `touch ${ran}`,
      'diff.thief.textconv': `touch ${ran}; cat`,
      'core.fsmonitor': `touch ${ran}`,
    };
    for (const [key, value] of Object.entries(settings)) git(repository.shared, 'config', key, value);
    writeFileSync(path.join(worktree.path, '.gitattributes'), '* diff=thief\n');
    writeFileSync(path.join(worktree.path, 'name\nwith "breaks"'), 'work');
    expect(await publish(repository, worktree, 'work', never)).not.toBeNull();
    expect(existsSync(ran)).toBe(false);
    expect(git(remote, 'ls-tree', '-r', '-z', '--name-only', worktree.branch)).toContain('name\nwith "breaks"');
  });
});
