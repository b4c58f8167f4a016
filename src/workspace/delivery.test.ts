import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createRepository, type Repository } from '../git/index.ts';
import type { ProcessLedger } from '../ports/agent.ts';
import type { Logger } from '../ports/runtime.ts';
import type { NewRequest, RequestOpener } from '../ports/scm.ts';
import { TrackerError } from '../domain/model/errors.ts';
import { createBegunRequests, NONE_BEGUN } from './begun-requests.ts';
import { branchOf } from './branch-name.ts';
import { createDelivery } from './delivery.ts';

const signal = new AbortController().signal;
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** A worktree of a real repository, with a change that is to be delivered. */
async function openWorktree(processes: ProcessLedger, logger: Logger = silent, opener: RequestOpener | null = null) {
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
  const project = { owner: 'acme', repo: 'shop' };
  const rememberedBy = (by: Repository) =>
    opener === null ? NONE_BEGUN : createBegunRequests({ repository: by, opener, project });
  const deps = { repository, push: true, opener, begun: rememberedBy(repository), project, clock: Date, logger };
  let delivery = createDelivery({ ...deps, retryDelaysMs: [1, 1] });
  const workspace = path.join(folder, 'ws', 'A-1');
  await mkdir(workspace, { recursive: true });
  const hooks = { afterCreate: null, beforeRun: null, afterRun: null, beforeRemove: null, timeoutMs: 1000 };
  const subject = { tracker: '', issueId: '1', identifier: 'A-1', title: 'Work', attempt: 0, hooks };
  await delivery.checkOut(workspace, subject, signal);
  await writeFile(path.join(workspace, 'work'), 'done\n');
  const lock = path.join(repository.shared, 'worktrees', 'A-1', 'index.lock');
  return {
    lock,
    /** A directory that was there before there was a repository. */
    async updateForeign() {
      const foreign = path.join(folder, 'ws', 'A-2');
      await mkdir(foreign);
      const fresh = createRepository(
        { ...settings, folder: path.join(folder, 'later') },
        { env: { PATH: process.env['PATH'] }, processes },
      );
      await createDelivery({ ...deps, repository: fresh, begun: rememberedBy(fresh) }).update(foreign, subject, signal);
    },
    /** A service that knows only what is on the disk. */
    restart() {
      delivery = createDelivery({ ...deps, begun: rememberedBy(repository), retryDelaysMs: [1, 1] });
    },
    /** The remote names the new one as its default, unless it is only deleted. */
    renameBase(from: string, to: string, isDeleted: boolean) {
      git('-C', url, 'branch', '-m', from, to);
      git('-C', url, 'symbolic-ref', 'HEAD', `refs/heads/${isDeleted ? from : to}`);
    },
    nothing: () => rm(path.join(workspace, 'work')),
    change: (text: string) => writeFile(path.join(workspace, 'work'), text),
    update: () => delivery.update(workspace, subject, signal),
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

/** A forge with the requests of one branch. */
function createForge() {
  const forge = { opened: [] as NewRequest[], end: null as 'merged' | 'closed' | null };
  const request = () => ({ number: forge.opened.length, url: `https://forge/${forge.opened.length}` });
  const opener: RequestOpener = {
    kind: 'fake',
    find: () => Promise.resolve(forge.opened.length === 0 || forge.end !== null ? null : request()),
    open: (wanted) => {
      forge.opened.push(wanted);
      return Promise.resolve(request());
    },
    endOf: () => Promise.resolve(forge.end),
  };
  return { forge, opener };
}

const NO_PROCESSES = { started() {}, ended() {} };

it.each(['merged', 'closed'] as const)(
  'nothing is pushed where the request was %s during the run, and none opened',
  async (end) => {
    const warn = vi.fn<Logger['warn']>();
    const { forge, opener } = createForge();
    const { change, update, deliver, delivered } = await openWorktree(NO_PROCESSES, { ...silent, warn }, opener);
    await update();
    expect(await deliver()).toMatchObject({ prNumber: 1 });

    await update();
    await change('more\n');
    forge.end = end;
    expect(await deliver()).toBeNull();
    expect(forge.opened).toHaveLength(1);
    expect(delivered()).toBe('done\n');
    const told = expect.objectContaining({ issue_identifier: 'A-1', number: 1 }) as object;
    expect(warn).toHaveBeenCalledWith(`merge request ${end} meanwhile, nothing is pushed`, told);

    // Whoever wants more of an issue whose request is over gets a new one.
    await update();
    forge.end = null;
    forge.opened.length = 0;
    expect(await deliver()).toMatchObject({ prNumber: 1 });
    expect(delivered()).toBe('more\n');
  },
);

it('no second request is opened where the first was merged while a run was cut off', async () => {
  const { forge, opener } = createForge();
  const { change, update, deliver, restart } = await openWorktree(NO_PROCESSES, silent, opener);
  await update();
  await deliver();
  await update();
  await change('more\n');
  forge.end = 'merged';
  restart();
  await update();
  await update();
  expect(await deliver()).toBeNull();
  expect(forge.opened).toHaveLength(1);
});

it('no second request is opened where the first was merged and the forge could not be asked before the run', async () => {
  const { forge, opener } = createForge();
  const away = new TrackerError({ kind: 'tracker_api_error', method: 'GET', path: '/pulls', detail: 'away', status: 502 });
  const find = vi.fn<RequestOpener['find']>(opener.find);
  const { change, update, deliver, restart } = await openWorktree(NO_PROCESSES, silent, { ...opener, find });
  await update();
  await deliver();
  restart();
  find.mockRejectedValueOnce(away);
  await update();
  await change('more\n');
  forge.end = 'merged';
  expect(await deliver()).toBeNull();
  expect(forge.opened).toHaveLength(1);
});

it('a second request is opened where a person asks for more after the first was merged', async () => {
  const { forge, opener } = createForge();
  const { change, update, deliver, restart } = await openWorktree(NO_PROCESSES, silent, {
    ...opener,
    endOf: ({ number }) => Promise.resolve(number === 1 ? forge.end : null),
  });
  await update();
  await deliver();
  forge.end = 'merged';
  restart();
  await update();
  await change('more\n');
  expect(await deliver()).toMatchObject({ prNumber: 2 });
});

it('a directory that is no worktree is refused before a session, also where nothing was cloned yet', async () => {
  const { updateForeign } = await openWorktree(NO_PROCESSES, silent, createForge().opener);
  await expect(updateForeign()).rejects.toThrow(/A-2 is no worktree of the repository/);
});

it('a run that changed nothing says that nothing is pushed', async () => {
  const info = vi.fn<Logger['info']>();
  const { forge, opener } = createForge();
  const { deliver, nothing } = await openWorktree(NO_PROCESSES, { ...silent, info }, opener);
  await nothing();
  expect(await deliver()).toBeNull();
  expect(forge.opened).toEqual([]);
  expect(info).toHaveBeenCalledWith('nothing to push', { issue_id: '1', issue_identifier: 'A-1', branch: 'foray/A-1' });
});

it.each([
  ['at once', 1],
  ['after a while', 2],
])('a request that the list did not show yet is found %s when a second one is refused', async (_, behind) => {
  const { forge, opener } = createForge();
  const facts = { method: 'POST', path: '/pulls', detail: 'A pull request already exists for acme:foray/A-1.', status: 422 };
  const open = vi.fn<RequestOpener['open']>(async (wanted) => {
    if (forge.opened.length === 0) await opener.open(wanted, signal);
    throw new TrackerError({ kind: 'tracker_api_error', ...facts, retryable: false });
  });
  const find = vi.fn<RequestOpener['find']>(opener.find);
  for (let look = 0; look < behind; look += 1) find.mockResolvedValueOnce(null);
  const { deliver } = await openWorktree(NO_PROCESSES, silent, { ...opener, open, find });
  expect(await deliver()).toMatchObject({ prNumber: 1 });
  expect(forge.opened).toHaveLength(1);
});

it('a request that is refused for another reason is told at once', async () => {
  const { opener } = createForge();
  const facts = { method: 'POST', path: '/pulls', detail: 'Target branch "main" does not exist', status: 422 };
  const open = vi.fn<RequestOpener['open']>(() => {
    throw new TrackerError({ kind: 'tracker_api_error', ...facts, retryable: false });
  });
  const { deliver } = await openWorktree(NO_PROCESSES, silent, { ...opener, open });
  await expect(deliver()).rejects.toMatchObject({ name: 'DeliveryError', retryable: false });
  expect(open).toHaveBeenCalledTimes(1);
});

describe('a base branch that is gone when the request is opened', () => {
  const gone = (base: string) =>
    new TrackerError({
      kind: 'tracker_not_found',
      method: 'POST',
      path: '/pulls',
      detail: `base ${base} does not exist`,
      status: 404,
    });
  const openUnless = async (isDeleted: boolean) => {
    const { forge, opener } = createForge();
    const open = vi.fn<RequestOpener['open']>(async (wanted) => {
      if (wanted.base === 'main') throw gone('main');
      return opener.open(wanted, signal);
    });
    const worktree = await openWorktree(NO_PROCESSES, silent, { ...opener, open });
    worktree.renameBase('main', 'trunk', isDeleted);
    return { forge, ...worktree };
  };

  it('and renamed is taken by its new name', async () => {
    const { forge, deliver } = await openUnless(false);
    expect(await deliver()).toMatchObject({ prNumber: 1 });
    expect(forge.opened).toEqual([expect.objectContaining({ base: 'trunk' })]);
  });

  it('is told with what to do', async () => {
    const { deliver } = await openUnless(true);
    await expect(deliver()).rejects.toThrow('names no default branch: push a first commit to it');
  });
});

it('a forge that asks for a while gets it before the request is tried again', async () => {
  const { opener } = createForge();
  const limit = new TrackerError({
    kind: 'tracker_api_error',
    method: 'POST',
    path: '/pulls',
    detail: 'slow down',
    status: 403,
    retryable: true,
    retryAfterMs: 300,
  });
  const open = vi.fn<RequestOpener['open']>(opener.open).mockRejectedValueOnce(limit);
  const { deliver } = await openWorktree(NO_PROCESSES, silent, { ...opener, open });
  const begun = performance.now();
  expect(await deliver()).toMatchObject({ prNumber: 1 });
  expect(performance.now() - begun).toBeGreaterThanOrEqual(299);
});

it.each(['a..b', 'x.lock', 'end.', '.dot', 'A-1', 'v1.2', 'ENG_7', 'ä/ö', '-x'])(
  '%s has a branch that git takes, and no other has',
  (identifier) => {
    const branch = branchOf(identifier);
    expect(execFileSync('git', ['check-ref-format', '--branch', branch], { encoding: 'utf8' }).trim()).toBe(branch);
    expect(branch).not.toBe(branchOf(`${identifier}_`));
  },
);
