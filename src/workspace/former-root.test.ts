import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLogRecorder, createWorkspaceBench, type WorkspaceBench } from '../../test/support/workspaces.ts';
import type { Workspaces } from '../ports/workspace.ts';
import { createWorkspaces } from './index.ts';

let bench: WorkspaceBench;
const { signal } = new AbortController();
beforeEach(async () => {
  bench = await createWorkspaceBench();
});
afterEach(() => bench.cleanUp());

/** The same daemon after an edit of `workspace.root`. */
function edited(markKey = 'key'): Workspaces {
  return createWorkspaces({
    root: path.join(bench.base, 'other'),
    markKey,
    removedDays: 7,
    env: { PATH: process.env['PATH'] ?? '' },
    logger: createLogRecorder(),
    processes: { started: () => {}, ended: () => {} },
    maskSecrets: (text) => text,
  });
}

it('a workspace under the root before is there, and is removed with its mark', async () => {
  const made = await bench.workspaces.prepare(bench.subject(), signal);
  const after = edited();
  expect(after.has(made.path)).toBe(true);
  const subject = { ...bench.subject(), recorded: true, paths: [made.path] };
  expect(await after.remove(subject, signal)).toEqual({ removed: true, path: made.path, aside: null });
  expect(after.has(made.path)).toBe(false);
  expect(await readdir(path.join(bench.root, '.foray-marks'))).toEqual([]);
});

it('beside the one under the present root, whose hook runs for both', async () => {
  const told = path.join(bench.base, 'told');
  const hook = { beforeRemove: `pwd >> "${told}"` };
  const before = await bench.workspaces.prepare(bench.subject(), signal);
  const after = edited();
  const now = await after.prepare(bench.subject(), signal);
  await after.remove({ ...bench.subject(hook), recorded: true, paths: [before.path, now.path] }, signal);
  expect([before.path, now.path].map((place) => existsSync(place))).toEqual([false, false]);
  expect(await readFile(told, 'utf8')).toBe(`${now.path}\n${before.path}\n`);
});

it.each([
  ['that a link leads to by now', (): Promise<void> => throughLink()],
  ['that another daemon made it under', (): Promise<void> => Promise.resolve()],
])('but not under a root %s', async (name, change) => {
  const made = await bench.workspaces.prepare(bench.subject(), signal);
  await change();
  const after = edited(name.includes('another') ? 'another key' : 'key');
  const subject = { ...bench.subject(), recorded: true, paths: [made.path] };
  expect(await after.remove(subject, signal)).toMatchObject({ removed: false });
  expect(existsSync(made.path)).toBe(true);
});

it('and what somebody put under the present root is moved aside, not deleted', async () => {
  const made = await bench.workspaces.prepare(bench.subject(), signal);
  const [put, after] = [path.join(bench.base, 'other', 'ABC-1'), edited()];
  await mkdir(put, { recursive: true });
  const removal = await after.remove({ ...bench.subject(), recorded: true, paths: [made.path] }, signal);
  expect(removal.path).toBe(made.path);
  expect(await readdir(path.join(bench.base, 'other'))).toContainEqual(expect.stringMatching(/removed/));
});

it('nor by a name that is not the issue’s', async () => {
  const made = await bench.workspaces.prepare(bench.subject({}, 'ABC-2'), signal);
  await mkdir(path.join(bench.base, 'precious'));
  const paths = [made.path, path.join(bench.base, 'precious'), path.join(bench.base, '..')];
  expect(await edited().remove({ ...bench.subject(), recorded: true, paths }, signal)).toMatchObject({ removed: false });
  expect(existsSync(made.path)).toBe(true);
  expect(existsSync(path.join(bench.base, 'precious'))).toBe(true);
});

async function throughLink(): Promise<void> {
  const moved = path.join(bench.base, 'moved');
  await rename(bench.root, moved);
  await symlink(moved, bench.root);
}
