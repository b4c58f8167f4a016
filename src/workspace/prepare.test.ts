import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkspaceBench, type WorkspaceBench } from '../../test/support/workspaces.ts';
import { findRootProblem } from './root.ts';

const signal = new AbortController().signal;
let bench: WorkspaceBench;
beforeEach(async () => {
  bench = await createWorkspaceBench();
});
afterEach(() => bench.cleanUp());

const at = (...parts: string[]): string => path.join(bench.root, 'ABC-1', ...parts);

describe('prepare', () => {
  it('keeps the work, and clears what was said before the run', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    await writeFile(at('work'), 'half done');
    await writeFile(at('.foray', 'status'), 'blocked');
    await writeFile(at('.foray', 'scm.json'), '{}');
    await bench.workspaces.prepare(bench.subject(), signal);
    expect((await readdir(at('.foray'))).sort()).toEqual(['.gitignore']);
    expect(await readFile(at('work'), 'utf8')).toBe('half done');
  });

  it('clears a status that is a directory', async () => {
    await mkdir(at('.foray', 'status', 'deep'), { recursive: true });
    await bench.workspaces.prepare(bench.subject(), signal);
    expect(await readdir(at('.foray'))).toEqual(['.gitignore']);
  });

  it('stops before it begins when it is aborted', async () => {
    await expect(bench.workspaces.prepare(bench.subject(), AbortSignal.abort())).rejects.toMatchObject({
      name: 'WorkspaceError',
    });
    expect(existsSync(bench.root)).toBe(false);
  });
});

describe('a workspace that was taken away under its agent', () => {
  it.each([
    ['is not handed over', () => Promise.resolve()],
    ['is not handed over when the agent made another in its place', () => mkdir(at('by', 'its', 'tools'), { recursive: true })],
  ])('%s', async (_name, remake) => {
    await bench.workspaces.prepare(bench.subject(), signal);
    await bench.workspaces.beforeRun(bench.subject(), signal);
    // Not deleted: its number would be given again, perhaps in the same moment.
    await rename(at(), path.join(bench.base, 'taken'));
    await remake();
    await expect(bench.workspaces.deliver(bench.subject(), signal)).rejects.toThrow('the workspace of ABC-1 is gone');
  });

  it('is not one that the agent only cleaned', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    await bench.workspaces.beforeRun(bench.subject(), signal);
    await rm(at('.foray'), { recursive: true });
    expect(await bench.workspaces.deliver(bench.subject(), signal)).toBeNull();
  });
});

describe('findProblem', () => {
  it('finds none where the root can be made, and makes nothing', async () => {
    expect(await bench.workspaces.findProblem()).toBeNull();
    expect(existsSync(bench.root)).toBe(false);
  });

  it('names what stands in the way', async () => {
    await writeFile(bench.root, 'a file');
    expect(await bench.workspaces.findProblem()).toBe(
      `workspace.root ${bench.root} is not a directory: name another place, or move what is there away`,
    );
    await rm(bench.root);
    await symlink('/nowhere/at/all', bench.root);
    expect(await bench.workspaces.findProblem()).toContain(`${bench.root} is a link that leads nowhere`);
    await rm(bench.root);
    await symlink(bench.root, bench.root);
    expect(await bench.workspaces.findProblem()).toContain('is not writable: a link in its path leads back to itself (ELOOP');
  });

  it.runIf(process.platform === 'linux').each(['/proc/nope', '/sys/a/b'])(
    'names %s as one that no directory can be made in, whatever its rights say',
    async (root) => {
      const problem = await findRootProblem(root);
      if (process.getuid?.() !== 0) expect(problem).toContain('is not writable');
      else
        expect(problem).toBe(`workspace.root ${root}: no directory can be made there: the file system of that place takes none`);
    },
  );

  it.skipIf(process.getuid?.() === 0)('names a root that is not writable', async () => {
    await mkdir(bench.root);
    await chmod(bench.root, 0o500);
    expect(await bench.workspaces.findProblem()).toContain('is not writable');
  });
});
