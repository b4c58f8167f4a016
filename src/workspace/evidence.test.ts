import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceBench, makeDeep, type WorkspaceBench } from '../../test/support/workspaces.ts';
import { hasWorkSince, lookAtWork } from './evidence.ts';
import { createEarlierFiles } from './earlier-files.ts';

let bench: WorkspaceBench;
let workspace: string;
const { signal } = new AbortController();
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: workspace, stdio: 'pipe' });
const look = () => bench.workspaces.workBefore(bench.subject(), signal);
const shows = (before: string) => bench.workspaces.hasWorkSince(bench.subject(), before, signal);
const known = async () => {
  git('init', '-q');
  await writeFile(path.join(workspace, 'known.ts'), 'x');
  await writeFile(path.join(workspace, '.gitignore'), 'ignored\n');
  git('add', '.');
  git('commit', '-qm', 'first');
};
beforeEach(async () => {
  bench = await createWorkspaceBench();
  ({ path: workspace } = await bench.workspaces.prepare(bench.subject(), signal));
});
afterEach(() => bench.cleanUp());

describe('evidence of work', () => {
  const DEEDS: Readonly<Record<string, () => unknown>> = {
    'a new file': () => writeFile(path.join(workspace, 'new.ts'), 'x'),
    'a changed file': () => writeFile(path.join(workspace, 'known.ts'), 'changed'),
    'a commit': () => git('commit', '--allow-empty', '-qm', 'work'),
    'a commit on another branch': () => git('checkout', '-qb', 'work') && git('commit', '--allow-empty', '-qm', 'work'),
    'a file that is deleted': () => rm(path.join(workspace, 'known.ts')),
    'a file that is made executable': () => chmod(path.join(workspace, 'known.ts'), 0o755),
    'a pushed branch': () => {
      git('init', '-q', '--bare', path.join(bench.base, 'far.git'));
      git('remote', 'add', 'origin', path.join(bench.base, 'far.git'));
      git('push', '-q', 'origin', 'HEAD:refs/heads/work');
    },
  };
  it.each(Object.entries(DEEDS))('in a repository: %s', async (_name, deed) => {
    await known();
    const before = await look();
    await writeFile(path.join(workspace, '.foray', 'scm.json'), '{}');
    await writeFile(path.join(workspace, 'ignored'), 'x');
    expect(await shows(before)).toBe(false);
    await deed();
    expect(await shows(before)).toBe(true);
  });

  const IDLE: Readonly<Record<string, () => unknown>> = {
    'a new branch on a known commit': () => git('checkout', '-qb', 'work'),
    'another name for a known commit': () => git('branch', 'work'),
    'a branch that is deleted': () => git('branch', '-qD', 'other'),
    'a tag': () => git('tag', 'v1'),
    'a file that is written anew as it was': () => writeFile(path.join(workspace, 'untracked'), 'x'),
    'a file that is added': () => git('add', 'untracked'),
    'a repository that is gone': () => rm(path.join(workspace, '.git'), { recursive: true }),
    'a repository that is begun anew': async () => {
      await rm(path.join(workspace, '.git'), { recursive: true });
      git('init', '-q');
    },
  };
  it.each(Object.entries(IDLE))('is not in a repository: %s', async (_name, deed) => {
    await known();
    git('checkout', '-qb', 'other');
    git('commit', '--allow-empty', '-qm', 'other');
    git('checkout', '-q', '-');
    await writeFile(path.join(workspace, 'untracked'), 'x');
    await utimes(path.join(workspace, 'untracked'), 1, 1);
    const before = await look();
    await deed();
    expect(await shows(before)).toBe(false);
  });

  describe('in a clone', () => {
    const far = () => path.join(bench.base, 'far.git');
    const colleague = (...args: string[]) => git('-C', path.join(bench.base, 'colleague'), ...args);
    const headOf = () => git('rev-parse', 'HEAD').toString().trim();
    const theirWork = () => {
      colleague('commit', '--allow-empty', '-qm', 'theirs');
      colleague('push', '-q', 'origin', 'HEAD:main', 'HEAD:theirs');
    };
    const clone = async () => {
      await known();
      for (const name of ['second', 'third']) git('commit', '--allow-empty', '-qm', name);
      git('clone', '-q', '--bare', '.', far());
      git('-C', far(), 'symbolic-ref', 'HEAD', 'refs/heads/main');
      git('push', '-q', far(), 'HEAD:refs/heads/main');
      git('remote', 'add', 'origin', far());
      git('fetch', '-q', 'origin');
      git('clone', '-q', far(), path.join(bench.base, 'colleague'));
    };
    const commit = () => git('commit', '--allow-empty', '-qm', 'work');

    const IDLE_THERE: Readonly<Record<string, () => unknown>> = {
      'a fetch of what others pushed': () => git('fetch', '-q', 'origin'),
      'a pull of it': () => git('pull', '-q', '--ff-only', 'origin', 'main'),
      'a pull of it by its address': () => git('pull', '-q', '--ff-only', far(), 'main'),
      'a branch on it': () => git('fetch', '-q') && git('checkout', '-qb', 'work', 'origin/theirs'),
      'a branch fetched as one of our own': () => git('fetch', '-q', 'origin', 'theirs:work') && git('checkout', '-q', 'work'),
      'a reset to it': () => git('fetch', '-q') && git('reset', '-q', '--hard', 'origin/main'),
      'an older commit that is checked out': () => git('checkout', '-q', 'HEAD~2'),
      'a branch on an older commit': () => git('branch', 'older', 'HEAD~2'),
      'a reset to an older commit': () => git('reset', '-q', '--hard', 'HEAD~1'),
      'a commit that is dropped again': () => commit() && git('reset', '-q', '--hard', 'HEAD~1'),
      'a name of a remote branch that nobody pushed': () => git('update-ref', 'refs/remotes/origin/fake', 'HEAD'),
    };
    it.each(Object.entries(IDLE_THERE))('is not: %s', async (_name, deed) => {
      await clone();
      const before = await look();
      theirWork();
      await deed();
      expect(await shows(before)).toBe(false);
    });

    it('is not: a commit of an earlier run that is gone back to', async () => {
      await clone();
      commit();
      const dropped = headOf();
      git('reset', '-q', '--hard', 'HEAD~1');
      const before = await look();
      git('reset', '-q', '--hard', dropped);
      expect(await shows(before)).toBe(false);
    });

    const DEEDS_THERE: Readonly<Record<string, () => unknown>> = {
      'a commit on what others pushed': () => git('pull', '-q', '--ff-only', 'origin', 'main') && commit(),
      'a merge of it': () => commit() && git('pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main'),
      'a commit that is amended': () => git('commit', '--amend', '--allow-empty', '-qm', 'better'),
      'a commit that is rebased': () => commit() && git('pull', '-q', '--rebase', 'origin', 'main'),
      'a commit of others that is picked': () => git('fetch', '-q') && git('cherry-pick', '--allow-empty', 'origin/theirs'),
      'a commit on no branch': () => git('checkout', '-q', '--detach') && commit(),
      'a commit on a branch that was left': () => git('checkout', '-qb', 'work') && commit() && git('checkout', '-q', '-'),
      'a commit that was pushed': () => commit() && git('push', '-q', 'origin', 'HEAD:work'),
      'a commit that was pushed, whose branch is deleted here': () => {
        git('checkout', '-qb', 'work');
        commit();
        git('push', '-q', 'origin', 'work');
        git('checkout', '-q', '-');
        git('branch', '-qD', 'work');
      },
      'a commit that was pushed and fetched again': () => {
        commit();
        git('push', '-q', far(), 'HEAD:refs/heads/work');
        git('fetch', '-q', 'origin');
      },
      'a branch that was pushed before others pushed to it': () => {
        git('push', '-q', 'origin', 'HEAD:refs/heads/work');
        colleague('push', '-q', 'origin', 'HEAD:work');
        git('fetch', '-q', 'origin');
      },
      'a commit by a program that notes nothing': () => {
        const made = git('commit-tree', '-p', 'HEAD', '-m', 'work', 'HEAD^{tree}').toString().trim();
        git('-c', 'core.logAllRefUpdates=false', 'push', '-q', far(), `${made}:refs/heads/work`);
        git('fetch', '-q', 'origin');
        writeFileSync(path.join(workspace, '.git', 'HEAD'), `${made}\n`);
      },
      'a commit where git notes nothing': async () => {
        await rm(path.join(workspace, '.git', 'logs'), { recursive: true });
        git('config', 'core.logAllRefUpdates', 'false');
        commit();
        git('push', '-q', 'origin', 'HEAD:work');
      },
    };
    it.each(Object.entries(DEEDS_THERE))('is: %s', async (_name, deed) => {
      await clone();
      const before = await look();
      theirWork();
      await deed();
      expect(await shows(before)).toBe(true);
    });

    it('is not what others do in worktrees of the same repository', async () => {
      await clone();
      const other = path.join(bench.base, 'other');
      git('worktree', 'add', '-q', '-b', 'other', other);
      const before = await look();
      git('-C', other, 'commit', '--allow-empty', '-qm', 'theirs');
      expect(await shows(before)).toBe(false);
      git('merge', '-q', '--ff-only', 'other');
      expect(await shows(before)).toBe(false);
      commit();
      expect(await shows(before)).toBe(true);
    });

    it('is not a submodule that is checked out', async () => {
      await clone();
      git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', far(), 'inner');
      git('commit', '-qm', 'with a submodule');
      git('submodule', '--quiet', 'deinit', '-f', 'inner');
      const before = await look();
      git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'update', '--init');
      expect(await shows(before)).toBe(false);
      git('-C', path.join(workspace, 'inner'), 'commit', '--allow-empty', '-qm', 'work');
      expect(await shows(before)).toBe(true);
    });
  });

  it.each(['packed-refs', 'config', 'FETCH_HEAD', 'index', 'info/exclude', 'refs/heads/other'])(
    'is found at once where a pipe stands for %s',
    async (name) => {
      await known();
      const before = await look();
      await writeFile(path.join(workspace, 'known.ts'), 'changed');
      await rm(path.join(workspace, '.git', name), { force: true });
      execFileSync('mkfifo', [path.join(workspace, '.git', name)]);
      expect(await shows(before)).toBe(true);
    },
  );

  it.each<[string, (folder: string) => unknown]>([
    ['a file', (folder) => writeFile(path.join(workspace, '.git'), `gitdir: ${folder}\n`)],
    ['a link', (folder) => symlink(folder, path.join(workspace, '.git'))],
    ['the folder of another', (folder) => git('init', '-q') && writeFile(path.join(workspace, '.git/commondir'), `${folder}\n`)],
  ])('takes no pipe out of a folder elsewhere that %s names as the repository, and says what to do', async (_name, lead) => {
    const before = await look();
    const pipe = path.join(bench.base, 'elsewhere', 'refs', 'pipe');
    await mkdir(path.dirname(pipe), { recursive: true });
    execFileSync('mkfifo', [pipe]);
    await lead(path.join(bench.base, 'elsewhere'));
    await createEarlierFiles().clear(workspace, signal);
    await expect(shows(before)).rejects.toThrow(/\.git leads git to .*pipe, a pipe or a device, .*; remove .*\.git by hand/);
    expect(existsSync(pipe)).toBe(true);
  });

  it('is refused with the reason where a pipe stands for a file of the work that git reads', async () => {
    await known();
    const before = await look();
    await rm(path.join(workspace, '.gitignore'));
    execFileSync('mkfifo', [path.join(workspace, '.gitignore')]);
    await expect(shows(before)).rejects.toThrow(/\.gitignore is a pipe or a device/);
  });

  it('is looked for without a program that the repository names', async () => {
    git('init', '-q');
    await writeFile(path.join(workspace, 'known.ts'), 'x');
    git('add', '.');
    git('commit', '-qm', 'first');
    const ran = path.join(bench.base, 'ran');
    for (const name of ['thief', 'with=sign and "quotes"'])
      for (const key of ['clean', 'process']) git('config', `filter.${name}.${key}`, `touch ${ran}; cat`);
    git('config', 'core.fsmonitor', `touch ${ran}; false`);
    await writeFile(path.join(workspace, '.gitattributes'), '* filter=thief\n');
    const before = await look();
    await writeFile(path.join(workspace, 'known.ts'), 'y');
    expect(await shows(before)).toBe(true);
    expect(existsSync(ran)).toBe(false);
  });

  it('is looked for in submodules too, without a program that they name', async () => {
    const ran = path.join(bench.base, 'ran');
    const inner = path.join(workspace, 'inner');
    await mkdir(inner);
    const within = (...args: string[]) => git('-C', inner, ...args);
    within('init', '-q');
    await writeFile(path.join(inner, 'known.ts'), 'x');
    within('add', '.');
    within('commit', '-qm', 'first');
    git('init', '-q');
    await writeFile(path.join(workspace, '.gitmodules'), '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n');
    git('add', '.gitmodules', 'inner');
    git('commit', '-qm', 'first');
    git('config', 'submodule.inner.update', `!touch ${ran}`);
    for (const key of ['clean', 'process']) within('config', `filter.thief.${key}`, `touch ${ran}; cat`);
    within('config', 'core.fsmonitor', `touch ${ran}; false`);
    await writeFile(path.join(inner, '.git', 'info', 'attributes'), '* filter=thief\n');
    const before = await look();
    await writeFile(path.join(inner, 'known.ts'), 'y');
    expect(await shows(before)).toBe(true);
    expect(existsSync(ran)).toBe(false);
  });

  it('fetches nothing that is missing, which would run a program', async () => {
    const ran = path.join(bench.base, 'ran');
    git('init', '-q');
    await writeFile(path.join(workspace, '.foray', 'status'), 'blocked');
    git('add', '-f', '.foray/status');
    git('commit', '-qm', 'first');
    const blob = git('rev-parse', 'HEAD:.foray/status').toString().trim();
    const settings = { promisor: 'true', url: bench.base, uploadpack: `touch ${ran}; git-upload-pack` };
    git('config', 'core.repositoryFormatVersion', '1');
    git('config', 'extensions.partialClone', 'origin');
    for (const [key, value] of Object.entries(settings)) git('config', `remote.origin.${key}`, value);
    await rm(path.join(workspace, '.git', 'objects', blob.slice(0, 2), blob.slice(2)), { force: true });
    await bench.workspaces.beforeRun(bench.subject(), signal);
    await look();
    expect(existsSync(ran)).toBe(false);
  });

  it('elsewhere: any changed file but what the agent says of itself', async () => {
    await mkdir(path.join(workspace, 'deep'));
    await writeFile(path.join(workspace, 'deep', 'file'), 'x');
    const before = await look();
    await writeFile(path.join(workspace, '.foray', 'status'), 'needs-human-review');
    await writeFile(path.join(workspace, '.foray', 'scm.json'), '{}');
    expect(await shows(before)).toBe(false);
    await utimes(path.join(workspace, 'deep', 'file'), 1, 1);
    git('init', '-q');
    expect(await shows(before)).toBe(false);
    await writeFile(path.join(workspace, 'deep', 'file'), 'y');
    expect(await shows(before)).toBe(true);
  });

  it.each([true, false])('is not looked for once the run is stopped; in a repository: %s', async (inRepository) => {
    if (inRepository) await known();
    const before = await look();
    const stopped = AbortSignal.abort(new Error('stopped: operator'));
    await expect(bench.workspaces.workBefore(bench.subject(), stopped)).rejects.toThrow('stopped: operator');
    await expect(bench.workspaces.hasWorkSince(bench.subject(), before, stopped)).rejects.toThrow('stopped: operator');
  });

  describe('in more than can be read', () => {
    const make = async (count: number) => {
      for (let number = 0; number < count; number += 1) await writeFile(path.join(workspace, `file-${number}`), 'four');
    };
    const told = () => expect.fail('nothing is too much');

    it.each([true, false])('counts as done beyond so many entries, aloud; in a repository: %s', async (inRepository) => {
      if (inRepository) git('init', '-q');
      const look = { signal, user: null, most: { entries: 5, inFolder: 100, bytes: 1_000 } };
      await make(3);
      const before = await lookAtWork(workspace, look);
      expect(await hasWorkSince(before, workspace, look, told)).toBe(false);
      await make(9);
      let warned = 0;
      expect(await hasWorkSince(before, workspace, look, () => (warned += 1))).toBe(true);
      expect(warned).toBe(1);
    });

    it('counts as done beyond so many in one folder', async () => {
      const look = { signal, user: null, most: { entries: 100, inFolder: 5, bytes: 1_000 } };
      await make(3);
      const before = await lookAtWork(workspace, look);
      await make(9);
      let warned = 0;
      expect(await hasWorkSince(before, workspace, look, () => (warned += 1))).toBe(true);
      expect(warned).toBe(1);
    });

    it.each([true, false])('is told by size and time beyond so many bytes; in a repository: %s', async (inRepository) => {
      if (inRepository) git('init', '-q');
      const look = { signal, user: null, most: { entries: 100, inFolder: 100, bytes: 5 } };
      await make(2);
      const times = [new Date(1), new Date(2)] as const;
      for (const name of ['file-0', 'file-1']) await utimes(path.join(workspace, name), times[0], times[0]);
      const before = await lookAtWork(workspace, look);
      await utimes(path.join(workspace, 'file-0'), times[1], times[1]);
      expect(await hasWorkSince(before, workspace, look, told)).toBe(false);
      await utimes(path.join(workspace, 'file-1'), times[1], times[1]);
      expect(await hasWorkSince(before, workspace, look, told)).toBe(true);
    });
  });

  it('elsewhere: also where a folder lies deeper than the system can name', async () => {
    const before = await look();
    await makeDeep(path.join(workspace, 'deep'));
    expect(await shows(before)).toBe(true);
    expect(await shows(await look())).toBe(false);
  });

  it.skipIf(process.getuid?.() === 0)('elsewhere: also where a folder is closed', async () => {
    const before = await look();
    const closed = path.join(workspace, 'closed');
    await mkdir(closed, { mode: 0 });
    expect(await shows(before)).toBe(true);
    expect(await shows(await look())).toBe(false);
  });

  it('elsewhere: also where the workspaces lie in a repository that ignores them', async () => {
    git('init', '-q', bench.base);
    await writeFile(path.join(bench.base, '.gitignore'), '*\n');
    const before = await look();
    await writeFile(path.join(workspace, 'file'), 'x');
    expect(await shows(before)).toBe(true);
  });
});

describe('work of a run that did not end well', () => {
  const begin = async (subject = bench.subject()) => {
    await bench.workspaces.prepare(subject, signal);
    await bench.workspaces.beforeRun(subject, signal);
    return look();
  };
  const work = (text: string) => writeFile(path.join(workspace, 'known.ts'), text);

  it.each([true, false])('is counted for the next ones until one ends well; in a repository: %s', async (inRepository) => {
    if (inRepository) await known();
    const first = await begin();
    await work('done');
    const second = await begin();
    expect(await shows(second)).toBe(true);
    expect(second).toBe(first);
    expect(await shows(await begin())).toBe(true);
    await bench.workspaces.settleWork(bench.subject());
    expect(await shows(await begin())).toBe(false);
  });

  it('is not what a hook did before the next one, nor what a fresh workspace holds', async () => {
    await known();
    await begin();
    expect(await shows(await begin(bench.subject({ beforeRun: 'date +%N > made' })))).toBe(false);
    await work('done');
    await bench.workspaces.remove(bench.subject(), signal);
    expect(await shows(await begin(bench.subject({ afterCreate: 'echo x > known.ts' })))).toBe(false);
  });

  it.each<[string, (note: string) => Promise<unknown>]>([
    ['forged', async (note) => writeFile(note, (await readFile(note, 'utf8')).replace(/[0-9a-f]{64}$/, 'f'.repeat(64)))],
    ['a link', async (note) => rename(note, `${note}.moved`).then(() => symlink(`${note}.moved`, note))],
    ['a directory', async (note) => rm(note).then(() => mkdir(note))],
  ])('is not told by a note that is %s', async (_name, spoil) => {
    await begin();
    await work('done');
    await spoil(path.join(bench.root, '.foray-marks', 'ABC-1.json.work'));
    expect(await shows(await begin())).toBe(false);
    await work('more');
    expect(await shows(await begin())).toBe(true);
  });
});

describe('words that were there before the run', () => {
  it('are cleared, and ignored when they come back unchanged from the repository', async () => {
    git('init', '-q');
    await writeFile(path.join(workspace, '.foray', 'status'), 'no-change-needed\nprepared');
    git('add', '-f', '.foray/status');
    git('commit', '-qm', 'a trap');
    await bench.workspaces.beforeRun(bench.subject(), signal);
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toBeNull();
    git('checkout', '-q', '--', '.foray/status');
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toBeNull();
    await writeFile(path.join(workspace, '.foray', 'status'), 'no-change-needed\nits own');
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toEqual({
      word: 'no-change-needed',
      statement: 'its own',
    });
  });

  it('are cleared also where a hook wrote them', async () => {
    await bench.workspaces.beforeRun(bench.subject({ beforeRun: 'echo blocked > .foray/status' }), signal);
    expect(await bench.workspaces.readStatus(bench.subject(), workspace)).toBeNull();
  });
});
