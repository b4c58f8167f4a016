import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createEarlierFiles } from './earlier-files.ts';

const signal = new AbortController().signal;
let root: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'prepared-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(root, { recursive: true });
});

const git = (cwd: string, ...args: string[]): unknown =>
  execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...args], { cwd, stdio: 'pipe' });

describe('the word of an agent', () => {
  it.each([
    { where: 'in the repository itself', below: '.', through: '.' },
    { where: 'in a directory of one', below: 'deep/down', through: '.' },
    { where: 'behind a link into one', below: 'deep', through: 'link' },
  ])('is not what is committed $where', async ({ below, through }) => {
    const repository = path.join(root, 'repository');
    const folder = path.join(repository, below);
    await mkdir(path.join(folder, '.foray'), { recursive: true });
    await writeFile(path.join(folder, '.foray/status'), 'blocked\n');
    git(repository, 'init', '-q');
    git(repository, 'add', '-f', '.');
    git(repository, 'commit', '-qm', 'x');
    await rm(path.join(folder, '.foray/status'));
    if (through === 'link') await symlink(folder, path.join(root, 'link'));
    const workspace = through === 'link' ? path.join(root, 'link') : folder;
    const words = createEarlierFiles();
    await words.clear(workspace, signal);
    await writeFile(path.join(workspace, '.foray/status'), 'blocked\n');
    expect(await words.isPrepared(workspace, 'status')).toBe(true);
    await writeFile(path.join(workspace, '.foray/status'), 'blocked\nfor a reason');
    expect(await words.isPrepared(workspace, 'status')).toBe(false);
  });

  it('is found without a process where there is no repository', async () => {
    const [programs, trace] = [path.join(root, 'bin'), path.join(root, 'trace')];
    await mkdir(programs);
    await writeFile(path.join(programs, 'git'), `#!/bin/sh\necho "$PWD $*" >> ${trace}\n`, { mode: 0o755 });
    vi.stubEnv('PATH', `${programs}:${process.env['PATH'] ?? ''}`);
    const words = createEarlierFiles();
    await mkdir(path.join(root, '.foray'));
    await words.clear(root, signal);
    await writeFile(path.join(root, '.foray/status'), 'blocked\n');
    expect(await words.isPrepared(root, 'status')).toBe(false);
    // Others in this process may be using git elsewhere.
    expect(existsSync(trace) ? await readFile(trace, 'utf8') : '').not.toContain(root);
  });
});
