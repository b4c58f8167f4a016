import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync } from 'node:fs';
import fs, {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWorkspaceBench, makeDeep } from '../../test/support/workspaces.ts';
import type { WorkspaceBench } from '../../test/support/workspaces.ts';
import { markUnfinished } from './unfinished-mark.ts';

const signal = new AbortController().signal;
let bench: WorkspaceBench;
let outside: string;

beforeEach(async () => {
  bench = await createWorkspaceBench();
  outside = path.join(bench.base, 'outside');
  await mkdir(outside);
  await writeFile(path.join(outside, 'status'), 'blocked\nfrom outside');
  await writeFile(path.join(outside, 'precious'), 'keep me');
});
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await bench.cleanUp();
});

const at = (...parts: string[]): string => path.join(bench.root, 'ABC-1', ...parts);

async function expectOutsideUntouched(): Promise<void> {
  expect((await readdir(outside)).sort()).toEqual(['precious', 'status']);
  expect(await readFile(path.join(outside, 'status'), 'utf8')).toBe('blocked\nfrom outside');
  expect(await readFile(path.join(outside, 'precious'), 'utf8')).toBe('keep me');
}

/** Does something right before a file or directory of this name is opened: after every look at it. */
function beforeOpening(name: string, act: () => unknown): void {
  const { open } = fs;
  vi.spyOn(fs, 'open').mockImplementation(async (...args) => {
    if (path.basename(String(args[0])) === name) await act();
    return open(...args);
  });
  syncBuiltinESMExports();
}

async function putLink(place: string, target: string): Promise<void> {
  await rename(place, path.join(bench.base, 'aside'));
  await symlink(target, place);
}

describe('containment', () => {
  it('keeps every identifier right under the root, to the disk and back', async () => {
    const wild = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.stringMatching(/^[./~a\\-]{1,12}$/),
      fc.constantFrom(
        '../../outside',
        '/etc/passwd',
        'a\0b',
        'CON',
        '.git',
        '-rf',
        '~',
        '$HOME',
        '`id`',
        'x'.repeat(4_000),
        '😀'.repeat(90),
      ),
    );
    await fc.assert(
      fc.asyncProperty(wild, async (identifier) => {
        const subject = bench.subject({}, identifier);
        const [name] = bench.workspaces.namesOf(identifier, subject.tracker);
        if (name === undefined) {
          await expect(bench.workspaces.prepare(subject, signal)).rejects.toMatchObject({ retryable: false });
          return;
        }
        const expected = path.join(bench.root, name);
        expect((await bench.workspaces.prepare(subject, signal)).path).toBe(expected);
        expect(await bench.workspaces.list()).toEqual([name]);
        expect(await bench.workspaces.remove(subject, signal)).toMatchObject({ removed: true });
        expect(await readdir(bench.root)).toEqual(['.foray-marks']);
      }),
      { numRuns: 60 },
    );
    expect((await readdir(bench.base)).sort()).toEqual(['outside', 'root']);
  });

  it('makes the root on demand, for its user and group only, and follows a root that is a link', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    expect((await stat(bench.root)).mode & 0o777).toBe(0o750 & ~process.umask());
    const link = path.join(bench.base, 'link');
    await symlink(bench.root, link);
    const { createWorkspaces } = await import('./index.ts');
    const linked = createWorkspaces({
      markKey: 'key',
      removedDays: 7,
      root: path.join(link, 'deeper'),
      env: {},
      logger: { debug() {}, info() {}, warn() {}, error() {} },
      processes: { started() {}, ended() {} },
      maskSecrets: (text) => text,
    });
    expect((await linked.prepare(bench.subject({}, 'A-1'), signal)).path).toBe(path.join(bench.root, 'deeper', 'A-1'));
  });

  it('refuses a workspace that is a link, for every use', async () => {
    await mkdir(bench.root);
    await mkdir(path.join(outside, '.foray'));
    await writeFile(path.join(outside, '.foray', 'status'), 'blocked');
    await symlink(outside, at());
    const subject = bench.subject({ beforeRun: 'touch ran', afterRun: 'touch ran', beforeRemove: 'touch ran' });
    const refusal = { message: expect.stringContaining('is a symbolic link') as string, retryable: false };
    await expect(bench.workspaces.prepare(subject, signal)).rejects.toMatchObject(refusal);
    await expect(bench.workspaces.beforeRun(subject, signal)).rejects.toMatchObject(refusal);
    await expect(bench.workspaces.requireOwn(subject, signal)).rejects.toMatchObject(refusal);
    await expect(bench.workspaces.remove(subject, signal)).rejects.toMatchObject(refusal);
    await bench.workspaces.afterRun(subject, signal);
    expect(await bench.workspaces.readStatus(bench.subject(), at())).toBeNull();
    expect(await bench.workspaces.list()).toEqual([]);
    expect((await readdir(outside)).sort()).toEqual(['.foray', 'precious', 'status']);
  });

  it('refuses a data folder that is a link, for reads and writes', async () => {
    await mkdir(at(), { recursive: true });
    await symlink(outside, at('.foray'));
    await expect(bench.workspaces.prepare(bench.subject(), signal)).rejects.toThrow('.foray is a symbolic link');
    expect(await bench.workspaces.readStatus(bench.subject(), at())).toBeNull();
    expect(await bench.workspaces.readScm(bench.subject(), at())).toBeNull();
    await expectOutsideUntouched();
  });

  it('refuses what is no directory', async () => {
    await mkdir(bench.root);
    await writeFile(at(), 'a file');
    await expect(bench.workspaces.prepare(bench.subject(), signal)).rejects.toThrow('is not a directory');
    await expect(bench.workspaces.remove(bench.subject(), signal)).rejects.toThrow('is not a directory');
  });

  it('replaces links in the data folder instead of writing through them', async () => {
    await mkdir(at('.foray'), { recursive: true });
    await symlink(path.join(outside, 'status'), at('.foray', 'status'));
    await symlink(path.join(outside, 'precious'), at('.foray', '.gitignore'));
    await bench.workspaces.prepare(bench.subject(), signal);
    expect(existsSync(at('.foray', 'status'))).toBe(false);
    expect(await readFile(at('.foray', '.gitignore'), 'utf8')).toBe('*\n');
    expect(await readFile(path.join(outside, 'precious'), 'utf8')).toBe('keep me');
    await expectOutsideUntouched();
  });

  it('is held up by no pipe, directory or endless file in the place of one that it reads', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    const kinds = {
      pipe: (file: string) => execFileSync('mkfifo', [file]),
      directory: (file: string) => mkdir(file),
      endless: async (file: string) => {
        await writeFile(file, 'blocked\n');
        await truncate(file, 2 ** 40);
      },
    };
    for (const make of Object.values(kinds)) {
      for (const name of ['status', 'scm.json', '.gitignore']) {
        await rm(at('.foray', name), { recursive: true, force: true });
        await make(at('.foray', name));
      }
      await bench.workspaces.readStatus(bench.subject(), at());
      expect(await bench.workspaces.readScm(bench.subject(), at())).toBeNull();
      await bench.workspaces.prepare(bench.subject(), signal);
      await bench.workspaces.beforeRun(bench.subject(), signal);
      expect(await readFile(at('.foray', '.gitignore'), 'utf8')).toBe('*\n');
    }
  });

  it('reads no path outside of the root, and none of its own folders there', async () => {
    await mkdir(path.join(outside, '.foray'));
    await writeFile(path.join(outside, '.foray', 'status'), 'blocked');
    const removed = path.join(bench.root, '.foray-removed');
    await mkdir(path.join(removed, '.foray'), { recursive: true });
    await writeFile(path.join(removed, '.foray', 'status'), 'blocked');
    for (const wrong of [outside, path.join(bench.root, '..', 'outside'), bench.root, at('deeper'), removed]) {
      expect(await bench.workspaces.readStatus(bench.subject(), wrong)).toBeNull();
    }
    expect(bench.log.filter(({ message }) => message === 'status file ignored')).toHaveLength(5);
  });

  describe('reads nothing from elsewhere when, between the look and the read,', () => {
    beforeEach(async () => {
      await bench.workspaces.prepare(bench.subject(), signal);
      await writeFile(at('.foray', 'status'), 'blocked\nown words');
      await mkdir(path.join(outside, '.foray'));
      await writeFile(path.join(outside, '.foray', 'status'), 'blocked\nfrom outside');
    });
    const statement = async () => (await bench.workspaces.readStatus(bench.subject(), at()))?.statement ?? null;

    it.each([
      { what: 'the workspace', name: 'ABC-1', place: () => at(), target: () => outside },
      { what: 'the data folder', name: '.foray', place: () => at('.foray'), target: () => outside },
      { what: 'the file', name: 'status', place: () => at('.foray', 'status'), target: () => path.join(outside, 'status') },
    ])('$what becomes a link', async ({ name, place, target }) => {
      beforeOpening(name, () => putLink(place(), target()));
      expect(await statement()).toBeNull();
      expect(bench.log.at(-1)?.attributes['reason']).toContain('was replaced while it was read');
    });

    it.runIf(process.platform === 'linux').each([
      { what: 'the workspace', place: () => at() },
      { what: 'the data folder', place: () => at('.foray') },
    ])('$what becomes a link after it was opened', async ({ place }) => {
      beforeOpening('status', () => putLink(place(), outside));
      expect(await statement()).toBe('own words');
    });

    it('the file becomes a pipe, which holds up nobody', async () => {
      const pipe = at('.foray', 'status');
      beforeOpening('status', async () => {
        await rm(pipe);
        execFileSync('mkfifo', [pipe]);
      });
      const read = statement();
      const outcome = await Promise.race([read, delay(5_000, 'held up', { ref: false })]);
      // Lets go of one who is held up.
      closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK));
      await read;
      expect(outcome).toBeNull();
    });
  });

  it.each(['status', 'scm.json'])('does not wait for a pipe in the place of %s', async (name) => {
    await mkdir(at('.foray'), { recursive: true });
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', at('.foray', name)]);
    const read =
      name === 'status' ? bench.workspaces.readStatus(bench.subject(), at()) : bench.workspaces.readScm(bench.subject(), at());
    expect(await read).toBeNull();
    expect(bench.log[0]?.attributes['reason']).toContain('is not a regular file');
  });
});

describe('remove', () => {
  it('is content with a workspace that is not there', async () => {
    expect(await bench.workspaces.remove(bench.subject(), signal)).toMatchObject({ removed: false });
  });

  it('deletes links without following them, and read-only directories', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    await symlink(outside, at('link'));
    await link(path.join(outside, 'precious'), at('hard link\nand a line'));
    execFileSync('mkfifo', [at('pipe')]);
    await mkdir(at('cache', 'module'), { recursive: true });
    await writeFile(at('cache', 'module', 'file'), 'x');
    await chmod(at('cache', 'module'), 0o555);
    await chmod(at('cache'), 0o555);
    expect(await bench.workspaces.remove(bench.subject(), signal)).toMatchObject({ removed: true });
    expect(await readdir(bench.root)).toEqual(['.foray-marks']);
    await expectOutsideUntouched();
  });

  it('deletes what lies deeper than the system can name, also where words of the agent belong', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    await rm(at('.foray', '.gitignore'));
    for (const place of [at('.foray', 'status'), at('.foray', '.gitignore'), at('deep')]) await makeDeep(place);
    await bench.workspaces.prepare(bench.subject(), signal);
    expect(await readdir(at('.foray'))).toEqual(['.gitignore']);
    expect(await bench.workspaces.remove(bench.subject(), signal)).toMatchObject({ removed: true });
    expect(await readdir(bench.root)).toEqual(['.foray-marks']);
  });

  it('refuses a link that before_remove put in its place', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    const beforeRemove = 'cd .. && mv ABC-1 kept && ln -s ../outside ABC-1';
    await expect(bench.workspaces.remove(bench.subject({ beforeRemove }), signal)).rejects.toThrow('is a symbolic link');
    expect((await lstat(at())).isSymbolicLink()).toBe(true);
    await expectOutsideUntouched();
  });

  it('that fails half way leaves nothing that the next session takes for ready', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    await writeFile(at('kept'), 'of the half');
    vi.spyOn(fs, 'rm').mockImplementationOnce(() => Promise.reject(new Error('the disk failed')));
    syncBuiltinESMExports();
    await expect(bench.workspaces.remove(bench.subject(), signal)).rejects.toThrow('the disk failed');
    expect(await bench.workspaces.prepare(bench.subject(), signal)).toEqual({ path: at(), created: true });
    expect(existsSync(at('kept'))).toBe(false);
  });

  it('forgets a workspace that a crash left half deleted', async () => {
    await mkdir(bench.root);
    markUnfinished(at());
    expect(await bench.workspaces.remove(bench.subject(), signal)).toMatchObject({ removed: false });
    expect(await readdir(bench.root)).toEqual([]);
  });
});
