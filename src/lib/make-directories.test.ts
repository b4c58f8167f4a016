import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeDirectories, makeDirectoriesNow } from './make-directories.ts';

let dir = '';
beforeAll(async () => (dir = await mkdtemp(path.join(os.tmpdir(), 'make-directories-'))));
afterAll(() => rm(dir, { recursive: true }));

it('makes every directory that is missing, with these rights, and takes those that are there', async () => {
  const deep = path.join(dir, 'a', 'b', 'c');
  await Promise.all([makeDirectories(deep, 0o700), makeDirectories(deep, 0o700)]);
  await makeDirectories(deep, 0o700);
  expect((await stat(path.join(dir, 'a'))).mode & 0o777).toBe(0o700);
  await symlink(path.join(dir, 'a'), path.join(dir, 'link'));
  await makeDirectories(path.join(dir, 'link', 'd'), 0o700);
  expect((await stat(path.join(dir, 'a', 'd'))).isDirectory()).toBe(true);
});

it('fails where a file is in the way', async () => {
  await writeFile(path.join(dir, 'file'), '');
  await expect(makeDirectories(path.join(dir, 'file'), 0o700)).rejects.toMatchObject({ code: 'EEXIST' });
  await expect(makeDirectories(path.join(dir, 'file', 'x'), 0o700)).rejects.toMatchObject({ code: 'ENOTDIR' });
});

it.runIf(process.platform === 'linux')('ends where nothing can be made, though nothing is there', async () => {
  await expect(makeDirectories('/proc/foray/ws', 0o700)).rejects.toThrow();
  expect(() => makeDirectoriesNow('/proc/foray/ws', 0o700)).toThrow('ENOENT');
});

it('the same before anything can be waited for', async () => {
  const deep = path.join(dir, 'now', 'b', 'c');
  makeDirectoriesNow(deep, 0o700);
  makeDirectoriesNow(deep, 0o700);
  expect((await stat(deep)).mode & 0o777).toBe(0o700);
  await writeFile(path.join(dir, 'now', 'file'), '');
  expect(() => makeDirectoriesNow(path.join(dir, 'now', 'file'), 0o700)).toThrow('EEXIST');
  expect(() => makeDirectoriesNow(path.join(dir, 'now', 'file', 'x'), 0o700)).toThrow('ENOTDIR');
});

it("is the only way directories are made: nobody uses Node's own, which may never end", () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const spinning = /mkdir(?:Sync)?\((?!'\.foray')[^;]*recursive: true/;
  expect(sources.filter((name) => spinning.test(readFileSync(path.join('src', name), 'utf8')))).toEqual([]);
});
