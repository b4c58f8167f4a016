import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { commit, git, makeRemote } from '../../test/support/git/person.ts';
import { createRepository, createWorktree, publish, updateWorktree, type Repository } from './index.ts';
import type { Worktree } from './worktree.ts';

const never = new AbortController().signal;
let home: string;
let remote: string;
let repository: Repository;

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'foray-branch-'));
  remote = makeRemote(home);
  repository = repositoryWith();
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

function seed(): string {
  return path.join(home, 'seed');
}

function repositoryWith(baseBranch: string | null = null, env: Record<string, string | undefined> = process.env): Repository {
  const settings = { url: remote, folder: path.join(home, 'own'), token: null, baseBranch, timeoutMs: 20_000 };
  return createRepository(settings, { env, processes: { started: () => {}, ended: () => {} } });
}

async function begin(key = 'T-1'): Promise<Worktree> {
  const worktree = { path: path.join(home, 'workspaces', key), branch: `foray/${key}` };
  mkdirSync(worktree.path, { recursive: true });
  await createWorktree(repository, worktree, never);
  return worktree;
}

const deliver = (worktree: Worktree) => publish(repository, worktree, 'work', never);
const update = (worktree: Worktree) => updateWorktree(repository, worktree, never);
const filesOf = (branch: string) => git(remote, 'ls-tree', '-r', '--name-only', branch).split('\n');

/** A commit of a person on a branch of the remote. */
function pushByPerson(branch: string, file: string, text: string): string {
  const place = path.join(home, `person-${file}`);
  git(home, 'clone', '--quiet', '--branch', branch, remote, place);
  const sha = commit(place, file, text, `${file} by a person`);
  git(place, 'push', '--quiet', 'origin', 'HEAD');
  return sha;
}

/** A worktree whose branch was pushed and conflicts with the base branch. */
async function beginConflict(): Promise<Worktree> {
  const worktree = await begin();
  commit(worktree.path, 'README.md', 'ours', 'ours');
  commit(worktree.path, 'more.txt', 'more', 'more');
  await deliver(worktree);
  pushByPerson('trunk', 'README.md', 'theirs');
  await update(worktree);
  return worktree;
}

describe('what an agent left half done', () => {
  it.each([
    ['merge', ['merge', 'origin/trunk'], 'a merge unfinished'],
    ['rebase', ['rebase', 'origin/trunk'], 'a rebase unfinished'],
    ['cherry-pick', ['cherry-pick', 'origin/trunk'], 'a cherry-pick unfinished'],
    ['squash', ['merge', '--squash', 'origin/trunk'], 'conflicts unresolved'],
  ])('is neither committed nor pushed: %s', async (_, args, told) => {
    const worktree = await beginConflict();
    const [head, pushed] = [git(worktree.path, 'rev-parse', 'HEAD'), git(remote, 'rev-parse', worktree.branch)];
    expect(() => git(worktree.path, ...args)).toThrow();
    const before = git(worktree.path, 'status', '--porcelain');
    const failure: unknown = await deliver(worktree).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'DeliveryError', retryable: false });
    expect(String(failure)).toContain(`the agent left ${told} in ${worktree.path}: `);
    expect(String(failure)).toContain('unpark the issue');
    expect(git(remote, 'rev-parse', worktree.branch)).toBe(pushed);
    expect(git(worktree.path, 'status', '--porcelain')).toBe(before);
    expect(git(worktree.path, 'merge-base', 'HEAD', head)).not.toBe('');
  });

  it('is still there for the next run, whatever others pushed', async () => {
    const worktree = await beginConflict();
    expect(() => git(worktree.path, 'merge', 'origin/trunk')).toThrow();
    pushByPerson(worktree.branch, 'person.txt', 'mine');
    expect(await update(worktree)).toBe(true);
    expect(git(worktree.path, 'status', '--porcelain')).toContain('UU README.md');
    writeFileSync(path.join(worktree.path, 'README.md'), 'both');
    git(worktree.path, 'add', '--all');
    git(worktree.path, 'commit', '--quiet', '--no-edit');
    await deliver(worktree);
    expect(git(remote, 'show', `${worktree.branch}:README.md`)).toBe('both');
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'more.txt', 'person.txt']);
  });

  it('is committed where it is a merge that was resolved and staged, also as it was', async () => {
    const worktree = await beginConflict();
    expect(() => git(worktree.path, 'merge', 'origin/trunk')).toThrow();
    git(worktree.path, 'checkout', '--quiet', '--ours', 'README.md');
    git(worktree.path, 'add', '--all');
    await deliver(worktree);
    expect(git(remote, 'show', `${worktree.branch}:README.md`)).toBe('ours');
    expect(git(remote, 'merge-base', 'trunk', worktree.branch)).toBe(git(remote, 'rev-parse', 'trunk'));
  });
});

describe('a detached head', () => {
  it('that went back loses nothing of the branch', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    commit(worktree.path, 'b.txt', 'b', 'b');
    await deliver(worktree);
    git(worktree.path, 'checkout', '--quiet', 'HEAD~1');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'b.txt']);
    expect(git(worktree.path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${worktree.branch}`);
  });

  it('that went on is what is pushed', async () => {
    const worktree = await begin();
    git(worktree.path, 'checkout', '--quiet', '--detach');
    commit(worktree.path, 'a.txt', 'a', 'a');
    writeFileSync(path.join(worktree.path, 'b.txt'), 'left over');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'b.txt']);
    expect(git(worktree.path, 'rev-parse', worktree.branch)).toBe(git(remote, 'rev-parse', worktree.branch));
  });

  it('that has other commits than the branch is left for a person', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    git(worktree.path, 'checkout', '--quiet', '--detach', 'HEAD~1');
    commit(worktree.path, 'b.txt', 'b', 'b');
    await expect(deliver(worktree)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringMatching(/detached head in .*T-1 .* foray\/T-1 .* unpark the issue/) as string,
    });
    expect(() => git(remote, 'rev-parse', '--verify', '--quiet', worktree.branch)).toThrow();
  });
});

describe('another branch', () => {
  it('that the agent went to loses nothing of its own branch', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    git(worktree.path, 'checkout', '--quiet', '-b', 'trunk', 'origin/trunk');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt']);
    expect(git(worktree.path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${worktree.branch}`);
  });

  it('that goes on from its own is what is pushed', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    git(worktree.path, 'checkout', '--quiet', '-b', 'feature');
    writeFileSync(path.join(worktree.path, 'b.txt'), 'left over');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'b.txt']);
    expect(git(worktree.path, 'rev-parse', worktree.branch)).toBe(git(remote, 'rev-parse', worktree.branch));
  });

  it('that has other commits than its own is left for a person, and replaces nothing', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    commit(worktree.path, 'fix.txt', 'fix', 'fix');
    git(worktree.path, 'checkout', '--quiet', '-b', 'side', 'origin/trunk');
    commit(worktree.path, 'b.txt', 'b', 'b');
    await expect(deliver(worktree)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringMatching(/the branch side that is checked out in .*T-1 .* foray\/T-1 .* unpark the issue/) as string,
    });
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt']);
  });
});

it('a branch that was pushed is never set back to an earlier commit of its own', async () => {
  const worktree = await begin();
  commit(worktree.path, 'a.txt', 'a', 'a');
  commit(worktree.path, 'b.txt', 'b', 'b');
  const pushed = await deliver(worktree);
  git(worktree.path, 'reset', '--quiet', '--hard', 'HEAD~1');
  await expect(deliver(worktree)).rejects.toMatchObject({
    retryable: false,
    message: expect.stringMatching(/an earlier state of foray\/T-1 .* unpark the issue/) as string,
  });
  expect(pushed).toMatchObject({ sha: git(remote, 'rev-parse', worktree.branch) });
});

it('what others pushed while a run did nothing is brought in, whoever saw it first', async () => {
  const worktree = await begin();
  commit(worktree.path, 'a.txt', 'a', 'a');
  await deliver(worktree);
  const theirs = pushByPerson(worktree.branch, 'person.txt', 'mine');
  await repository.refresh(never);
  expect(await deliver(worktree)).toMatchObject({ sha: theirs });
});

describe('a commit of a person that was brought in and pushed', () => {
  async function beginWithPerson(): Promise<Worktree> {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    pushByPerson(worktree.branch, 'person.txt', 'mine');
    await update(worktree);
    commit(worktree.path, 'b.txt', 'b', 'b');
    await deliver(worktree);
    return worktree;
  }

  it('is merged in again where the agent starts over without it', async () => {
    const worktree = await beginWithPerson();
    git(worktree.path, 'reset', '--quiet', '--hard', 'origin/trunk');
    commit(worktree.path, 'c.txt', 'c', 'start over');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'c.txt', 'person.txt']);
    expect(git(remote, 'log', '--format=%s', worktree.branch)).toContain('person.txt by a person');
  });

  it('is kept after a restart, and where the workspace was made anew', async () => {
    const worktree = await beginWithPerson();
    rmSync(worktree.path, { recursive: true });
    repository = repositoryWith();
    await begin();
    git(worktree.path, 'reset', '--quiet', '--hard', 'origin/trunk');
    commit(worktree.path, 'c.txt', 'c', 'start over');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toContain('person.txt');
  });

  it('parks the issue where it conflicts with what the agent made instead', async () => {
    const worktree = await beginWithPerson();
    const pushed = git(remote, 'rev-parse', worktree.branch);
    git(worktree.path, 'reset', '--quiet', '--hard', 'origin/trunk');
    commit(worktree.path, 'person.txt', 'of the agent', 'start over');
    await expect(deliver(worktree)).rejects.toMatchObject({ refusal: 'conflict', retryable: false });
    expect(git(remote, 'rev-parse', worktree.branch)).toBe(pushed);
  });

  it('may be rebased', async () => {
    const worktree = await beginWithPerson();
    pushByPerson('trunk', 'new.txt', 'new');
    await update(worktree);
    git(worktree.path, 'rebase', '--quiet', 'origin/trunk');
    await deliver(worktree);
    expect(git(remote, 'rev-list', '--merges', worktree.branch)).toBe('');
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'b.txt', 'new.txt', 'person.txt']);
  });
});

describe('a commit of a person that nothing was pushed on yet', () => {
  /** Our own commit at the remote, and one of a person on top of it, which the run began with. */
  async function beginOn(file: string): Promise<Worktree> {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    pushByPerson(worktree.branch, file, 'by a person');
    await update(worktree);
    return worktree;
  }
  const logOf = (branch: string) => git(remote, 'log', '--format=%s', branch).split('\n');

  it('may be rebased', async () => {
    const worktree = await beginOn('person.txt');
    pushByPerson('trunk', 'new.txt', 'new');
    await update(worktree);
    git(worktree.path, 'rebase', '--quiet', 'origin/trunk');
    await deliver(worktree);
    expect(logOf(worktree.branch)).toEqual(['person.txt by a person', 'a', 'new.txt by a person', 'first']);
  });

  it('may be rebased over a conflict, also where the push comes with a later run', async () => {
    const worktree = await beginOn('README.md');
    rmSync(path.join(home, 'person-README.md'), { recursive: true });
    pushByPerson('trunk', 'README.md', 'of the base');
    await update(worktree);
    expect(() => git(worktree.path, 'rebase', '--quiet', 'origin/trunk')).toThrow();
    writeFileSync(path.join(worktree.path, 'README.md'), 'both');
    git(worktree.path, 'add', '--all');
    git(worktree.path, '-c', 'core.editor=true', 'rebase', '--continue');
    expect(await update(worktree)).toBe(true);
    await deliver(worktree);
    expect(logOf(worktree.branch)).toEqual(['README.md by a person', 'a', 'README.md by a person', 'first']);
    expect(git(remote, 'show', `${worktree.branch}:README.md`)).toBe('both');
  });

  it('is kept by the base branch that took it over', async () => {
    const worktree = await beginOn('person.txt');
    git(seed(), 'fetch', '--quiet', 'origin');
    git(seed(), 'commit', '--quiet', '--allow-empty', '-m', 'more');
    git(seed(), 'cherry-pick', `origin/${worktree.branch}`);
    git(seed(), 'push', '--quiet', 'origin', 'HEAD:trunk');
    await update(worktree);
    git(worktree.path, 'rebase', '--quiet', 'origin/trunk');
    await deliver(worktree);
    expect(logOf(worktree.branch)).toEqual(['a', 'person.txt by a person', 'more', 'first']);
  });

  it('is merged in again where the agent starts over without it', async () => {
    const worktree = await beginOn('person.txt');
    git(worktree.path, 'reset', '--quiet', '--hard', 'origin/trunk');
    commit(worktree.path, 'b.txt', 'b', 'b');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'b.txt', 'person.txt']);
  });

  it('is not replaced by an earlier state of itself', async () => {
    const worktree = await beginOn('person.txt');
    pushByPerson('trunk', 'new.txt', 'new');
    await update(worktree);
    const place = path.join(home, 'person-person.txt');
    writeFileSync(path.join(place, 'person.txt'), 'corrected');
    git(place, 'commit', '--quiet', '--all', '--amend', '--no-edit');
    git(place, 'push', '--quiet', '--force', 'origin', 'HEAD');
    git(worktree.path, 'rebase', '--quiet', 'origin/trunk');
    await deliver(worktree).catch(() => {});
    expect(git(remote, 'show', `${worktree.branch}:person.txt`)).toBe('corrected');
  });
});

it('very many commits of others are brought in like few', async () => {
  const worktree = await begin();
  commit(worktree.path, 'a.txt', 'a', 'a');
  await deliver(worktree);
  const ref = `refs/heads/${worktree.branch}`;
  const subject = 'long '.repeat(20);
  const commits = Array.from({ length: 15_000 }, (_, index) => {
    const message = `${subject}${index}`;
    const from = index === 0 ? `from ${git(remote, 'rev-parse', ref)}\n` : '';
    return `commit ${ref}\ncommitter P <p@localhost> ${1e9 + index} +0000\ndata ${message.length}\n${message}\n${from}`;
  });
  execFileSync('git', ['fast-import', '--quiet'], { cwd: remote, input: commits.join('') });
  expect(await update(worktree)).toBe(true);
  commit(worktree.path, 'b.txt', 'b', 'b');
  await deliver(worktree);
  expect(git(remote, 'rev-list', '--count', worktree.branch)).toBe('15003');
}, 60_000);

it.each([true, false])('a push that a crash kept from being noted is ours; the workspace is still there: %s', async (isThere) => {
  const worktree = await begin();
  commit(worktree.path, 'a.txt', 'a', 'a');
  await deliver(worktree);
  git(repository.control, 'update-ref', '-d', `refs/foray/pushed/${worktree.branch}`);
  pushByPerson('trunk', 'new.txt', 'new');
  if (isThere) await update(worktree);
  else {
    rmSync(worktree.path, { recursive: true });
    await begin();
  }
  git(worktree.path, 'rebase', '--quiet', 'origin/trunk');
  git(worktree.path, 'commit', '--quiet', '--amend', '-m', 'a, better');
  await deliver(worktree);
  expect(git(remote, 'log', '--format=%s', worktree.branch)).toBe('a, better\nnew.txt by a person\nfirst');
});

describe('what a person took off the branch', () => {
  async function beginTakenBack(): Promise<Worktree> {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    commit(worktree.path, 'secret.txt', 'secret', 'secret');
    await deliver(worktree);
    git(remote, 'update-ref', `refs/heads/${worktree.branch}`, `refs/heads/${worktree.branch}~1`);
    return worktree;
  }

  it('stays away in the next turn, and after it', async () => {
    const worktree = await beginTakenBack();
    expect(await update(worktree)).toBe(true);
    expect(git(worktree.path, 'log', '--format=%s')).toBe('a\nfirst');
    expect(await deliver(worktree)).toMatchObject({ sha: git(worktree.path, 'rev-parse', 'HEAD') });
    expect(await update(worktree)).toBe(true);
    git(worktree.path, 'commit', '--quiet', '--amend', '-m', 'a, better');
    writeFileSync(path.join(worktree.path, 'fix.txt'), 'fixed');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'fix.txt']);
    expect(git(remote, 'log', '--format=%s', worktree.branch)).toBe('work\na, better\nfirst');
  });

  it('stays away where the branch was written anew', async () => {
    const worktree = await beginTakenBack();
    pushByPerson(worktree.branch, 'person.txt', 'mine');
    await update(worktree);
    commit(worktree.path, 'fix.txt', 'fixed', 'fix');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'fix.txt', 'person.txt']);
  });

  it.each([
    ['committed', (worktree: Worktree) => void commit(worktree.path, 'fix.txt', 'fixed', 'fix')],
    ['left over', (worktree: Worktree) => writeFileSync(path.join(worktree.path, 'fix.txt'), 'fixed')],
  ])('is left for a person where there is work on top of it that is %s', async (_, work) => {
    const worktree = await beginTakenBack();
    work(worktree);
    const told = { retryable: false, message: expect.stringMatching(/took commits off foray\/T-1 .*rebase --onto/) as string };
    await expect(update(worktree)).rejects.toMatchObject(told);
    await expect(deliver(worktree)).rejects.toMatchObject(told);
    const pushed = /--onto \S+ ([0-9a-f]+)/.exec(String(await update(worktree).catch(String)))?.[1] ?? '';
    git(worktree.path, 'rebase', '--quiet', '--onto', `origin/${worktree.branch}`, pushed);
    await update(worktree);
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'fix.txt']);
  });

  it.each([true, false])(
    'is left for a person where the branch was written anew meanwhile; seen by another run: %s',
    async (isSeen) => {
      const worktree = await beginTakenBack();
      pushByPerson(worktree.branch, 'person.txt', 'mine');
      commit(worktree.path, 'fix.txt', 'fixed', 'fix');
      if (isSeen) await repository.refresh(never);
      await expect(deliver(worktree)).rejects.toThrow(/took commits off foray\/T-1 .*rebase --onto/);
      expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'person.txt']);
      await expect(update(worktree)).rejects.toThrow('took commits off');
      const pushed = /--onto \S+ ([0-9a-f]+)/.exec(String(await update(worktree).catch(String)))?.[1] ?? '';
      git(worktree.path, 'rebase', '--quiet', '--onto', `origin/${worktree.branch}`, pushed);
      await deliver(worktree);
      expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'fix.txt', 'person.txt']);
    },
  );

  it('stays away where it was theirs and a run had merged it', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    pushByPerson(worktree.branch, 'person.txt', 'mine');
    await update(worktree);
    git(remote, 'update-ref', `refs/heads/${worktree.branch}`, `refs/heads/${worktree.branch}~1`);
    commit(worktree.path, 'fix.txt', 'fixed', 'fix');
    const told = String(await deliver(worktree).catch(String));
    expect(told).toMatch(/took commits off foray\/T-1 /);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt']);
    git(
      worktree.path,
      'rebase',
      '--quiet',
      '--onto',
      `origin/${worktree.branch}`,
      /--onto \S+ ([0-9a-f]+)/.exec(told)?.[1] ?? '',
    );
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'fix.txt']);
  });

  it('stays away where it was theirs, and a run that had merged it left nothing of its own', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    pushByPerson(worktree.branch, 'person.txt', 'mine');
    await update(worktree);
    git(remote, 'update-ref', `refs/heads/${worktree.branch}`, `refs/heads/${worktree.branch}~1`);
    expect(await update(worktree)).toBe(true);
    expect(git(worktree.path, 'ls-files')).toBe('README.md\na.txt');
  });

  it('during a turn is not pushed again by it', async () => {
    const worktree = await beginTakenBack();
    commit(worktree.path, 'fix.txt', 'fixed', 'fix');
    await expect(deliver(worktree)).rejects.toMatchObject({ name: 'DeliveryError', retryable: false });
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt']);
  });
});

describe('a workspace that is made anew', () => {
  const startOver = async (worktree: Worktree): Promise<void> => {
    rmSync(worktree.path, { recursive: true });
    repository = repositoryWith();
    await begin();
  };
  const mergeAndDelete = (branch: string): void => {
    git(seed(), 'fetch', '--quiet', 'origin');
    git(seed(), 'merge', '--quiet', '--squash', `origin/${branch}`);
    git(seed(), 'commit', '--quiet', '-m', 'squashed');
    git(seed(), 'push', '--quiet', 'origin', 'HEAD:trunk', `:${branch}`);
  };

  it('does not begin with a branch that another agent made', async () => {
    const worktree = await begin();
    commit(worktree.path, 'evil.txt', 'evil', 'planted');
    git(worktree.path, 'branch', 'foray/T-2');
    const other = await begin('T-2');
    expect(git(other.path, 'log', '--format=%s')).toBe('first');
  });

  it('begins with the base branch after its request was merged and its branch deleted', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    mergeAndDelete(worktree.branch);
    await startOver(worktree);
    expect(git(worktree.path, 'log', '--format=%s')).toBe('squashed\nfirst');
    expect(await deliver(worktree)).toBeNull();
  });

  it('and so does one that is still there, unless it holds more than was pushed', async () => {
    const [idle, busy] = [await begin(), await begin('T-2')];
    for (const { path: place } of [idle, busy]) commit(place, 'a.txt', 'a', 'a');
    for (const worktree of [idle, busy]) await deliver(worktree);
    commit(busy.path, 'b.txt', 'b', 'b');
    mergeAndDelete(idle.branch);
    git(remote, 'update-ref', '-d', `refs/heads/${busy.branch}`);
    for (const worktree of [idle, busy]) expect(await update(worktree)).toBe(true);
    expect(git(idle.path, 'log', '--format=%s')).toBe('squashed\nfirst');
    expect(git(busy.path, 'log', '--format=%s')).toBe('b\na\nfirst');
  });

  it.each([
    ['was never pushed', false],
    ['goes on from what was', true],
  ])('goes on with work that could not be pushed and %s', async (_, isPushedBefore) => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    if (isPushedBefore) await deliver(worktree);
    commit(worktree.path, 'b.txt', 'b', 'b');
    const hook = path.join(remote, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await expect(deliver(worktree)).rejects.toMatchObject({ refusal: 'protected' });
    rmSync(hook);
    await startOver(worktree);
    expect(git(worktree.path, 'log', '--format=%s')).toBe('b\na\nfirst');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt', 'b.txt']);
  });
});

describe('a checkout that was cut off', () => {
  /** What git leaves of it. */
  const cutOff = ({ path: place }: Worktree): void => {
    rmSync(place, { recursive: true });
    writeFileSync(path.join(repository.shared, 'worktrees', path.basename(place), 'locked'), 'initializing\n');
  };

  it('is done again', async () => {
    cutOff(await begin());
    const worktree = await begin();
    expect(git(worktree.path, 'log', '--format=%s')).toBe('first');
    expect(git(worktree.path, 'symbolic-ref', 'HEAD')).toBe(`refs/heads/${worktree.branch}`);
  });

  it('is done again at another place', async () => {
    cutOff(await begin());
    const worktree = { path: path.join(home, 'moved', 'T-1'), branch: 'foray/T-1' };
    mkdirSync(worktree.path, { recursive: true });
    await createWorktree(repository, worktree, never);
    writeFileSync(path.join(worktree.path, 'a.txt'), 'a');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt']);
  });
});

describe('settings that an agent leaves in the repository of all worktrees', () => {
  it.each([
    ['status.showUntrackedFiles', 'no'],
    ['core.excludesFile', 'everything'],
    ['commit.gpgSign', 'true'],
    ['commit.cleanup', 'strip'],
    ['core.safecrlf', 'true'],
    ['submodule.recurse', 'true'],
  ])('keep no work of another issue back: %s %s', async (key, value) => {
    const everything = path.join(home, 'everything');
    writeFileSync(everything, '*\n');
    const agent = await begin();
    git(agent.path, 'config', key, value === 'everything' ? everything : value);
    git(agent.path, 'config', 'gpg.program', 'false');
    const worktree = await begin('T-2');
    writeFileSync(path.join(worktree.path, 'new.txt'), 'a\r\nb\n');
    writeFileSync(path.join(worktree.path, '.gitattributes'), '*.txt text\n');
    await publish(repository, worktree, '#2: work', never);
    expect(filesOf(worktree.branch)).toEqual(['.gitattributes', 'README.md', 'new.txt']);
    expect(git(remote, 'log', '-1', '--format=%s', worktree.branch)).toBe('#2: work');
  });

  it.each([
    ['merge.ff', 'only'],
    ['branch.foray/T-1.mergeOptions', '--squash'],
  ])('do not change how what others pushed is brought in: %s %s', async (key, value) => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    const theirs = pushByPerson(worktree.branch, 'person.txt', 'mine');
    commit(worktree.path, 'b.txt', 'b', 'b');
    git(worktree.path, 'config', key, value);
    expect(await update(worktree)).toBe(true);
    expect(git(worktree.path, 'merge-base', 'HEAD', theirs)).toBe(theirs);
  });

  it('do not change the files of others', async () => {
    const agent = await begin();
    git(agent.path, 'config', 'core.fileMode', 'false');
    git(agent.path, 'config', 'core.autocrlf', 'true');
    const worktree = await begin('T-2');
    writeFileSync(path.join(worktree.path, 'crlf.txt'), 'a\r\nb\r\n');
    chmodSync(path.join(worktree.path, 'README.md'), 0o755);
    await deliver(worktree);
    expect(git(remote, 'ls-tree', worktree.branch, 'README.md')).toContain('100755');
    expect(execFileSync('git', ['show', `${worktree.branch}:crlf.txt`], { cwd: remote, encoding: 'utf8' })).toBe('a\r\nb\r\n');
  });

  it.each([
    ['core.worktree', ['core.worktree', '/tmp']],
    ['core.bare', ['core.bare', 'false']],
    ['the version', ['core.repositoryformatversion', '99']],
    ['an extension', ['extensions.partialClone', 'origin']],
    ['a second address', ['--add', 'remote.origin.url', 'https://elsewhere']],
  ])('stop no other issue: %s', async (_, args) => {
    git((await begin()).path, 'config', ...args);
    const worktree = await begin('T-2');
    writeFileSync(path.join(worktree.path, 'a.txt'), 'a');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'a.txt']);
    expect(git(worktree.path, 'remote', 'get-url', '--all', 'origin')).toBe(remote);
  });

  it('are begun anew where git cannot read them', async () => {
    const agent = await begin();
    writeFileSync(path.join(repository.shared, 'config'), '[[[\n');
    writeFileSync(path.join(agent.path, 'a.txt'), 'a');
    await deliver(agent);
    expect(filesOf(agent.branch)).toEqual(['README.md', 'a.txt']);
    expect(git(agent.path, 'remote', 'get-url', 'origin')).toBe(remote);
  });

  it('and attributes are gone before the work of another is committed', async () => {
    await begin();
    const worktree = await begin('T-2');
    writeFileSync(path.join(repository.shared, 'info', 'attributes'), '* ident filter=none text eol=crlf\n');
    writeFileSync(path.join(worktree.path, 'new.txt'), 'a\r\n');
    await deliver(worktree);
    expect(execFileSync('git', ['show', `${worktree.branch}:new.txt`], { cwd: remote, encoding: 'utf8' })).toBe('a\r\n');
  });

  it('and those of the user of the service: a signature that nobody can give is not asked for, files stay excluded', async () => {
    writeFileSync(path.join(home, 'mine'), '*.swp\n');
    const settings = `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = false\n[core]\n\texcludesFile = ${home}/mine\n`;
    writeFileSync(path.join(home, '.gitconfig'), settings);
    repository = repositoryWith(null, { ...process.env, HOME: home });
    const worktree = await begin();
    git(worktree.path, 'config', 'core.excludesFile', path.join(home, 'nowhere'));
    for (const name of ['new.txt', 'new.swp']) writeFileSync(path.join(worktree.path, name), 'work');
    await deliver(worktree);
    expect(filesOf(worktree.branch)).toEqual(['README.md', 'new.txt']);
  });
});

describe('the base branch', () => {
  const rename = (from: string, to: string): void => {
    git(remote, 'branch', '-m', from, to);
    git(remote, 'symbolic-ref', 'HEAD', `refs/heads/${to}`);
  };

  it('is the default branch as the remote names it now', async () => {
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    expect(await deliver(worktree)).toMatchObject({ base: 'trunk' });
    rename('trunk', 'main');
    expect(await update(worktree)).toBe(true);
    commit(worktree.path, 'b.txt', 'b', 'b');
    expect(await deliver(worktree)).toMatchObject({ base: 'main' });
    git(remote, 'branch', 'develop', 'main');
    git(remote, 'symbolic-ref', 'HEAD', 'refs/heads/develop');
    const other = await begin('T-2');
    commit(other.path, 'a.txt', 'a', 'a');
    expect(await deliver(other)).toMatchObject({ base: 'develop' });
  });

  it('that is set and gone is told before a run, not after it', async () => {
    repository = repositoryWith('trunk');
    const worktree = await begin();
    commit(worktree.path, 'a.txt', 'a', 'a');
    await deliver(worktree);
    rename('trunk', 'main');
    await expect(update(worktree)).rejects.toThrow(/has no branch trunk: push it, or name another one as workspace\.base_branch/);
    rmSync(worktree.path, { recursive: true });
    await expect(begin()).rejects.toThrow('has no branch trunk');
  });
});

it.each([
  'shared.git/worktrees/T-1/index.lock',
  'shared.git/worktrees/T-1/HEAD.lock',
  'shared.git/refs/heads/foray/T-1.lock',
  'shared.git/refs/remotes/origin/trunk.lock',
  'shared.git/config.lock',
  'shared.git/packed-refs.lock',
  'control.git/refs/heads/trunk.lock',
  'control.git/refs/foray/pushed/foray/T-1.lock',
])('a lock that a dead git left holds nothing up: %s', async (name) => {
  const worktree = await begin();
  const lock = path.join(path.dirname(repository.shared), name);
  const leave = (): void => {
    mkdirSync(path.dirname(lock), { recursive: true });
    writeFileSync(lock, '');
    utimesSync(lock, new Date(), new Date(Date.now() - 6_000));
  };
  leave();
  writeFileSync(path.join(worktree.path, 'a.txt'), 'a');
  await deliver(worktree);
  leave();
  pushByPerson(worktree.branch, 'person.txt', 'mine');
  pushByPerson('trunk', 'new.txt', 'new');
  expect(await update(worktree)).toBe(true);
  expect(git(worktree.path, 'ls-files')).toContain('person.txt');
});

it('a lock that somebody holds right now is left alone', async () => {
  await begin();
  const lock = path.join(repository.control, 'refs', 'heads', 'trunk.lock');
  writeFileSync(lock, '');
  await repository.mend(never);
  expect(existsSync(lock)).toBe(true);
});

it('a git that is stopped takes its locks away', async () => {
  const worktree = await begin();
  writeFileSync(path.join(worktree.path, 'README.md'), 'changed');
  const lock = path.join(repository.shared, 'worktrees', 'T-1', 'index.lock');
  const stop = new AbortController();
  const author = ['-c', 'user.name=A', '-c', 'user.email=a@localhost'];
  const how = [...author, '-c', 'core.editor=sleep 60 #', 'commit', '--all'];
  const stopped = expect(repository.local(worktree.path, how, stop.signal)).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(existsSync(lock)).toBe(true), 10_000);
  stop.abort();
  await stopped;
  expect(existsSync(lock)).toBe(false);
});

it('files outside of a sparse checkout of the agent are delivered', async () => {
  const worktree = await begin();
  mkdirSync(path.join(worktree.path, 'docs'));
  commit(worktree.path, 'docs/a.md', 'a', 'a');
  git(worktree.path, 'sparse-checkout', 'set', 'src');
  for (const folder of ['src', 'docs']) mkdirSync(path.join(worktree.path, folder), { recursive: true });
  for (const name of ['src/b.ts', 'docs/b.md']) writeFileSync(path.join(worktree.path, name), 'b');
  await deliver(worktree);
  expect(filesOf(worktree.branch)).toEqual(['README.md', 'docs/a.md', 'docs/b.md', 'src/b.ts']);
});

it('a repository without a commit inside of the work is left for a person, with its folder', async () => {
  const worktree = await begin();
  mkdirSync(path.join(worktree.path, "the 'sub"));
  git(path.join(worktree.path, "the 'sub"), 'init', '--quiet');
  writeFileSync(path.join(worktree.path, "the 'sub", 'f.txt'), 'f');
  await expect(deliver(worktree)).rejects.toMatchObject({
    retryable: false,
    message: expect.stringContaining(`${worktree.path}/the 'sub/ is a repository of its own without a commit: `) as string,
  });
});

describe('a repository with commits inside of the work', () => {
  const embed = (place: string, folder: string): void => {
    const inner = path.join(place, folder);
    mkdirSync(inner, { recursive: true });
    git(inner, 'init', '--quiet');
    commit(inner, 'f.txt', 'f', 'inner');
  };

  it.each([false, true])('is left for a person, with its folder; committed by the agent: %s', async (isCommitted) => {
    const worktree = await begin();
    embed(worktree.path, 'vendor/ünder');
    if (isCommitted) commit(worktree.path, 'a.txt', 'a', 'all');
    await expect(deliver(worktree)).rejects.toMatchObject({
      retryable: false,
      message: expect.stringContaining(`${worktree.path}/vendor/ünder is a repository of its own`) as string,
    });
    expect(git(remote, 'branch', '--list', worktree.branch)).toBe('');

    git(worktree.path, 'rm', '--quiet', '--cached', 'vendor/ünder');
    rmSync(path.join(worktree.path, 'vendor/ünder/.git'), { recursive: true });
    await deliver(worktree);
    expect(git(remote, 'show', `${worktree.branch}:vendor/ünder/f.txt`)).toBe('f');
  });

  it('is delivered as the submodule that it is', async () => {
    const worktree = await begin();
    embed(worktree.path, 'inner');
    writeFileSync(path.join(worktree.path, '.gitmodules'), '[submodule "any"]\n\tpath = inner\n\turl = ../inner.git\n');
    await deliver(worktree);
    expect(git(remote, 'ls-tree', worktree.branch, 'inner')).toContain('160000 commit');
  });
});
