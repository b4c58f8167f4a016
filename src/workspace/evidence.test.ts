import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceBench, type WorkspaceBench } from '../../test/support/workspaces.ts';

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
    expect(await bench.workspaces.readStatus(workspace)).toBeNull();
    git('checkout', '-q', '--', '.foray/status');
    expect(await bench.workspaces.readStatus(workspace)).toBeNull();
    await writeFile(path.join(workspace, '.foray', 'status'), 'no-change-needed\nits own');
    expect(await bench.workspaces.readStatus(workspace)).toEqual({ word: 'no-change-needed', statement: 'its own' });
  });

  it('are cleared also where a hook wrote them', async () => {
    await bench.workspaces.beforeRun(bench.subject({ beforeRun: 'echo blocked > .foray/status' }), signal);
    expect(await bench.workspaces.readStatus(workspace)).toBeNull();
  });
});
