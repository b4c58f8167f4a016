import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogRecorder, createWorkspaceBench, type WorkspaceBench } from '../../test/support/workspaces.ts';
import { moveAside } from './move-aside.ts';
import { createWorkspaces } from './index.ts';
import { markNameOf, workspaceKey } from './key.ts';

let bench: WorkspaceBench;
const { signal } = new AbortController();
const OTHER = 'nsproject https://gitlab.com acme/other';
beforeEach(async () => {
  bench = await createWorkspaceBench();
});
afterEach(() => bench.cleanUp());

/** The same root, seen by a daemon with another database. */
function stranger() {
  return createWorkspaces({
    root: bench.root,
    markKey: 'another key',
    removedDays: 7,
    env: {},
    logger: createLogRecorder(),
    processes: { started: () => {}, ended: () => {} },
    maskSecrets: (text) => text,
  });
}

describe('a workspace that was made for another', () => {
  it('tracker is never used, cleaned or resumed from: the name gets a hash of the identity', async () => {
    const first = await bench.workspaces.prepare(bench.subject(), signal);
    await writeFile(path.join(first.path, 'work'), 'of the first');
    const subject = { ...bench.subject(), tracker: OTHER };
    const second = await bench.workspaces.prepare(subject, signal);
    expect(path.basename(second.path)).toMatch(/^ABC-1-[0-9a-f]{16}$/);
    expect(await readdir(second.path)).toEqual(['.foray']);
    expect(await bench.workspaces.remove(subject, signal)).toMatchObject({ removed: true, path: second.path });
    expect(await bench.workspaces.remove(subject, signal)).toMatchObject({ removed: false });
    expect(await readFile(path.join(first.path, 'work'), 'utf8')).toBe('of the first');
  });

  it('issue is not used either: a crafted identifier does not share the directory of the one it imitates', async () => {
    const real = await bench.workspaces.prepare(bench.subject({}, 'A/B'), signal);
    const crafted = { ...bench.subject({}, workspaceKey('A/B')), issueId: 'id-2' };
    const other = await bench.workspaces.prepare(crafted, signal);
    expect(other.path).not.toBe(real.path);
    expect((await bench.workspaces.prepare(bench.subject({}, 'A/B'), signal)).path).toBe(real.path);
    expect((await bench.workspaces.prepare(crafted, signal)).path).toBe(other.path);
  });

  it('issue is not used when their names begin alike and are as long as names may be', async () => {
    const of = (end: string) => ({ ...bench.subject({}, `${'x'.repeat(250)}${end}`), issueId: end });
    const first = await bench.workspaces.prepare(of('one'), signal);
    const second = await bench.workspaces.prepare(of('two'), signal);
    expect(second.path).not.toBe(first.path);
    expect(await bench.workspaces.prepare(of('one'), signal)).toEqual({ path: first.path, created: false });
    expect(await bench.workspaces.prepare(of('two'), signal)).toEqual({ path: second.path, created: false });
  });

  it('daemon is left alone, whatever a file says that an agent can write', async () => {
    const { path: mine } = await bench.workspaces.prepare(bench.subject(), signal);
    expect(await stranger().remove({ ...bench.subject(), recorded: true }, signal)).toMatchObject({ removed: false });
    expect(existsSync(mine)).toBe(true);
    expect(path.basename((await stranger().prepare(bench.subject(), signal)).path)).toMatch(/^ABC-1-[0-9a-f]{16}$/);
    const mark = path.join(bench.root, '.foray-marks', 'ABC-1.json');
    const forged = (await readFile(mark, 'utf8')).replace('file /issues.json', OTHER);
    await writeFile(mark, forged);
    const victim = { ...bench.subject(), tracker: OTHER };
    expect(path.basename((await bench.workspaces.prepare(victim, signal)).path)).toMatch(/^ABC-1-/);
  });
});

describe('two issues with one name that begin at the same moment', () => {
  const both = () => [bench.subject({}, 'A/B'), { ...bench.subject({}, workspaceKey('A/B')), issueId: 'id-2' }] as const;

  it('have directories of their own', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    const made = await Promise.all(both().map((subject) => bench.workspaces.prepare(subject, signal)));
    expect(new Set(made.map(({ path: directory }) => directory)).size).toBe(2);
    expect(made.map(({ created }) => created)).toEqual([true, true]);
    expect(await Promise.all(both().map((subject) => bench.workspaces.pathFor(subject)))).toEqual(made.map((one) => one.path));
  });

  it('have them also while the directory of the first one is removed', async () => {
    const [first, second] = both();
    for (let round = 0; round < 20; round += 1) {
      const { path: place } = await bench.workspaces.prepare(first, signal);
      const removal = bench.workspaces.remove(first, signal);
      while (existsSync(place)) await new Promise(setImmediate);
      const next = await bench.workspaces.prepare(second, signal);
      await removal;
      expect(await bench.workspaces.deliver(second, signal), 'its mark is still there').toBeNull();
      expect(next.path).toBe(place);
      await bench.workspaces.remove(second, signal);
    }
  });

  it('have them also where a crash left the first one half made', async () => {
    const [first, second] = both();
    const half = (await bench.workspaces.prepare(first, signal)).path;
    await writeFile(path.join(bench.root, markNameOf(path.basename(half))), 'half made');
    const made = await Promise.all([first, second].map((subject) => bench.workspaces.prepare(subject, signal)));
    expect(new Set(made.map(({ path: directory }) => directory)).size).toBe(2);
  });
});

/** What an agent may put in the place of a file. */
const PLANTED: readonly (readonly [string, (place: string) => unknown])[] = [
  ['a text', (place) => writeFile(place, 'mine')],
  ['a link', (place) => symlink('elsewhere', place)],
  ['a directory', (place) => mkdir(path.join(place, 'deep'), { recursive: true })],
  ['a pipe', (place) => execFileSync('mkfifo', [place])],
];

describe.each(PLANTED)('%s in the place of', (_what, plant) => {
  const mark = () => path.join(bench.root, '.foray-marks', 'ABC-1.json');
  beforeEach(() => mkdir(path.join(bench.root, '.foray-marks'), { recursive: true }));
  const usable = async () => {
    const first = await bench.workspaces.prepare(bench.subject(), signal);
    expect(first).toEqual({ path: path.join(bench.root, 'ABC-1'), created: true });
    expect(await bench.workspaces.prepare(bench.subject(), signal)).toEqual({ ...first, created: false });
    expect(await bench.workspaces.remove(bench.subject(), signal)).toMatchObject({ removed: true, aside: null });
    expect(existsSync(path.join(bench.root, 'elsewhere'))).toBe(false);
  };

  it('the mark of a workspace that is not there does not keep it from being made', async () => {
    await plant(mark());
    await usable();
  });

  it('the next mark does not either', async () => {
    await writeFile(mark(), '');
    await plant(`${mark()}.new`);
    await usable();
  });

  it('the note of being unfinished keeps no workspace from being made or removed', async () => {
    const note = path.join(bench.root, markNameOf('ABC-1'));
    await plant(note);
    await usable();
    await bench.workspaces.prepare(bench.subject(), signal);
    await plant(note);
    expect(await bench.workspaces.remove(bench.subject(), signal)).toMatchObject({ removed: true });
    expect(existsSync(note)).toBe(false);
  });

  it('the folder of marks is refused with a word on what to do', async () => {
    await rm(path.dirname(mark()), { recursive: true });
    await plant(path.dirname(mark()));
    const prepared = bench.workspaces.prepare(bench.subject(), signal);
    if (_what === 'a directory') await expect(prepared).resolves.toMatchObject({ created: true });
    else await expect(prepared).rejects.toThrow(/\.foray-marks is .*; remove it by hand after a look at it/);
  });
});

describe('a link to a directory in the place of', () => {
  const precious = () => path.join(bench.base, 'elsewhere');
  const linkAt = async (name: string) => {
    await mkdir(precious());
    await writeFile(path.join(precious(), 'ABC-1.json'), 'theirs');
    await mkdir(bench.root, { recursive: true });
    await rm(path.join(bench.root, name), { recursive: true, force: true });
    await symlink(precious(), path.join(bench.root, name));
  };
  const isUntouched = async () =>
    expect([await readdir(precious()), await readFile(path.join(precious(), 'ABC-1.json'), 'utf8')]).toEqual([
      ['ABC-1.json'],
      'theirs',
    ]);

  it('the folder of marks leads no write elsewhere', async () => {
    await linkAt('.foray-marks');
    for (const name of ['ABC-1', 'NEW-2']) {
      const prepared = bench.workspaces.prepare(bench.subject({}, name), signal);
      await expect(prepared).rejects.toThrow(/\.foray-marks is a symbolic link; remove it by hand after a look at it/);
    }
    await isUntouched();
  });

  it('the folder of marks leads no deletion elsewhere', async () => {
    await bench.workspaces.prepare(bench.subject(), signal);
    await rename(path.join(bench.root, '.foray-marks'), precious());
    await symlink(precious(), path.join(bench.root, '.foray-marks'));
    await expect(bench.workspaces.remove(bench.subject(), signal)).rejects.toThrow('.foray-marks is a symbolic link');
    expect(await readdir(precious())).toEqual(['ABC-1.json']);
  });

  it('the folder of what was moved aside leads no deletion and no workspace elsewhere', async () => {
    await linkAt('.foray-removed');
    const old = path.join(precious(), 'OLD-1.1');
    await mkdir(old);
    await mkdir(path.join(bench.root, 'ABC-1'));
    await expect(bench.workspaces.remove(bench.subject(), signal)).rejects.toThrow('.foray-removed is a symbolic link');
    await expect(moveAside(bench.root, 'ABC-1', 1)).rejects.toThrow('.foray-removed is a symbolic link');
    expect(existsSync(path.join(bench.root, 'ABC-1'))).toBe(true);
    await rm(old, { recursive: true });
    await isUntouched();
  });
});

describe('a workspace whose mark a power failure emptied', () => {
  it('is worked in again', async () => {
    const { path: made } = await bench.workspaces.prepare(bench.subject(), signal);
    await writeFile(path.join(made, 'work'), 'half done');
    await writeFile(path.join(bench.root, '.foray-marks', 'ABC-1.json'), '');
    expect(await bench.workspaces.prepare(bench.subject(), signal)).toEqual({ path: made, created: false });
    expect(await readFile(path.join(made, 'work'), 'utf8')).toBe('half done');
    expect(await bench.workspaces.remove(bench.subject(), signal)).toMatchObject({ removed: true, aside: null });
  });
});

describe('a directory without any mark', () => {
  it('is moved aside and deleted some days later, not at once', async () => {
    await mkdir(path.join(bench.root, 'ABC-1'), { recursive: true });
    await writeFile(path.join(bench.root, 'ABC-1', 'precious'), 'keep me');
    const { aside, path: place } = await bench.workspaces.remove(bench.subject(), signal);
    expect(place).toBe(path.join(bench.root, 'ABC-1'));
    expect(await readFile(path.join(aside ?? '', 'precious'), 'utf8')).toBe('keep me');
    const old = path.join(bench.root, '.foray-removed', `OLD-1.${Date.now() - 8 * 86_400_000}`);
    await mkdir(old);
    await utimes(old, new Date(), new Date());
    await bench.workspaces.remove(bench.subject(), signal);
    expect(existsSync(old)).toBe(false);
    expect(existsSync(aside ?? '')).toBe(true);
    expect(await bench.workspaces.list()).toEqual([]);
  });

  it('is deleted where an older version recorded that it is ours', async () => {
    await mkdir(path.join(bench.root, 'ABC-1'), { recursive: true });
    const removal = await bench.workspaces.remove({ ...bench.subject(), recorded: true }, signal);
    expect(removal).toMatchObject({ removed: true, aside: null });
    expect(existsSync(path.join(bench.root, 'ABC-1'))).toBe(false);
  });
});
