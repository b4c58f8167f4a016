import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createRepository } from '../git/index.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import type { Logger } from '../ports/runtime.ts';
import { createDelivery } from './delivery.ts';

const signal = new AbortController().signal;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A worktree of a real repository, with a change that is to be delivered. */
async function openWorktree(processes: ProcessLedger, logger: Logger = silent) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'foray-delivery-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '--quiet', '--bare', '--initial-branch=main', 'origin.git');
  git('init', '--quiet', 'seed');
  const author = ['-c', 'user.name=Seed', '-c', 'user.email=seed@localhost'];
  git('-C', 'seed', ...author, 'commit', '--quiet', '--allow-empty', '-m', 'First');
  git('-C', 'seed', 'push', '--quiet', '../origin.git', 'HEAD:refs/heads/main');
  const url = path.join(folder, 'origin.git');
  const settings = { url, folder: path.join(folder, 'repos'), token: null, baseBranch: null, timeoutMs: 30_000 };
  const repository = createRepository(settings, { env: { PATH: process.env['PATH'] }, processes });
  const deps = { repository, push: true, opener: null, project: { owner: 'acme', repo: 'shop' }, clock: Date, logger };
  const delivery = createDelivery({ ...deps, retryDelaysMs: [1, 1] });
  const workspace = path.join(folder, 'ws', 'A-1');
  await mkdir(workspace, { recursive: true });
  const hooks = { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 1000 };
  const subject = { tracker: '', issueId: '1', identifier: 'A-1', title: 'Work', attempt: 0, hooks };
  await delivery.checkOut(workspace, subject, signal);
  await writeFile(path.join(workspace, 'work'), 'done\n');
  const lock = path.join(repository.shared, 'worktrees', 'A-1', 'index.lock');
  return {
    lock,
    deliver: () => delivery.deliver(workspace, subject, signal),
    delivered: () => git('-C', url, 'show', 'foray/A-1:work'),
  };
}

interface Lock {
  file: string;
  commands: number;
}

it.each([
  ['is gone by the next try costs no session', true],
  ['stays is told with what git says', false],
])('a lock of git that %s', async (_, heals) => {
  const lock: Lock = { file: '', commands: 0 };
  // The second command is the one that stumbles over it.
  const ended = (): void => {
    if (lock.file === '') return;
    lock.commands += 1;
    if (heals && lock.commands === 2) rmSync(lock.file);
  };
  const { deliver, delivered, ...worktree } = await openWorktree({ started() {}, ended });
  await writeFile(worktree.lock, '');
  lock.file = worktree.lock;
  if (heals) {
    await deliver();
    expect(delivered()).toBe('done\n');
  } else await expect(deliver()).rejects.toThrow(/^workspace: git: git add: .*index\.lock/);
});

it('without a forge a branch is pushed, and the record says that no request was opened', async () => {
  const info = vi.fn<Logger['info']>();
  const { deliver, delivered } = await openWorktree({ started() {}, ended() {} }, { ...silent, info });
  expect(await deliver()).toBeNull();
  expect(delivered()).toBe('done\n');
  const told = { branch: 'foray/A-1', merge_request: expect.stringMatching(/^none opened: no forge/) as string };
  expect(info).toHaveBeenCalledWith('branch pushed', expect.objectContaining(told));
});
