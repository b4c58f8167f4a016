import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceBench, type WorkspaceBench } from '../../test/support/workspaces.ts';

let bench: WorkspaceBench;
let workspace: string;
const { signal } = new AbortController();
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: workspace, stdio: 'pipe' });
const look = () => bench.workspaces.fingerprint(workspace, signal);
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
    'a branch': () => git('branch', 'work'),
  };
  it.each(Object.entries(DEEDS))('in a repository: %s', async (_name, deed) => {
    git('init', '-q');
    await writeFile(path.join(workspace, 'known.ts'), 'x');
    await writeFile(path.join(workspace, '.gitignore'), 'ignored\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    const before = await look();
    await writeFile(path.join(workspace, '.foray', 'scm.json'), '{}');
    await writeFile(path.join(workspace, 'ignored'), 'x');
    expect(await look()).toBe(before);
    await deed();
    expect(await look()).not.toBe(before);
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
    expect(await look()).not.toBe(before);
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
    expect(await look()).not.toBe(before);
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
    expect(await look()).toBe(before);
    await utimes(path.join(workspace, 'deep', 'file'), 1, 1);
    expect(await look()).not.toBe(before);
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
